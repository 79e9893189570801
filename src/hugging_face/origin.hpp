// SPDX-License-Identifier: Apache-2.0
// What a model's weights and tokenizer came with, as far as an export needs it again.
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace sinter::detail::hugging_face {

/// A file of a tokenizer, and its name in a folder of transformers.
struct TokenizerFile {
  std::string name;
  std::filesystem::path from;
};

/// The files of a folder beside its weights.
struct Origin {
  using Json = nlohmann::ordered_json;

  Json config = Json::object();            // of config.json; an object, empty if there is none
  Json generation{};                       // of generation_config.json; null if there is none
  std::vector<TokenizerFile> tokenizer{};  // empty if none is known
  std::filesystem::path tokenizer_path{};  // of the tokenizer, as load_tokenizer() takes it

  bool is_empty() const { return config.empty() && generation.is_null() && tokenizer.empty(); }
  /// The path of a tokenizer's file; empty if it has none of this name.
  std::filesystem::path file(std::string_view name) const;
};

/// Reads the origin of weights: of a folder of Hugging Face's, or of one that write_origin() has
/// written. Of a safetensors file only the type of weights is known. If config.json does not say the
/// type, and weights have 16 bits, it is added under "torch_dtype".
/// throws    FileError if a file cannot be read, or is no object of JSON
Origin origin_of_weights(const std::filesystem::path& path);

/// Replaces the tokenizer by that at a path, as load_tokenizer() takes it. If it is another than
/// before, the ids of special tokens are forgotten, as they are those of the other tokenizer.
void set_tokenizer(Origin& origin, const std::filesystem::path& path);

/// Writes an origin's files into a folder.
/// throws    FileError
void write_origin(const Origin& origin, const std::filesystem::path& into);

/// The text of a file of JSON, as transformers lays it out.
std::string file_text(const Origin::Json& json);

/// True if a folder that write_origin() has written holds this origin and nothing else.
bool is_written(const Origin& origin, const std::filesystem::path& folder);

}  // namespace sinter::detail::hugging_face
