// SPDX-License-Identifier: Apache-2.0
#include "data/tokenizer/load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <system_error>
#include <vector>

#include "data/tokenizer/sentencepiece.hpp"
#include "data/tokenizer/sentencepiece_file.hpp"
#include "files/json.hpp"
#include "sinter/files/io.hpp"

namespace sinter {
using namespace detail;
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t largest_file = std::uint64_t(1) << 30;

/// What a folder may hold, the first that is there of the kinds in this order.
constexpr const char* whole_tokenizer = "tokenizer.json";
struct Gpt2Files {
  const char *vocabulary, *merges;
};
constexpr Gpt2Files gpt2_files[]{{"encoder.json", "vocab.bpe"}, {"vocab.json", "merges.txt"}};
constexpr const char* bert_vocabulary = "vocab.txt";
constexpr const char* sentencepiece_models[]{"tokenizer.model", "spiece.model"};

Tokenizer made_of(Tokenizer tokenizer) { return tokenizer; }
template <class Parts>
Tokenizer made_of(Parts parts) {
  return tokenizer_of(std::move(parts));
}
template <class... Parts>
Tokenizer made_of(std::variant<Parts...> parts) {
  return std::visit([](auto& some) { return tokenizer_of(std::move(some)); }, parts);
}

/// Calls read(), and names the tokenizer in what it throws.
template <class Read>
Tokenizer checked(const fs::path& path, Read&& read) {
  auto refuse = [&](const char* problem, const char* mend = " Fetch it again, or use another.") {
    return FileError(fmt::format("The tokenizer {} cannot be used: {}.{}",
                                 printable(path.string(), 4096), problem, mend));
  };
  try {
    return made_of(read());
  } catch (const LibraryMissing& problem) {
    throw refuse(problem.what(), "");
  } catch (const TokenizerProblem& problem) {
    throw refuse(problem.what());
  } catch (const JsonError& problem) {
    throw refuse(problem.what());
  }
}

/// What stands in a folder beside a vocabulary.
FolderFiles files_beside(const fs::path& folder) {
  auto content = [&](const char* name) {
    std::error_code none;
    return fs::exists(folder / name, none) ? read_file(folder / name, largest_file) : "";
  };
  return {.tokenizer_config = content("tokenizer_config.json"),
          .special_tokens_map = content("special_tokens_map.json"),
          .added_tokens = content("added_tokens.json"),
          .config = content("config.json")};
}

std::string identity_of(const FolderFiles& beside) {
  std::string identity;
  for (const std::string* text :
       {&beside.tokenizer_config, &beside.special_tokens_map, &beside.added_tokens, &beside.config})
    identity += hash_of(*text);
  return identity;
}

/// The names of GPT-2's files that a folder has, or has one of.
const Gpt2Files* gpt2_files_in(const fs::path& folder) {
  std::error_code none;
  for (const Gpt2Files& names : gpt2_files)
    if (fs::exists(folder / names.vocabulary, none) || fs::exists(folder / names.merges, none))
      return &names;
  return nullptr;
}

/// Reads GPT-2's files as the files beside them say. `path` names them in messages.
Tokenizer load_gpt2(const fs::path& path, const fs::path& folder, const Gpt2Files& names,
                    const FolderFiles& beside) {
  const std::string vocabulary = read_file(folder / names.vocabulary, largest_file),
                    merges = read_file(folder / names.merges, largest_file);
  Tokenizer tokenizer =
      checked(path, [&] { return read_gpt2_files(vocabulary, merges, names.merges, beside); });
  tokenizer.identity = hash_of(vocabulary) + hash_of(merges) + identity_of(beside);
  return tokenizer;
}

/// Reads BERT's vocab.txt, and what the files beside it say.
Tokenizer load_bert(const fs::path& path) {
  const std::string text = read_file(path, largest_file);
  const FolderFiles beside = files_beside(path.parent_path());
  Tokenizer tokenizer = checked(path, [&] { return read_bert_vocabulary(text, beside); });
  tokenizer.identity = hash_of(text) + identity_of(beside);
  return tokenizer;
}

/// A model of SentencePiece, and the special tokens that the files beside it put around a text.
Tokenizer read_surrounded(const std::string& model, const FolderFiles& beside) {
  Tokenizer tokenizer = read_sentencepiece(model);
  auto id_of = [&](const std::string& text) -> std::optional<std::int32_t> {
    const auto found = std::ranges::find(tokenizer.special, text, &SpecialToken::name);
    return found == tokenizer.special.end() ? std::nullopt : std::optional(found->id);
  };
  Surroundings around =
      surroundings_of(FolderSettings(beside), {{"bos_token", "<s>"}, {"eos_token", "</s>"}}, id_of);
  tokenizer.before = std::move(around.before);
  tokenizer.behind = std::move(around.behind);
  return tokenizer;
}

/// Reads a tokenizer.json, or a model of SentencePiece.
Tokenizer load_file(const fs::path& path) {
  const std::string text = read_file(path, largest_file);
  const bool is_model = path.extension() == ".model" || looks_like_sentencepiece(text);
  Tokenizer tokenizer =
      is_model
          ? checked(path, [&] { return read_surrounded(text, files_beside(path.parent_path())); })
          : checked(path, [&] { return read_tokenizer_json(text); });
  tokenizer.identity = hash_of(text);
  return tokenizer;
}

}  // namespace

namespace detail {
bool holds_tokenizer(const fs::path& folder) {
  std::error_code none;
  for (const char* name :
       {whole_tokenizer, gpt2_files[0].vocabulary, gpt2_files[0].merges, gpt2_files[1].vocabulary,
        gpt2_files[1].merges, bert_vocabulary, sentencepiece_models[0], sentencepiece_models[1]})
    if (fs::exists(folder / name, none)) return true;
  return false;
}

fs::path vocabulary_alone(const fs::path& path) {
  std::error_code none;
  if (!fs::is_directory(path, none) || fs::exists(path / whole_tokenizer, none)) return path;
  const Gpt2Files* names = gpt2_files_in(path);
  return names ? path / names->vocabulary : path;
}
}  // namespace detail

Tokenizer load_tokenizer(const fs::path& path) {
  std::error_code none;
  if (!fs::is_directory(path, none)) {
    for (const Gpt2Files& names : gpt2_files)
      if (path.filename() == names.vocabulary)
        return load_gpt2(path, path.parent_path(), names, {});
    return path.extension() == ".txt" ? load_bert(path) : load_file(path);
  }
  if (fs::exists(path / whole_tokenizer, none)) return load_file(path / whole_tokenizer);
  if (const Gpt2Files* names = gpt2_files_in(path))
    return load_gpt2(path, path, *names, files_beside(path));
  if (fs::exists(path / bert_vocabulary, none)) return load_bert(path / bert_vocabulary);
  for (const char* name : sentencepiece_models)
    if (fs::exists(path / name, none)) return load_file(path / name);
  throw FileError(
      fmt::format("There is no tokenizer in the folder {}. It must hold tokenizer.json, or "
                  "encoder.json and vocab.bpe, or vocab.json and merges.txt, or vocab.txt, or "
                  "tokenizer.model, or spiece.model.",
                  printable(path.string(), 4096)));
}

}  // namespace sinter
