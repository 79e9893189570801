// SPDX-License-Identifier: Apache-2.0
// Adapters (Lora) beside and within the weights of their layers.
#pragma once
#include <deque>
#include <filesystem>
#include <span>
#include <vector>

#include "sinter/files/load.hpp"
#include "sinter/layer/lora_options.hpp"
#include "sinter/plan/parameter.hpp"

namespace sinter::detail {

/// The weights of a model in which each layer with an adapter has W + s B A for W, and no adapter.
class MergedWeights {
  std::vector<TensorView> merged;
  std::deque<std::vector<std::byte>> copies;

 public:
  /// requires  `weights` are the masters of all parameters, in floating point, and outlive this
  MergedWeights(std::span<const TensorView> weights, const std::vector<Parameter>& parameters,
                const LoraOptions& lora);

  std::span<const TensorView> views() const { return merged; }
};

/// True if files have any tensor of an adapter.
bool hold_adapters(std::span<const std::filesystem::path> files);
/// Removes the adapters from a list of tensors.
void drop_adapters(std::vector<Expected>& expected, const std::vector<Parameter>& parameters);

}  // namespace sinter::detail
