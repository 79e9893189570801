// SPDX-License-Identifier: Apache-2.0
#include "data/tokenizer/wordpiece_json.hpp"

#include "data/tokenizer/json_components.hpp"
#include "data/tokenizer/json_normalizer.hpp"

namespace sinter::detail {
namespace {

using Json = nlohmann::json;

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
      refuse_type(*part, where,
                  "with a WordPiece, BertNormalizer, NFC, NFD, Lowercase and StripAccents are");
  const Json& cut =
      only(file.at("pre_tokenizer"), "pretokenizers", "BertPreTokenizer", "its pre_tokenizer");
  (void)JsonFields(cut, "its pre_tokenizer BertPreTokenizer", {"type"});
  const JsonFields decoder(only(file.at("decoder"), "decoders", "WordPiece", "its decoder"),
                           "its decoder WordPiece", {"type", "prefix", "cleanup"});
  parts.joined = decoder.text("prefix");
  parts.cleanup = decoder.flag("cleanup", true);
  check_post_processor(file);
}

}  // namespace sinter::detail
