// SPDX-License-Identifier: Apache-2.0
// What becomes of a text before it is cut into pieces, as Hugging Face's tokenizers does it.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace sinter::detail {

enum class Change {
  nfc,
  nfd,
  lowercase,
  strip_accents,  // all combining marks
  // BertNormalizer's parts:
  clean,          // takes control characters out, makes a blank of each white space
  space_chinese,  // puts blanks around Chinese characters
  strip_marks,    // that take no place: in NFD, accents
};

/// The options of BertNormalizer.
struct BertNormalizing {
  bool clean_text = true, handle_chinese_chars = true;
  bool strip_accents = true, lowercase = true;
};

/// Changes of a text, one after the other. Bytes that are no UTF-8 stay as they are, and only `clean`
/// takes them out. No change looks at the other side of a newline.
class Normalizer {
  std::vector<Change> changes;

 public:
  Normalizer() = default;
  explicit Normalizer(std::vector<Change> all) : changes(std::move(all)) {}

  void add(Change change) { changes.push_back(change); }
  void add(const BertNormalizing& options);
  bool empty() const { return changes.empty(); }
  /// Whether newlines and other white space stay where they are, and nothing else is taken out.
  bool keeps_space() const;
  std::string apply(std::string text) const;
};

}  // namespace sinter::detail
