// SPDX-License-Identifier: Apache-2.0
// Writing of GGUF, the format of llama.cpp: entries, the names of tensors, and their data.
// Layout (github.com/ggml-org/ggml, docs/gguf.md, version 3): everything is little-endian, and each
// tensor begins at a multiple of 32 bytes. The first of its dimensions is the innermost.
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "sinter/files/safetensors.hpp"

namespace sinter::detail {

/// The value of an entry.
using GgufValue = std::variant<std::uint32_t, float, bool, std::string, std::vector<std::string>,
                               std::vector<float>, std::vector<std::int32_t>>;

struct GgufEntry {
  std::string key;  // such as "general.architecture"
  GgufValue value;
};

/// Where elements of a tensor in a file come from.
enum class GgufOrder {
  same,
  transposed,  // of a matrix
  /// Rows of each head alternate between its first half and its second, as llama.cpp rotates
  /// neighbours where transformers rotates numbers i and i + d / 2.
  neighbours,
};

/// A tensor to be written.
struct GgufTensor {
  std::string name;
  Dtype dtype;        // of its elements in the file: f32, f16 or bf16
  TensorView source;  // whose elements it has; its name is only for errors
  GgufOrder order = GgufOrder::same;
  int heads = 1;  // for neighbours

  /// The sizes of its dimensions, the outermost first.
  Shape shape() const;
};

/// Writes a file that appears under its name only when it is complete and synced.
/// throws    FileError (disk full, not writable); ArgumentError (a number too large for its type)
void write_gguf(const std::filesystem::path& path, std::span<const GgufEntry> entries,
                std::span<const GgufTensor> tensors);

}  // namespace sinter::detail
