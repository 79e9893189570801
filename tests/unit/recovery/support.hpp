// SPDX-License-Identifier: Apache-2.0
// A small network, and batches of which some are bad.
#pragma once
#include <cmath>
#include <set>

#include "sinter/files/run_folder.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/optimizer/adamw.hpp"
#include "sinter/trainer/loop.hpp"
#include "support/batches.hpp"
#include "support/loss_scale.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"
#include "unit/files/support.hpp"

namespace sinter::detail::testing {

template <class... Policies>
using Net = Made<Mlp<{.in = 3, .hidden = 8, .out = 2}>, Batch<{.global = 8, .micro = 2}>,
                 AdamW<{.lr = 1e-2}>, Policies...>;
const TrainerSettings settings{.seed = 1, .threads = 1};

inline HostBatch rows(std::uint64_t seed, float bad = 0) {
  HostBatch batch = regression_batch({1, 1, 1, 1, 1, 1, 1, 1}, 3, 2, seed);
  if (bad != 0) batch.values[0][5] = bad;
  return batch;
}

/// Gives rows(0), rows(1), …, with a bad value in some.
struct Batches {
  std::set<std::uint64_t> bad{};
  std::set<std::uint64_t> bad_once{};  // are good when they are read again
  float value = NAN;
  std::uint64_t number = 0;

  void next(HostBatch& batch) {
    const bool is_bad = bad.contains(number) || bad_once.erase(number) > 0;
    batch = rows(number++, is_bad ? value : 0);
  }
  SamplerState state() const { return {.items = number}; }
  void restore(const SamplerState& saved) { number = saved.items; }
};

using ScaledByFour = Scaled<{.initial_scale = 4, .minimum_scale = 1}>;  // can be halved twice

/// What a loop warns of.
struct Warnings {
  std::vector<std::string> all;
  std::function<void(const std::string&)> listener() {
    return [this](const std::string& text) { all.push_back(text); };
  }
};

}  // namespace sinter::detail::testing
