// SPDX-License-Identifier: Apache-2.0
#include "data/tokenizer/load.hpp"

#include <fmt/format.h>

#include <algorithm>
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

/// Reads BERT's vocab.txt, and what the tokenizer_config.json beside it says.
Tokenizer load_bert(const fs::path& path) {
  std::error_code none;
  const fs::path settings = path.parent_path() / "tokenizer_config.json";
  const std::string text = read_file(path, largest_file),
                    config = fs::exists(settings, none) ? read_file(settings) : "";
  Tokenizer tokenizer = checked(path, [&] { return read_bert_vocabulary(text, config); });
  tokenizer.identity = hash_of(text) + hash_of(config);
  return tokenizer;
}

/// Reads a tokenizer.json, or a model of SentencePiece.
Tokenizer load_file(const fs::path& path) {
  const std::string text = read_file(path, largest_file);
  const bool is_model = path.extension() == ".model" || looks_like_sentencepiece(text);
  Tokenizer tokenizer = is_model ? checked(path, [&] { return read_sentencepiece(text); })
                                 : checked(path, [&] { return read_tokenizer_json(text); });
  tokenizer.identity = hash_of(text);
  return tokenizer;
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

}  // namespace

namespace detail {
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
                         std::string_view merges_name) {
  auto parsed = [&] {
    try {
      return parse_large_json(vocabulary_text);
    } catch (const JsonError& error) {
      throw TokenizerProblem(fmt::format("its vocabulary is damaged, {}", error.what()));
    }
  };
  const Vocabulary vocabulary(parsed(), "its vocabulary");
  BpeParts parts;
  parts.pattern = Pattern::gpt2;
  set_byte_level(parts, vocabulary);
  parts.merges = merges_of(merges, vocabulary, merges_name);
  find_special(parts, vocabulary);
  return parts;
}

bool holds_tokenizer(const fs::path& folder) {
  std::error_code none;
  for (const char* name :
       {whole_tokenizer, gpt2_files[0].vocabulary, gpt2_files[0].merges, gpt2_files[1].vocabulary,
        gpt2_files[1].merges, bert_vocabulary, sentencepiece_models[0], sentencepiece_models[1]})
    if (fs::exists(folder / name, none)) return true;
  return false;
}
}  // namespace detail

Tokenizer load_tokenizer(const fs::path& path) {
  std::error_code none;
  if (!fs::is_directory(path, none))
    return path.extension() == ".txt" ? load_bert(path) : load_file(path);
  if (fs::exists(path / whole_tokenizer, none)) return load_file(path / whole_tokenizer);
  for (const Gpt2Files& names : gpt2_files) {
    if (!fs::exists(path / names.vocabulary, none) && !fs::exists(path / names.merges, none))
      continue;
    const std::string vocabulary = read_file(path / names.vocabulary, largest_file),
                      merges = read_file(path / names.merges, largest_file);
    Tokenizer tokenizer =
        checked(path, [&] { return read_gpt2_files(vocabulary, merges, names.merges); });
    tokenizer.identity = hash_of(vocabulary) + hash_of(merges);
    return tokenizer;
  }
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
