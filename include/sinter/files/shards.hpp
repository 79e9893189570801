// SPDX-License-Identifier: Apache-2.0
// A model's tensors in one safetensors file or in several, as Hugging Face lays them out.
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>

#include "sinter/files/safetensors.hpp"

namespace sinter::detail {

/// Default size of a file of weights, in bytes of tensors: that of save_pretrained in transformers.
inline constexpr std::uint64_t default_shard_bytes = 5'000'000'000;

/// Writes model.safetensors if there is one tensor, or all fit into one file of `max_bytes`. Else
/// writes model-00001-of-00003.safetensors and so on, and model.safetensors.index.json. Each file
/// holds as many tensors, in their order, as fit into `max_bytes`. A tensor that is larger has a
/// file of its own, because no tensor is divided.
/// throws    what write_safetensors() throws; ArgumentError if `max_bytes` is 0
void write_shards(const std::filesystem::path& folder, std::span<const TensorView> tensors,
                  std::uint64_t max_bytes = default_shard_bytes);

}  // namespace sinter::detail
