// SPDX-License-Identifier: Apache-2.0
#include "hugging_face/special_tokens.hpp"

#include <algorithm>
#include <map>

#include "files/json.hpp"
#include "sinter/data/tokenizer/tokenizer.hpp"
#include "sinter/files/io.hpp"

namespace sinter::detail::hugging_face {
namespace {

namespace fs = std::filesystem;
using Parsed = nlohmann::json;  // large files, whose keys may be sorted
using Ids = std::map<std::string, std::int64_t>;

/// Usual names, the best of each use first.
struct UsualName {
  const char *use, *text;
};
constexpr UsualName usual_names[]{{"bos", "<s>"},
                                  {"bos", "<bos>"},
                                  {"bos", "<|begin_of_text|>"},
                                  {"bos", "<|startoftext|>"},
                                  {"bos", "<|endoftext|>"},
                                  {"eos", "</s>"},
                                  {"eos", "<eos>"},
                                  {"eos", "<|end_of_text|>"},
                                  {"eos", "<|endoftext|>"},
                                  {"unk", "<unk>"},
                                  {"unk", "[UNK]"},
                                  {"sep", "[SEP]"},
                                  {"pad", "<pad>"},
                                  {"pad", "[PAD]"},
                                  {"pad", "<|pad|>"},
                                  {"cls", "[CLS]"},
                                  {"mask", "[MASK]"},
                                  {"mask", "<mask>"}};
constexpr const char* uses[]{"bos", "eos", "unk", "sep", "pad", "cls", "mask"};

/// The JSON of a tokenizer's file; null if there is none that can be read.
Parsed parsed(const Origin& origin, const char* name) try {
  const fs::path file = origin.file(name);
  return file.empty() ? Parsed() : parse_large_json(read_file(file));
} catch (const JsonError&) {
  return {};
}

void add_ids_of_list(const Parsed& tokens, Ids& ids) {
  if (!tokens.is_array()) return;
  for (const Parsed& token : tokens)
    if (token.is_object() && token.contains("content") && token["content"].is_string() &&
        token.contains("id") && token["id"].is_number_integer())
      ids.emplace(token["content"], token["id"]);
}

/// The ids of tokens that stand for no text.
Ids ids_of(const Origin& origin) {
  Ids ids;
  if (const Parsed whole = parsed(origin, "tokenizer.json"); whole.is_object())
    add_ids_of_list(whole.value("added_tokens", Parsed()), ids);
  if (const Parsed added = parsed(origin, "added_tokens.json"); added.is_object())
    for (const auto& [text, id] : added.items())
      if (id.is_number_integer()) ids.emplace(text, id);
  if (!origin.file("tokenizer.json").empty()) return ids;
  try {
    for (const SpecialToken& token : load_tokenizer(origin.tokenizer_path).special)
      ids.emplace(token.name, token.id);
  } catch (const FileError&) {  // one that Sinter does not understand has its own files to say it
  }
  return ids;
}

/// A token's text: transformers writes it as such, or as an object with its properties.
std::string token_text(const Parsed& token) {
  const Parsed& text = token.is_object() && token.contains("content") ? token["content"] : token;
  return text.is_string() ? text.get<std::string>() : "";
}

}  // namespace

std::vector<TokenInUse> tokens_in_use(const Origin& origin) {
  if (origin.tokenizer.empty()) return {};
  const Ids ids = ids_of(origin);
  std::vector<TokenInUse> tokens;
  auto add = [&](const std::string& use, const std::string& text) {
    if (text.empty() || std::ranges::find(tokens, use, &TokenInUse::use) != tokens.end()) return;
    const auto id = ids.find(text);
    tokens.push_back({use, text, id == ids.end() ? std::nullopt : std::optional(id->second)});
  };
  bool is_said = false;
  for (const char* file : {"tokenizer_config.json", "special_tokens_map.json"})
    if (const Parsed says = parsed(origin, file); says.is_object()) {
      is_said = true;
      for (const char* use : uses)
        if (const auto token = says.find(std::string(use) + "_token"); token != says.end())
          add(use, token_text(*token));
    }
  if (is_said) return tokens;
  for (const auto& [use, text] : usual_names)
    if (ids.contains(text)) add(use, text);
  return tokens;
}

}  // namespace sinter::detail::hugging_face
