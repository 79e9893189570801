// SPDX-License-Identifier: Apache-2.0
#include "data/tokenizer/wordpiece_json.hpp"

#include "data/tokenizer/json_components.hpp"
#include "data/tokenizer/json_normalizer.hpp"
#include "data/tokenizer/json_splits.hpp"

namespace sinter::detail {
namespace {

using Json = nlohmann::json;

/// Reads a BertPreTokenizer, and what cuts texts before it and words behind it.
void read_cuts(const Json& component, WordPieceParts& parts) {
  const std::string where = "its pre_tokenizer";
  bool words = false;
  for (const Json* part : flattened(component, "pretokenizers", where)) {
    if (!words && type_of(*part, where) == "BertPreTokenizer") {
      (void)JsonFields(*part, where + " BertPreTokenizer", {"type"});
      words = true;
    } else if (std::optional<SplitStep> step = read_split_step(*part, where)) {
      (words ? parts.word_splits : parts.text_splits).push_back(std::move(*step));
    } else {
      refuse_type(*part, where,
                  "with a WordPiece, one BertPreTokenizer is, and Split, Digits and Punctuation");
    }
  }
  if (!words)
    throw TokenizerProblem(
        fmt::format("{} has no BertPreTokenizer, which a WordPiece is understood with", where));
}

/// A component that must be of one type.
const Json& only(const Json& component, const char* list, const char* type,
                 const std::string& where) {
  const std::vector<const Json*> all = flattened(component, list, where);
  if (all.size() != 1)
    throw TokenizerProblem(
        fmt::format("{} has {} components; a WordPiece is understood with one, of the type {}",
                    where, all.size(), type));
  if (type_of(*all[0], where) != type)
    refuse_type(*all[0], where, fmt::format("{} is, with a WordPiece", type));
  return *all[0];
}

}  // namespace

void set_pieces(WordPieceParts& parts, const Vocabulary& vocabulary, const std::string& unknown,
                const std::string& continuing) {
  const std::optional<std::int32_t> id = vocabulary.find(unknown);
  if (!id)
    throw TokenizerProblem(fmt::format(
        "its vocabulary lacks {}, the token of words that are unknown", shown(unknown)));
  parts.unknown = *id;
  parts.tokens.resize(vocabulary.size());
  for (const auto& [spelling, token] : vocabulary.all()) {
    parts.tokens[std::size_t(token)] = spelling;
    parts.first.emplace(spelling, token);
    if (spelling.starts_with(continuing))
      parts.following.emplace(spelling.substr(continuing.size()), token);
  }
}

void read_components(const JsonFields& file, WordPieceParts& parts) {
  const std::string where = "its normalizer";
  for (const Json* part : flattened(file.at("normalizer"), "normalizers", where))
    if (!read_normalizer(*part, where, parts.normalizer))
      refuse_type(
          *part, where,
          "with a WordPiece, BertNormalizer, NFC, NFD, NFKC, NFKD, Lowercase, StripAccents and "
          "Replace are");
  read_cuts(file.at("pre_tokenizer"), parts);
  const JsonFields decoder(only(file.at("decoder"), "decoders", "WordPiece", "its decoder"),
                           "its decoder WordPiece", {"type", "prefix", "cleanup"});
  parts.joined = decoder.text("prefix");
  parts.cleanup = decoder.flag("cleanup", true);
  (void)read_post_processor(file);  // [CLS] and [SEP] are the data policy's to put
}

}  // namespace sinter::detail
