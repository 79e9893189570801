// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/base/bfloat16.hpp"
#include "sinter/policy/concepts.hpp"
#include "sinter/precision/cast.hpp"

namespace sinter {

/// Mixed precision with bfloat16 (Micikevicius et al. 2018, Kalamkar et al. 2019): weights,
/// activations and their gradients are bfloat16; master weights, gradients of parameters,
/// statistics, losses and the optimizer are fp32. The loss is not scaled, as bfloat16 has the range
/// of fp32. Layers read a copy of the weights that is made once per step.
struct Bf16 {
  using slot = slot::precision;
  static constexpr Offer offered{"Bf16", 5};
  using compute = BFloat16;
  using statistic = float;
  using gradient = float;
  using master = float;
  using accumulate = float;

  static constexpr Program rewrite(const Model& model, const Program& program) {
    return detail::cast_after_update(model, program);
  }
};

}  // namespace sinter
