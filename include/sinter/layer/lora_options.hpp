// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/base/fields.hpp"

namespace sinter {

/// What all adapters of a model have in common. Names and defaults are those of PEFT's LoraConfig.
struct LoraOptions {
  int rank = 8;         ///< rows of A: what an adapter makes of a row are so many numbers
  double alpha = 8;     ///< the adapter's result is multiplied by alpha / rank
  double dropout = 0;   ///< probability of dropping an element of what A reads, in training
  bool rslora = false;  ///< true if the factor is alpha / √rank (Kalajdzievski 2023)
  SINTER_FIELDS((rank).at_least(1), (alpha).above(0), (dropout).at_least(0).below(1), (rslora))
};

}  // namespace sinter
