// SPDX-License-Identifier: Apache-2.0
// A byte-level BPE in two files, a vocabulary and merges: GPT-2's, and those of other tokenizers that
// transformers keeps in files of the same names.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "data/tokenizer/load.hpp"
#include "files/json.hpp"

namespace sinter::detail {
namespace {

using Strings = std::initializer_list<const char*>;

/// What a class of transformers makes of the two files.
struct BpeClass {
  const char* name;
  Strings model_types;  // whose class it is where no file names one
  Pattern pattern;
  bool nfc;
  std::initializer_list<DefaultToken> tokens;
};

constexpr const char* end_of_text = "<|endoftext|>";
const BpeClass classes[]{
    {"GPT2Tokenizer",
     {"gpt2", "gpt_neo", "gptj", "opt", "phi", "starcoder2"},
     Pattern::gpt2,
     false,
     {{"bos_token", end_of_text}, {"eos_token", end_of_text}, {"unk_token", end_of_text}}},
    {"Qwen2Tokenizer",
     {"qwen2", "qwen2_moe", "qwen2_vl", "qwen2_5_vl", "qwen3", "qwen3_moe"},
     Pattern::qwen2,
     true,
     {{"eos_token", end_of_text}, {"unk_token", end_of_text}, {"pad_token", end_of_text}}},
    {"RobertaTokenizer",
     {"roberta", "roberta-prelayernorm", "bart", "longformer"},
     Pattern::gpt2,
     false,
     {{"bos_token", "<s>"},
      {"eos_token", "</s>"},
      {"unk_token", "<unk>"},
      {"sep_token", "</s>"},
      {"pad_token", "<pad>"},
      {"cls_token", "<s>"},
      {"mask_token", "<mask>"}}}};

constexpr std::string_view mend =
    "GPT2Tokenizer, Qwen2Tokenizer, RobertaTokenizer and BartTokenizer are understood with these "
    "two files. Save the tokenizer by transformers' save_pretrained, which writes a tokenizer.json";

/// The class that the files beside the vocabulary name; without any, GPT-2's.
/// throws    TokenizerProblem that names one that is not known
const BpeClass& class_of(const FolderSettings& settings) {
  const auto [value, name, file] = settings.tokenizer_class();
  if (!value.empty()) {
    const std::string same = name == "BartTokenizer" ? "RobertaTokenizer" : name;
    for (const BpeClass& known : classes)
      if (same == known.name) return known;
    throw TokenizerProblem(
        fmt::format("the {} beside it has {} as 'tokenizer_class'; {}", file, shown(value), mend));
  }
  const std::string type = settings.model_type();
  if (type.empty()) return classes[0];
  for (const BpeClass& known : classes)
    if (std::ranges::find(known.model_types, type) != known.model_types.end()) return known;
  throw TokenizerProblem(
      fmt::format("no file beside it names a 'tokenizer_class', and the config.json is of a model "
                  "of the type {}, "
                  "whose class is not known; {}, or name its class in tokenizer_config.json",
                  shown(type), mend));
}

std::vector<Merge> merges_of(std::string_view text, const Vocabulary& vocabulary,
                             std::string_view name) {
  std::vector<Merge> merges;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const bool heading = number == 1 && line.starts_with("#version");
    if (line.empty() || heading) continue;
    merges.push_back(vocabulary.merge(line, fmt::format("line {} of {}", number, name)));
  }
  require_different(merges);
  return merges;
}

/// Marks as special what is neither a byte nor made by a merge: no text gives such a token.
void find_special(BpeParts& parts, const Vocabulary& vocabulary) {
  std::vector<bool> reached(parts.tokens.size());
  for (std::int32_t token : parts.of_byte)
    if (token >= 0) reached[std::size_t(token)] = true;
  for (const Merge& merge : parts.merges) reached[std::size_t(merge.result)] = true;
  parts.special.clear();
  for (const auto& [spelling, id] : vocabulary.all())
    if (!reached[std::size_t(id)]) parts.special.push_back({spelling, id});
  std::ranges::sort(parts.special, {}, &SpecialToken::id);
}

/// Sets what the class does, and its added tokens.
void apply(const FolderSettings& settings, BpeParts& parts, Vocabulary& vocabulary) {
  const BpeClass& type = class_of(settings);
  parts.pattern = type.pattern;
  if (type.nfc) parts.normalizer.add(Change::nfc);
  if (settings.flag("add_prefix_space", false)) {
    if (type.pattern != Pattern::gpt2)
      settings.refuse("add_prefix_space", fmt::format("false is understood with {}", type.name));
    parts.prefix = Prefix::unless_there;
  }
  if (settings.empty() && settings.model_type().empty()) return;
  std::vector<SpecialToken> special;
  settings.add_tokens(type.tokens, vocabulary.all().size(), vocabulary, parts.added, special);
  parts.tokens.resize(vocabulary.size());
  for (const AddedToken& token : parts.added) parts.tokens[std::size_t(token.id)] = token.text;
  for (SpecialToken& token : special)
    if (std::ranges::find(parts.special, token.id, &SpecialToken::id) == parts.special.end())
      parts.special.push_back(std::move(token));
  std::ranges::sort(parts.special, {}, &SpecialToken::id);
  parts.around = surroundings_of(settings, type.tokens,
                                 [&](const std::string& text) { return vocabulary.find(text); });
}

}  // namespace

void set_byte_level(BpeParts& parts, const Vocabulary& vocabulary) {
  parts.tokens.resize(vocabulary.size());
  parts.of_byte.fill(-1);
  for (const auto& [spelling, id] : vocabulary.all()) {
    const std::optional<std::string> bytes = bytes_of_spelling(spelling);
    parts.tokens[std::size_t(id)] = bytes.value_or(spelling);
    if (bytes && bytes->size() == 1) parts.of_byte[static_cast<unsigned char>(bytes->front())] = id;
  }
}

BpeParts read_gpt2_files(std::string_view vocabulary_text, std::string_view merges,
                         std::string_view merges_name, const FolderFiles& beside) {
  auto parsed = [&] {
    try {
      return parse_large_json(vocabulary_text);
    } catch (const JsonError& error) {
      throw TokenizerProblem(fmt::format("its vocabulary is damaged, {}", error.what()));
    }
  };
  Vocabulary vocabulary(parsed(), "its vocabulary");
  BpeParts parts;
  set_byte_level(parts, vocabulary);
  parts.merges = merges_of(merges, vocabulary, merges_name);
  find_special(parts, vocabulary);
  apply(FolderSettings(beside), parts, vocabulary);
  return parts;
}

}  // namespace sinter::detail
