// SPDX-License-Identifier: Apache-2.0
// A few steps of tiny recipes on a device, for one binary of each device. (A binary has the kernels
// of one alone.)
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "sinter/device/cpu.hpp"
#include "sinter/device/cuda.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/optimizer/adamw.hpp"
#include "sinter/precision/bf16.hpp"
#include "sinter/precision/fp16.hpp"
#include "sinter/precision/fp32.hpp"
#include "sinter/precision/fp64.hpp"
#include "sinter/trainer/trainer.hpp"
#include "support/batches.hpp"
#include "support/recipes.hpp"

namespace sinter::testing {

inline constexpr int context = 12, vocabulary = 29;

using TinyGpt = Gpt2<{.layers = 2,
                      .heads = 2,
                      .width = 32,
                      .vocabulary = vocabulary,
                      .positions = context,
                      .dropout = .1}>;

template <class Device, class Precision, class... Policies>
using Tiny = Made<TinyGpt, UpTo<context, vocabulary>, Batch<{.global = 4, .micro = 2}>,
                  AdamW<{.lr = 1e-2, .weight_decay = .1}>, Precision, Device, Policies...>;

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

/// The first steps of a recipe.
template <class R>
std::vector<Measured> first_steps(int steps) {
  Trainer<R> trainer({.seed = 3, .threads = 1});
  std::vector<Measured> all;
  for (int s = 0; s < steps; ++s) all.push_back(take_step(trainer, s));
  return all;
}

}  // namespace sinter::testing
