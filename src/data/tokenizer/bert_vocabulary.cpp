// SPDX-License-Identifier: Apache-2.0
// BERT's vocab.txt, and what the tokenizer_config.json beside it says of it.
#include <algorithm>
#include <array>

#include "data/tokenizer/characters.hpp"
#include "data/tokenizer/load.hpp"
#include "data/tokenizer/wordpiece_json.hpp"
#include "files/json.hpp"

namespace sinter::detail {
namespace {

using Json = nlohmann::json;

constexpr std::string_view unknown = "[UNK]";
constexpr std::array special_names{unknown, std::string_view("[SEP]"), std::string_view("[PAD]"),
                                   std::string_view("[CLS]"), std::string_view("[MASK]")};

bool is_special(std::string_view token) {
  return std::ranges::find(special_names, token) != special_names.end();
}

/// A line without the white space at its end.
/// throws    TokenizerProblem if nothing is left, or it is no UTF-8
std::string token_of(std::string_view line, std::int32_t number) {
  std::size_t length = 0;
  for (std::size_t at = 0; at < line.size();) {
    const Character next =
        character_at(character_kinds(), line.data() + at, line.data() + line.size());
    if (next.code == ill_formed)
      throw TokenizerProblem(fmt::format("byte {} of its line {} is no UTF-8", at + 1, number));
    at += next.bytes;
    if (next.kind != CharacterKind::space) length = at;
  }
  if (length == 0)
    throw TokenizerProblem(fmt::format("its line {} is empty; a token is expected", number));
  return std::string(line.substr(0, length));
}

Vocabulary vocabulary_of_lines(std::string_view text) {
  Vocabulary vocabulary(Json::object(), "the vocabulary");
  for (std::int32_t id = 0; !text.empty(); ++id) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string token = token_of(text.substr(0, end), id + 1);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (const auto before = vocabulary.find(token))
      throw TokenizerProblem(fmt::format("its lines {} and {} have the same token, {}", *before + 1,
                                         id + 1, shown(token)));
    vocabulary.add(token, id);
  }
  return vocabulary;
}

bool has_capitals(const Vocabulary& vocabulary) {
  const Normalizer lowercase({Change::lowercase});
  return std::ranges::any_of(vocabulary.all(), [&](const auto& entry) {
    return !is_special(entry.first) && lowercase.apply(entry.first) != entry.first;
  });
}

/// What transformers writes into tokenizer_config.json.
class Settings {
  Json json;

  [[noreturn]] void refuse(const char* key, std::string_view understood) const {
    throw TokenizerProblem(fmt::format("the tokenizer_config.json beside it has {} as '{}'; {}",
                                       shown(json[key].dump()), key, understood));
  }
  bool has(const char* key) const { return json.contains(key) && !json[key].is_null(); }

 public:
  explicit Settings(std::string_view text) : json(Json::object()) {
    if (text.empty()) return;
    try {
      json = parse_large_json(text);
    } catch (const JsonError& error) {
      throw TokenizerProblem(
          fmt::format("the tokenizer_config.json beside it is damaged, {}", error.what()));
    }
    if (!json.is_object())
      throw TokenizerProblem("the tokenizer_config.json beside it is no object");
    constexpr std::array classes{"Bert", "DistilBert", "Electra", "MobileBert"};
    auto is_known = [&](std::string_view name) {
      return std::ranges::any_of(classes, [&](const char* known) {
        return name == std::string(known) + "Tokenizer" ||
               name == std::string(known) + "TokenizerFast";
      });
    };
    if (const char* key = "tokenizer_class";
        has(key) && !(json[key].is_string() && is_known(json[key].get_ref<const std::string&>())))
      refuse(key, "BertTokenizer is understood, and those of DistilBert, Electra and MobileBert");
    if (!flag("do_basic_tokenize", true)) refuse("do_basic_tokenize", "true is understood");
    if (has("never_split")) refuse("never_split", "null is understood");
    if (const char* key = "unk_token"; has(key)) {
      const Json& token = json[key];
      if ((token.is_object() && token.contains("content") ? token["content"] : token) != unknown)
        refuse(key, "[UNK] is understood");
    }
  }
  bool flag(const char* key, bool otherwise) const {
    if (!has(key)) return otherwise;
    if (!json[key].is_boolean()) refuse(key, "true and false are understood");
    return json[key].get<bool>();
  }
};

}  // namespace

WordPieceParts read_bert_vocabulary(std::string_view text, std::string_view config) {
  const Vocabulary vocabulary = vocabulary_of_lines(text);
  const Settings settings(config);
  WordPieceParts parts;
  set_pieces(parts, vocabulary, std::string(unknown), "##");
  const bool lowercase = settings.flag("do_lower_case", !has_capitals(vocabulary));
  parts.normalizer.add(
      BertNormalizing{.handle_chinese_chars = settings.flag("tokenize_chinese_chars", true),
                      .strip_accents = settings.flag("strip_accents", lowercase),
                      .lowercase = lowercase});
  for (const std::string_view name : special_names) {
    const std::optional<std::int32_t> id = vocabulary.find(std::string(name));
    if (!id) continue;
    parts.added.push_back({.id = *id, .text = std::string(name)});
    parts.special.push_back({std::string(name), *id});
  }
  std::ranges::sort(parts.special, {}, &SpecialToken::id);
  return parts;
}

}  // namespace sinter::detail
