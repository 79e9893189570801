// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/base/float16.hpp"
#include "sinter/policy/concepts.hpp"
#include "sinter/precision/cast.hpp"
#include "sinter/precision/loss_scale.hpp"

namespace sinter {

struct Fp16Options {
  /// True if master weights and gradients of parameters are fp32, beside the fp16 copy that layers
  /// read ("safe"). If false, only fp16 weights and gradients exist ("memory-efficient").
  bool masters = true;
  double initial_scale = 65536;         ///< initial scale of the loss
  std::int64_t growth_interval = 2000;  ///< applied steps after which the scale is doubled
  double minimum_scale = 1.0 / 32;      ///< training stops if the scale would fall below this
  SINTER_FIELDS((masters), (initial_scale).above(0).adjustable(),
                (growth_interval).at_least(1).adjustable(), (minimum_scale).above(0).adjustable())
};

/// Mixed precision with IEEE half precision (Micikevicius et al. 2018): activations and their
/// gradients are fp16; statistics, losses and the optimizer's arithmetic and state are fp32. The
/// loss is scaled so that small gradients do not underflow. A step with overflowing gradients is
/// skipped: it only halves the scale.
///
/// With masters, master weights and gradients are fp32, and weights are cast once per step.
/// Without, each parameter takes 4 bytes less than in fp32 (ParlAI's memory-efficient fp16).
/// Weights are then rounded after each update, so updates below a 2048th of a weight are lost.
///
/// On processors without fp16 units it is correct but not faster than fp32; `describe` measures.
template <Fp16Options O = {}>
struct Fp16 {
  using slot = slot::precision;
  using Options = Fp16Options;
  static constexpr Options options = O;
  static constexpr Offer offered{O.masters ? "Fp16<>" : "Fp16<{.masters = false}>"};
  static constexpr Contradiction contradiction(const Options& o) {
    if (o.initial_scale >= o.minimum_scale) return {};
    return {"initial_scale is below its minimum", "raise it, or lower minimum_scale"};
  }
  using compute = Float16;
  using statistic = float;
  using gradient = std::conditional_t<O.masters, float, Float16>;
  using master = gradient;
  using state = float;
  using accumulate = float;

  using State = LossScale;
  static constexpr State initial(const Options& o) { return {o.initial_scale, 0}; }
  static constexpr double loss_scale(const State& s) { return s.scale; }
  static bool after_step(const Options& o, State& s, bool finite) {
    detail::adapt(s, o, finite);
    return true;
  }

  static constexpr Program rewrite(const Model& model, const Program& program) {
    if constexpr (O.masters) {
      return detail::cast_after_update(model, program);
    } else {
      return program;
    }
  }
};

}  // namespace sinter
