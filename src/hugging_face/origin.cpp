// SPDX-License-Identifier: Apache-2.0
#include "hugging_face/origin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <system_error>

#include "files/json.hpp"
#include "sinter/files/io.hpp"
#include "sinter/files/safetensors.hpp"
#include "sinter/files/weights.hpp"

namespace sinter::detail::hugging_face {
namespace {

namespace fs = std::filesystem;
using Json = Origin::Json;

constexpr std::uint64_t largest_json = std::uint64_t(1) << 20;
constexpr const char *config_file = "config.json", *generation_file = "generation_config.json";

/// A file's name in folders, and what transformers calls it.
struct Name {
  const char *found, *written;
};
/// Those that hold the tokens. Of two with one written name the first counts.
constexpr Name vocabularies[]{{"tokenizer.json", "tokenizer.json"},
                              {"encoder.json", "vocab.json"},
                              {"vocab.bpe", "merges.txt"},
                              {"vocab.json", "vocab.json"},
                              {"merges.txt", "merges.txt"},
                              {"vocab.txt", "vocab.txt"},
                              {"tokenizer.model", "tokenizer.model"},
                              {"spiece.model", "spiece.model"},
                              {"sentencepiece.bpe.model", "sentencepiece.bpe.model"},
                              {"source.spm", "source.spm"},
                              {"target.spm", "target.spm"}};
/// Those that say how they are used.
constexpr const char* settings[]{"tokenizer_config.json", "special_tokens_map.json",
                                 "added_tokens.json", "chat_template.jinja", "chat_template.json"};

bool is_file(const fs::path& path) {
  std::error_code none;
  return fs::is_regular_file(path, none);
}

Json object_in(const fs::path& path) {
  auto refused = [&](const std::string& why) {
    return FileError(fmt::format("Cannot read {}: {}. Correct it, or take it away.",
                                 printable(path.string(), 4096), why));
  };
  try {
    Json json = parse_json(read_file(path, largest_json));
    if (!json.is_object()) throw refused("it is no object of JSON");
    return json;
  } catch (const JsonError& error) {
    throw refused(fmt::format("it is not JSON ({})", error.what()));
  }
}

/// Adds the type of weights, if it is one of 16 bits, to a config that does not say it.
void add_type(Json& config, const std::vector<fs::path>& files) {
  for (const char* key : {"dtype", "torch_dtype"})
    if (const auto found = config.find(key); found != config.end() && found->is_string()) return;
  if (files.empty()) return;
  const SafetensorsFile file(files.front());
  for (const TensorInfo& tensor : file.tensors()) {
    if (tensor.dtype == Dtype::bf16) config["torch_dtype"] = "bfloat16";
    if (tensor.dtype == Dtype::f16) config["torch_dtype"] = "float16";
  }
}

void add_settings(const fs::path& folder, std::vector<TokenizerFile>& files) {
  for (const char* name : settings)
    if (is_file(folder / name)) files.push_back({name, folder / name});
}

std::vector<TokenizerFile> files_of_folder(const fs::path& folder) {
  std::vector<TokenizerFile> files;
  for (const Name& name : vocabularies)
    if (is_file(folder / name.found) &&
        std::ranges::find(files, name.written, &TokenizerFile::name) == files.end())
      files.push_back({name.written, folder / name.found});
  if (!files.empty()) add_settings(folder, files);
  return files;
}

/// The files of a tokenizer that is named as a file. Those beside it belong to it if it has its
/// usual name, or is a vocab.txt or *.model, which load_tokenizer() reads with them. To vocab.json or
/// encoder.json only the merges belong.
std::vector<TokenizerFile> files_of_file(const fs::path& file) {
  const std::string name = file.filename();
  if (name == "vocab.json")
    return {{name, file}, {"merges.txt", file.parent_path() / "merges.txt"}};
  if (name == "encoder.json")
    return {{"vocab.json", file}, {"merges.txt", file.parent_path() / "vocab.bpe"}};
  const auto known = std::ranges::find(vocabularies, name, &Name::found);
  const std::string extension = file.extension();
  std::vector<TokenizerFile> files{{extension == ".txt"     ? "vocab.txt"
                                    : extension == ".model" ? "tokenizer.model"
                                                            : "tokenizer.json",
                                    file}};
  if (known != std::end(vocabularies)) files.front().name = known->written;
  if (known != std::end(vocabularies) || extension == ".txt" || extension == ".model")
    add_settings(file.parent_path(), files);
  return files;
}

/// True if both have the same tokens.
bool same_tokens(const std::vector<TokenizerFile>& one, const std::vector<TokenizerFile>& other) {
  for (const Name& name : vocabularies) {
    const auto a = std::ranges::find(one, name.written, &TokenizerFile::name),
               b = std::ranges::find(other, name.written, &TokenizerFile::name);
    if (a != one.end() && b != other.end()) return read_file(a->from) == read_file(b->from);
  }
  return false;
}

/// The files of an origin, as names and texts.
std::vector<std::pair<std::string, std::string>> texts_of(const Origin& origin) {
  std::vector<std::pair<std::string, std::string>> texts;
  if (!origin.config.empty()) texts.emplace_back(config_file, file_text(origin.config));
  if (!origin.generation.is_null())
    texts.emplace_back(generation_file, file_text(origin.generation));
  for (const TokenizerFile& file : origin.tokenizer)
    texts.emplace_back(file.name, read_file(file.from));
  return texts;
}

}  // namespace

std::string file_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

fs::path Origin::file(std::string_view name) const {
  const auto found = std::ranges::find(tokenizer, name, &TokenizerFile::name);
  return found == tokenizer.end() ? fs::path() : found->from;
}

Origin origin_of_weights(const fs::path& path) {
  Origin origin;
  std::error_code none;
  if (!fs::is_directory(path, none)) {
    add_type(origin.config, {path});
    return origin;
  }
  if (is_file(path / config_file)) origin.config = object_in(path / config_file);
  if (is_file(path / generation_file)) origin.generation = object_in(path / generation_file);
  origin.tokenizer = files_of_folder(path);
  origin.tokenizer_path = path;
  const bool has_weights =
      is_file(path / "model.safetensors") || is_file(path / "model.safetensors.index.json");
  if (has_weights) add_type(origin.config, resolve_weights(path).files);
  return origin;
}

void set_tokenizer(Origin& origin, const fs::path& path) {
  std::error_code none;
  std::vector<TokenizerFile> files =
      fs::is_directory(path, none) ? files_of_folder(path) : files_of_file(path);
  if (!origin.tokenizer.empty() && !same_tokens(origin.tokenizer, files)) {
    for (const char* key : {"bos_token_id", "eos_token_id", "pad_token_id", "sep_token_id",
                            "cls_token_id", "mask_token_id", "unk_token_id"})
      origin.config.erase(key);
    origin.generation = nullptr;
  }
  origin.tokenizer = std::move(files);
  origin.tokenizer_path = path;
}

void write_origin(const Origin& origin, const fs::path& into) {
  for (const auto& [name, text] : texts_of(origin)) write_file_atomically(into / name, text);
}

bool is_written(const Origin& origin, const fs::path& folder) {
  const auto texts = texts_of(origin);
  std::error_code none;
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(folder, none))
    files += fs::is_regular_file(entry.symlink_status(none));
  return files == texts.size() && std::ranges::all_of(texts, [&](const auto& text) {
           return is_file(folder / text.first) && read_file(folder / text.first) == text.second;
         });
}

}  // namespace sinter::detail::hugging_face
