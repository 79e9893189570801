// SPDX-License-Identifier: Apache-2.0
// The files of an export beside the weights: what save_pretrained of transformers writes for a
// model and its tokenizer.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "hugging_face/origin.hpp"

namespace sinter::detail::hugging_face {

/// What an export is made of.
struct ExportParts {
  Origin origin{};
  int int8_group = 0;      // numbers of weights in int8 that share a scale; 0 without int8
  std::string dtype = "";  // of the weights, such as "bfloat16"; empty for that of the masters
  std::vector<std::string> classes =
      {};                      // names of the classes in the data; empty if these have none
  bool special_tokens = true;  // false if the model knows texts without those around them
  bool bytes = false;  // true if the model's tokens are bytes, and `origin` has no tokenizer
};

/// The generation_config.json of a model whose origin has none, as transformers makes it of config.json.
Origin::Json generation_of(const Origin::Json& config);

/// Writes the files into a folder. `config` is the recipe's config.json, or empty if Hugging Face
/// does not have the architecture; then only the tokenizer is written.
/// throws    FileError
void write_export_files(const ExportParts& parts, const std::string& config,
                        const std::filesystem::path& into);

}  // namespace sinter::detail::hugging_face
