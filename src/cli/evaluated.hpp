// SPDX-License-Identifier: Apache-2.0
// The results of the verb eval.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>

#include "sinter/data/any_source.hpp"
#include "sinter/trainer/core.hpp"

namespace sinter::detail::cli {

struct Evaluated {
  Loss loss{};                          ///< over all data
  std::optional<std::int64_t> right{};  ///< for a classifier: rows whose class was predicted

  double accuracy() const { return double(*right) / double(loss.count); }
};

/// Evaluates the rest of a source. If the model is a classifier of rows of numbers, also predicts
/// it. If ranks are processes, each reads its part, and all get the same result.
///   on_batch   called after each batch with the number of predictions so far
Evaluated evaluate(TrainerCore& trainer, AnySource& data,
                   const std::function<void(std::int64_t done)>& on_batch = {});

}  // namespace sinter::detail::cli
