// SPDX-License-Identifier: Apache-2.0
// What the verb eval finds out of data.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>

#include "sinter/data/any_source.hpp"
#include "sinter/trainer/core.hpp"

namespace sinter::detail::cli {

struct Evaluated {
  Loss loss{};                          ///< over all data
  std::optional<std::int64_t> right{};  ///< rows whose class was predicted, of a classifier

  double accuracy() const { return double(*right) / double(loss.count); }
};

/// Evaluates all that is left of a source, and predicts it, where the model is a classifier of rows of
/// numbers. Where ranks are processes, each reads its part, and all get the same.
///   on_batch   called after each batch with the number of predictions so far
Evaluated evaluate(TrainerCore& trainer, AnySource& data,
                   const std::function<void(std::int64_t done)>& on_batch = {});

}  // namespace sinter::detail::cli
