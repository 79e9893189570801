// SPDX-License-Identifier: Apache-2.0
// What becomes of a text before it is cut into pieces, as Hugging Face's tokenizers does it.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "data/tokenizer/text_pattern.hpp"

namespace sinter::detail {

enum class Change {
  nfc,
  nfd,
  nfkc,
  nfkd,
  lowercase,
  strip_accents,  // all combining marks
  // BertNormalizer's parts:
  clean,          // takes control characters out, makes a blank of each white space
  space_chinese,  // puts blanks around Chinese characters
  strip_marks,    // that take no place: in NFD, accents
};

/// Puts a text in place of each match of a pattern.
struct Replacement {
  std::shared_ptr<const TextPattern> pattern;
  std::string text;
};

/// The options of BertNormalizer.
struct BertNormalizing {
  bool clean_text = true, handle_chinese_chars = true;
  bool strip_accents = true, lowercase = true;
};

/// Changes of a text, one after the other. Bytes that are no UTF-8 stay as they are, and only `clean`
/// takes them out.
class Normalizer {
  std::vector<std::variant<Change, Replacement>> changes;

 public:
  Normalizer() = default;
  explicit Normalizer(const std::vector<Change>& all) : changes(all.begin(), all.end()) {}

  void add(Change change) { changes.emplace_back(change); }
  void add(Replacement replacement) { changes.emplace_back(std::move(replacement)); }
  void add(const BertNormalizing& options);
  bool empty() const { return changes.empty(); }
  /// Whether newlines and other white space stay where they are, and nothing else is taken out.
  bool keeps_space() const;
  /// Whether no change looks at the other side of a newline.
  bool sees_no_lines() const;
  std::string apply(std::string text) const;
};

}  // namespace sinter::detail
