// SPDX-License-Identifier: Apache-2.0
// An export as one file that llama.cpp reads.
#pragma once
#include <filesystem>
#include <span>
#include <string>

#include "hugging_face/export_files.hpp"
#include "sinter/files/safetensors.hpp"

namespace sinter::detail::hugging_face {

/// Writes a model with its tokenizer as a GGUF file, which appears only when it is complete.
/// `config` is the recipe's config.json, empty if transformers does not have the architecture.
/// Returns lines on what llama.cpp does otherwise.
/// throws    ArgumentError that names what llama.cpp does not do of the model or of its tokenizer;
///           FileError
std::string export_gguf(const ExportParts& parts, const Origin::Json& config,
                        std::span<const TensorView> weights, Dtype dtype,
                        const std::filesystem::path& file);

}  // namespace sinter::detail::hugging_face
