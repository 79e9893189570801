// SPDX-License-Identifier: Apache-2.0
// BERT's vocab.txt, and what the files beside it say of it.
#include <algorithm>
#include <array>
#include <unordered_map>

#include "data/tokenizer/characters.hpp"
#include "data/tokenizer/load.hpp"
#include "data/tokenizer/wordpiece_json.hpp"

namespace sinter::detail {
namespace {

using Json = nlohmann::json;

constexpr std::string_view unknown = "[UNK]";
constexpr DefaultToken default_tokens[]{{"unk_token", "[UNK]"},
                                        {"sep_token", "[SEP]"},
                                        {"pad_token", "[PAD]"},
                                        {"cls_token", "[CLS]"},
                                        {"mask_token", "[MASK]"}};

bool is_special(std::string_view token) {
  return std::ranges::any_of(default_tokens,
                             [&](const auto& special) { return special.text == token; });
}

/// A line without the white space at its end.
/// throws    TokenizerProblem if it is no UTF-8
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
  return std::string(line.substr(0, length));
}

struct Lines {
  Vocabulary vocabulary;
  std::size_t entries;  // different lines, as transformers counts them
};

/// The number of a token is that of its line, of one that comes twice, that of the last. Only at the
/// end may lines be empty.
/// throws    TokenizerProblem
Lines vocabulary_of_lines(std::string_view text) {
  std::unordered_map<std::string, std::int32_t> numbers;
  std::int32_t id = 0, empty = -1;
  for (; !text.empty(); ++id) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string token = token_of(text.substr(0, end), id + 1);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (token.empty()) {
      if (empty < 0) empty = id;
      continue;
    }
    if (empty >= 0)
      throw TokenizerProblem(fmt::format("its line {} is empty; a token is expected", empty + 1));
    numbers[token] = id;
  }
  Vocabulary vocabulary(Json::object(), "the vocabulary");
  for (const auto& [token, number] : numbers) vocabulary.add(token, number);
  return {std::move(vocabulary), numbers.size() + (empty >= 0 ? 1 : 0)};
}

bool has_capitals(const Vocabulary& vocabulary) {
  const Normalizer lowercase({Change::lowercase});
  return std::ranges::any_of(vocabulary.all(), [&](const auto& entry) {
    return !is_special(entry.first) && lowercase.apply(entry.first) != entry.first;
  });
}

bool is_bert(const std::string& name) {
  constexpr std::array known{"BertTokenizer", "DistilBertTokenizer", "ElectraTokenizer",
                             "MobileBertTokenizer"};
  return std::ranges::find(known, name) != known.end();
}

/// throws    TokenizerProblem if the files beside the vocabulary ask for what is not understood
void check(const FolderSettings& settings) {
  constexpr std::string_view mend =
      "BertTokenizer is understood with a vocab.txt, and those of DistilBert, Electra and "
      "MobileBert. Save the tokenizer by transformers' save_pretrained, which writes a "
      "tokenizer.json";
  const auto [value, name, file] = settings.tokenizer_class();
  if (!name.empty() && !is_bert(name))
    throw TokenizerProblem(
        fmt::format("the {} beside it has {} as 'tokenizer_class'; {}", file, shown(value), mend));
  constexpr std::array types{
      "align",      "bark",       "bert",        "blip", "bros",       "convbert", "chinese_clip",
      "distilbert", "electra",    "ernie",       "git",  "flava",      "layoutlm", "megatron-bert",
      "mobilebert", "nomic_bert", "squeezebert", "vilt", "visual_bert"};
  const std::string type = settings.model_type();
  if (name.empty() && !type.empty() && std::ranges::find(types, type) == types.end())
    throw TokenizerProblem(
        fmt::format("no file beside it names a 'tokenizer_class', and the config.json is of a "
                    "model of the type "
                    "{}, whose class is not known; {}, or name its class in tokenizer_config.json",
                    shown(type), mend));
  if (!settings.flag("do_basic_tokenize", true))
    settings.refuse("do_basic_tokenize", "true is understood");
  if (settings.has("never_split")) settings.refuse("never_split", "null is understood");
  if (const char* key = "unk_token"; settings.has(key)) {
    const Json& token = settings.at(key);
    if ((token.is_object() && token.contains("content") ? token["content"] : token) != unknown)
      settings.refuse(key, "[UNK] is understood");
  }
}

/// The tokens that are looked for in a text: where no file beside the vocabulary says more, those of
/// the default ones that it has.
void add_tokens(const FolderSettings& settings, Lines& lines, WordPieceParts& parts) {
  Vocabulary& vocabulary = lines.vocabulary;
  if (settings.empty()) {
    for (const DefaultToken& token : default_tokens) {
      const std::optional<std::int32_t> id = vocabulary.find(token.text);
      if (!id) continue;
      parts.added.push_back({.id = *id, .text = token.text});
      parts.special.push_back({token.text, *id});
    }
  } else {
    settings.add_tokens(default_tokens, lines.entries, vocabulary, parts.added, parts.special);
    parts.tokens.resize(vocabulary.size());
    for (const AddedToken& token : parts.added) parts.tokens[std::size_t(token.id)] = token.text;
  }
  std::ranges::sort(parts.special, {}, &SpecialToken::id);
}

}  // namespace

WordPieceParts read_bert_vocabulary(std::string_view text, const FolderFiles& beside) {
  Lines lines = vocabulary_of_lines(text);
  const FolderSettings settings(beside);
  check(settings);
  WordPieceParts parts;
  set_pieces(parts, lines.vocabulary, std::string(unknown), "##");
  // transformers makes small letters unless told otherwise; without its files the vocabulary tells.
  const bool lowercase =
      settings.flag("do_lower_case", settings.has_config() || !has_capitals(lines.vocabulary));
  parts.normalizer.add(
      BertNormalizing{.handle_chinese_chars = settings.flag("tokenize_chinese_chars", true),
                      .strip_accents = settings.flag("strip_accents", lowercase),
                      .lowercase = lowercase});
  add_tokens(settings, lines, parts);
  return parts;
}

}  // namespace sinter::detail
