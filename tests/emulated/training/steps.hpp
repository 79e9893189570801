// SPDX-License-Identifier: Apache-2.0
// A few steps of tiny recipes on a device, for one binary of each device. (A binary has the kernels
// of one alone.)
#pragma once
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "sinter/device/cpu.hpp"
#include "sinter/device/cuda.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/recipe/techniques.hpp"
#include "sinter/trainer/snapshot.hpp"
#include "sinter/trainer/trainer.hpp"
#include "support/batches.hpp"
#include "support/recipes.hpp"

namespace sinter::detail::testing {

inline constexpr int context = 12, vocabulary = 29;

/// With an observer, a machine launches directly and makes no graph.
class LaunchesDirectly final : public Observer {
  void before(const Machine&, int, int) override {}
  void after(const Machine&, int, int) override {}
};

using TinyGpt = Gpt2<{.layers = 2,
                      .heads = 2,
                      .width = 32,
                      .vocabulary = vocabulary,
                      .positions = context,
                      .dropout = .1}>;

template <class Device, class Precision, class... Policies>
using Tiny = Made<TinyGpt, UpTo<context, vocabulary>, Batch<{.global = 4, .micro = 2}>,
                  AdamW<{.lr = 1e-2, .weight_decay = .1}>, Precision, Device, Policies...>;

/// What the binary for the CPU calls a precision.
template <class Precision>
inline constexpr const char* word_of = nullptr;
template <>
inline constexpr const char* word_of<Fp64> = "fp64";
template <>
inline constexpr const char* word_of<Fp32> = "fp32";
template <>
inline constexpr const char* word_of<Bf16> = "bf16";

/// The batch of a step: its sequences have other lengths than those of its neighbours.
inline HostBatch batch_of(int step) {
  const std::vector<int> lengths[]{{12, 7, 12, 3}, {12, 12, 12, 12}, {5, 12, 1, 9}};
  return token_batch(lengths[step % 3], vocabulary, std::uint64_t(step % 3) + 1);
}

/// What a step has measured.
struct Measured {
  double loss, norm;
  bool operator==(const Measured&) const = default;
};

inline Measured take_step(TrainerCore& trainer, int step) {
  const Outcome outcome = trainer.step(batch_of(step));
  if (const auto* applied = std::get_if<Applied>(&outcome))
    return {applied->loss.mean(), applied->gradient_norm};
  const Skipped& skipped = std::get<Skipped>(outcome);
  return {skipped.loss.mean(), skipped.gradient_norm};
}

/// The steps from `first` up to `last` of a recipe, from the checkpoint folder/first where `first`
/// is not 0. Saves folder/last.
template <class R>
std::vector<Measured> steps_between(int first, int last, const std::filesystem::path& folder) {
  Trainer<R> trainer({.seed = 3, .threads = 1});
  if (first > 0) trainer.load(folder / std::to_string(first));
  std::vector<Measured> all;
  for (int s = first; s < last; ++s) all.push_back(take_step(trainer, s));
  trainer.save(folder / std::to_string(last));
  return all;
}

/// All bytes that a checkpoint's tensors have, in order.
inline std::string bytes_of(const CheckpointContent& content) {
  std::string all;
  for (const auto* list : {&content.weights, &content.state})
    for (const TensorView& tensor : *list)
      all.append(static_cast<const char*>(tensor.data), tensor.bytes);
  return all;
}

}  // namespace sinter::detail::testing
