// SPDX-License-Identifier: Apache-2.0
// A model's tensors in one safetensors file or in several, as Hugging Face lays them out.
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>

#include "sinter/files/safetensors.hpp"

namespace sinter {

/// What a file of weights holds at most by default, in bytes of tensors: that of save_pretrained of
/// transformers.
inline constexpr std::uint64_t default_shard_bytes = 5'000'000'000;

/// Writes model.safetensors if its tensors take `most` bytes at most. Else it writes
/// model-00001-of-00003.safetensors and so on, each with as many of the tensors, in their order, as
/// fit into `most` bytes, or with one that is larger alone, and model.safetensors.index.json.
/// throws    what write_safetensors() throws; ArgumentError if `most` is 0
void write_shards(const std::filesystem::path& folder, std::span<const TensorView> tensors,
                  std::uint64_t most = default_shard_bytes);

}  // namespace sinter
