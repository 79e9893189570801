// SPDX-License-Identifier: Apache-2.0
#include "hugging_face/gguf_tokenizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "data/tokenizer/json_fields.hpp"
#include "data/tokenizer/load.hpp"
#include "data/tokenizer/sentencepiece_file.hpp"
#include "files/json.hpp"
#include "hugging_face/special_tokens.hpp"
#include "sinter/data/unit.hpp"
#include "sinter/error.hpp"
#include "sinter/files/io.hpp"

namespace sinter::detail::hugging_face {
namespace {

namespace fs = std::filesystem;
using Parsed = nlohmann::json;

/// Kinds of tokens, as llama.cpp numbers them.
enum class Kind : std::int32_t { normal = 1, unknown, control, user_defined, unused, byte };

[[noreturn]] void refuse_tokenizer(const std::string& what) {
  throw ArgumentError(
      fmt::format("--gguf: {}. Name another tokenizer with --tokenizer, or export a folder with "
                  "--out.",
                  what));
}

/// The tokens of a model, by id.
struct Tokens {
  std::vector<std::string> texts;
  std::vector<std::int32_t> kinds;
  std::vector<float> scores;  // for SentencePiece

  /// All ids of a model, none of which has a token yet.
  explicit Tokens(std::int64_t count) {
    constexpr float lowest = -10000;
    for (std::int64_t id = 0; id < count; ++id) texts.push_back(fmt::format("[PAD{}]", id));
    kinds.resize(texts.size(), std::int32_t(Kind::unused));
    scores.resize(texts.size(), lowest);
  }
  void set(std::size_t id, std::string text, Kind kind, float score = 0) {
    texts[id] = std::move(text);
    kinds[id] = std::int32_t(kind);
    scores[id] = score;
  }
  /// Sets added tokens from the id `first` on.
  void add(const BpeParts& parts, std::int32_t first) {
    constexpr float of_added = -1000;
    auto set_text = [&](std::int32_t id, const std::string& text, Kind kind) {
      if (id >= first) set(std::size_t(id), text, kind, of_added);
    };
    for (const AddedToken& token : parts.added) set_text(token.id, token.text, Kind::user_defined);
    for (const SpecialToken& token : parts.special) set_text(token.id, token.name, Kind::control);
  }
};

void require_room(std::size_t tokens, std::int64_t vocabulary) {
  if (std::int64_t(tokens) > vocabulary)
    refuse_tokenizer(fmt::format("the tokenizer has {} tokens, and the model's vocabulary is {}",
                                 thousands(std::int64_t(tokens)), thousands(vocabulary)));
}

/// What llama.cpp calls the way in which a BPE cuts texts.
std::string cut_of(const BpeParts& parts) {
  const bool takes_whole = !parts.whole.empty();
  if (parts.splits.empty()) {
    if (parts.merges.empty()) return "gpt-2";  // where nothing merges, cuts change nothing
    if (parts.pattern == Pattern::gpt2 && !takes_whole) return "gpt-2";
    if (parts.pattern == Pattern::qwen2 && !takes_whole) return "qwen2";
    if (parts.pattern == Pattern::llama3) return takes_whole ? "llama-bpe" : "smaug-bpe";
  }
  refuse_tokenizer(
      "llama.cpp has no name for how the tokenizer cuts texts; it has the patterns of GPT-2, "
      "Llama 3 and Qwen2");
}

/// A note if the tokenizer normalises texts, as llama.cpp does not. What changes also a text that
/// is in NFC cannot be left out.
std::string note_on_normalizer(const BpeParts& parts) {
  if (parts.normalizer.empty()) return "";
  const std::string in_nfc = "  A\u00e9 \ufb01\t\u4e2d \n";
  if (parts.normalizer.apply(in_nfc) != in_nfc)
    refuse_tokenizer("llama.cpp does not normalise texts as the tokenizer does");
  return "llama.cpp does not normalise texts: those that are not in NFC get other tokens there.\n";
}

GgufTokenizer of_bytes(const BpeParts& parts, std::int64_t vocabulary) {
  require_room(parts.tokens.size(), vocabulary);
  if (parts.prefix != Prefix::none)
    refuse_tokenizer(
        "llama.cpp puts no blank before a text, as the tokenizer does (add_prefix_space)");
  GgufTokenizer result{.entries = {}, .notes = note_on_normalizer(parts)};
  Tokens tokens(vocabulary);
  for (std::size_t id = 0; id < parts.tokens.size(); ++id)
    if (!parts.tokens[id].empty())
      tokens.set(id, spelling_of_bytes(parts.tokens[id]), Kind::normal);
  tokens.add(parts, 0);
  std::vector<std::string> merges;
  merges.reserve(parts.merges.size());
  auto spelled = [&](std::int32_t id) { return spelling_of_bytes(parts.tokens[std::size_t(id)]); };
  for (const Merge& merge : parts.merges)
    merges.push_back(spelled(merge.left) + " " + spelled(merge.right));
  result.entries = {{"tokenizer.ggml.model", std::string("gpt2")},
                    {"tokenizer.ggml.pre", cut_of(parts)},
                    {"tokenizer.ggml.tokens", std::move(tokens.texts)},
                    {"tokenizer.ggml.token_type", std::move(tokens.kinds)},
                    {"tokenizer.ggml.merges", std::move(merges)}};
  return result;
}

Kind as_kind(SentencePieceFile::Kind kind) { return Kind(int(kind)); }

/// `added` has tokens beyond those of the file.
GgufTokenizer of_sentencepiece(const SentencePieceFile& file, const BpeParts& added,
                               std::int64_t vocabulary) {
  if (!file.is_bpe)
    refuse_tokenizer("the tokenizer is SentencePiece's Unigram; llama.cpp's \"llama\" is a BPE");
  if (file.has_rules || file.removes_blanks)
    refuse_tokenizer(
        "llama.cpp neither replaces characters nor removes blanks, as the tokenizer does");
  if (file.blanks_behind || !file.escapes_blanks)
    refuse_tokenizer("llama.cpp has blanks before words, as U+2581, and the tokenizer does not");
  require_room(std::max(file.pieces.size(), added.tokens.size()), vocabulary);
  Tokens tokens(vocabulary);
  for (std::size_t id = 0; id < file.pieces.size(); ++id)
    tokens.set(id, file.pieces[id].text, as_kind(file.pieces[id].kind), file.pieces[id].score);
  tokens.add(added, std::int32_t(file.pieces.size()));
  std::map<std::string, std::int64_t> ids;
  for (std::size_t id = 0; id < file.pieces.size(); ++id) {
    const auto& [text, kind, score] = file.pieces[id];
    if (kind == SentencePieceFile::Kind::unknown) ids.emplace("unk", id);
    if (kind == SentencePieceFile::Kind::control && text == "<s>") ids.emplace("bos", id);
    if (kind == SentencePieceFile::Kind::control && text == "</s>") ids.emplace("eos", id);
  }
  return {.entries = {{"tokenizer.ggml.model", std::string("llama")},
                      {"tokenizer.ggml.pre", std::string("default")},
                      {"tokenizer.ggml.tokens", std::move(tokens.texts)},
                      {"tokenizer.ggml.scores", std::move(tokens.scores)},
                      {"tokenizer.ggml.token_type", std::move(tokens.kinds)},
                      {"tokenizer.ggml.add_space_prefix", file.adds_blank}},
          .ids = std::move(ids)};
}

std::string content(const Origin& origin, const char* name) {
  const fs::path file = origin.file(name);
  return file.empty() ? "" : read_file(file);
}

/// The BPE of an origin's files; empty if it has only a model of SentencePiece.
std::optional<BpeParts> bpe_of(const Origin& origin) {
  if (const std::string whole = content(origin, "tokenizer.json"); !whole.empty()) {
    auto parts = read_tokenizer_json(whole);
    if (auto* bpe = std::get_if<BpeParts>(&parts)) return std::move(*bpe);
    refuse_tokenizer(
        "the tokenizer is a WordPiece, which models of llama.cpp's text generation do not have");
  }
  if (origin.file("vocab.json").empty() || origin.file("merges.txt").empty()) return std::nullopt;
  const FolderFiles beside{.tokenizer_config = content(origin, "tokenizer_config.json"),
                           .special_tokens_map = content(origin, "special_tokens_map.json"),
                           .added_tokens = content(origin, "added_tokens.json"),
                           .config = origin.config.empty() ? "" : file_text(origin.config)};
  return read_gpt2_files(content(origin, "vocab.json"), content(origin, "merges.txt"), "merges.txt",
                         beside);
}

/// Tokens of added_tokens.json.
BpeParts added_beside(const Origin& origin) {
  BpeParts parts;
  const std::string text = content(origin, "added_tokens.json");
  if (text.empty()) return parts;
  const Parsed added = parse_large_json(text);
  for (const auto& [token, id] : added.items())
    parts.added.push_back(
        {.id = integer_of<std::int32_t>(id, "an id in added_tokens.json"), .text = token});
  for (const AddedToken& token : parts.added) {
    if (token.id < 0 || token.id > Vocabulary::largest_id)
      refuse_tokenizer(fmt::format("added_tokens.json has the id {}", token.id));
    parts.tokens.resize(std::max(parts.tokens.size(), std::size_t(token.id) + 1));
  }
  return parts;
}

/// True if texts have this token at one of their ends, and false if they have none there.
/// throws    ArgumentError if they have others, which GGUF cannot say
bool has_alone(const std::vector<std::int32_t>& there,
               const std::map<std::string, std::int64_t>& ids, const std::string& use,
               std::string_view where) {
  if (there.empty()) return false;
  const auto id = ids.find(use);
  if (there.size() == 1 && id != ids.end() && id->second == there.front()) return true;
  refuse_tokenizer(
      fmt::format("its files put {} tokens {} a text, and GGUF can say only whether {} is there",
                  there.size(), where, use));
}

/// The first whole number under a key, which may be a list of them.
std::optional<std::int64_t> id_in(const Origin::Json& config, const std::string& key) {
  const auto found = config.find(key);
  if (found == config.end()) return std::nullopt;
  const Origin::Json& value = found->is_array() && !found->empty() ? found->front() : *found;
  if (!value.is_number_integer()) return std::nullopt;
  return value.get<std::int64_t>();
}

/// Adds the ids of special tokens, whether texts begin and end with them, and the template of chats.
void add_settings(const Origin& origin, std::int64_t vocabulary, bool special_tokens,
                  GgufTokenizer& tokenizer) {
  constexpr std::pair<const char*, const char*> keys[]{
      {"bos", "bos_token_id"},       {"eos", "eos_token_id"},     {"unk", "unknown_token_id"},
      {"sep", "seperator_token_id"}, {"pad", "padding_token_id"}, {"mask", "mask_token_id"}};
  std::vector<GgufEntry>& entries = tokenizer.entries;
  std::map<std::string, std::int64_t> ids;
  for (const TokenInUse& token : tokens_in_use(origin))
    if (token.id) ids.emplace(token.use, *token.id);
  for (const auto& [use, key] : keys)
    if (const auto id = id_in(origin.config, std::string(use) + "_token_id")) ids.emplace(use, *id);
  ids.merge(tokenizer.ids);
  for (const auto& [use, key] : keys)
    if (const auto id = ids.find(use);
        id != ids.end() && id->second >= 0 && id->second < vocabulary)
      entries.push_back({fmt::format("tokenizer.ggml.{}", key), std::uint32_t(id->second)});
  const std::string text = content(origin, "tokenizer_config.json");
  const Parsed settings = text.empty() ? Parsed() : parse_large_json(text);
  Tokenizer own = load_tokenizer(origin.tokenizer_path);
  if (!special_tokens) own.before.clear(), own.behind.clear();
  entries.push_back({"tokenizer.ggml.add_bos_token", has_alone(own.before, ids, "bos", "before")});
  entries.push_back({"tokenizer.ggml.add_eos_token", has_alone(own.behind, ids, "eos", "behind")});
  std::string chat = content(origin, "chat_template.jinja");
  if (settings.is_object() && settings.contains("chat_template") &&
      settings["chat_template"].is_string())
    chat = settings["chat_template"].get<std::string>();
  if (!chat.empty()) entries.push_back({"tokenizer.chat_template", chat});
}

}  // namespace

GgufTokenizer gguf_tokenizer(const Origin& origin, std::int64_t vocabulary,
                             bool special_tokens) try {
  std::optional<BpeParts> bpe = bpe_of(origin);
  const std::string model = content(origin, "tokenizer.model");
  GgufTokenizer result;
  if (bpe && !bpe->over_characters) {
    result = of_bytes(*bpe, vocabulary);
  } else if (!model.empty()) {
    result = of_sentencepiece(read_sentencepiece_file(model), bpe ? *bpe : added_beside(origin),
                              vocabulary);
  } else if (bpe) {
    refuse_tokenizer(
        "a tokenizer.json over characters has no scores of tokens, which llama.cpp needs; the "
        "tokenizer.model of SentencePiece has them");
  } else {
    refuse_tokenizer(
        "the tokenizer is neither a BPE over bytes nor a tokenizer.model of SentencePiece");
  }
  add_settings(origin, vocabulary, special_tokens, result);
  return result;
} catch (const TokenizerProblem& problem) {
  refuse_tokenizer(fmt::format("the tokenizer is not understood: {}", problem.what()));
} catch (const JsonError& error) {
  refuse_tokenizer(fmt::format("a file of the tokenizer is not JSON ({})", error.what()));
}

GgufTokenizer gguf_byte_tokenizer(std::int64_t vocabulary) {
  constexpr int bytes = 256;
  BpeParts parts;
  for (int each = 0; each < bytes; ++each) parts.tokens.emplace_back(1, char(each));
  GgufTokenizer result = of_bytes(parts, vocabulary);
  result.entries.push_back({"tokenizer.ggml.add_bos_token", false});
  return result;
}

}  // namespace sinter::detail::hugging_face
