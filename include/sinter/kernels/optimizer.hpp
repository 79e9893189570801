// SPDX-License-Identifier: Apache-2.0
// What the kernels of optimizers update: spans of flat parameters, in one pass and in place. The
// options of an optimizer stand beside its kernel, which takes them as they are.
//
// An elementwise kernel NAME(options, span) exists for these types (M, G, S, C) of a span:
//   all float, or all double
//   all float, but C = BFloat16 or Float16
//   all float, but G = C = Float16
//   all Float16, but S = float
// Its arithmetic is that of Wide<M>. Constants are computed in double and rounded once. The order
// of the arithmetic is PyTorch's, so that trajectories can be compared.
//
// Every gradient is first multiplied by decision->scale (clipping by norm, the inverse of a loss
// scale), then clamped to ±decision->limit (torch.nn.utils.clip_grad_value_). A NaN gradient makes
// its parameter NaN. Without a decision, gradients are used unchanged. A span that is not decayed
// has a weight_decay of 0.
#pragma once
#include <array>
#include <cstdint>

#include "sinter/base/bfloat16.hpp"
#include "sinter/base/fields.hpp"
#include "sinter/base/float16.hpp"
#include "sinter/hardware/stream.hpp"
#include "sinter/kernels/decision.hpp"
#include "sinter/kernels/tensor.hpp"

namespace sinter {

namespace detail {
inline constexpr int max_regions = 4;  ///< maximum number of regions of one policy
}  // namespace detail

/// A range of flat parameters that an optimizer treats alike. The element types are those of master
/// weights (M), gradients (G), the optimizer's state (S) and the copy of the weights (C).
template <class M, class G, class S, class C>
struct ParameterSpan {
  kernel::Stream& stream;  ///< the stream on which kernels run
  M* master;               ///< the weights to update
  const G* gradient;       ///< to multiply by decision->scale, then clamp to ± decision->limit
  /// The optimizer's regions, in its order; empty for regions with a shape of their own.
  std::array<kernel::Flat<S>, detail::max_regions> state;
  C* copy;  ///< receives the new weights; null if there is no copy or Optimizer::casts is not true
  std::int64_t size;     ///< number of parameters
  bool decayed;          ///< true if weight decay applies
  double learning_rate;  ///< learning rate of this step: the optimizer's own, times rate_factor
  double rate_factor;    ///< product of the factors of schedule, policies and parameter group
  std::int64_t step;     ///< number of applied updates, this one included
  const kernel::Decision* decision;  ///< in the device's memory: the bounds of gradients
};

}  // namespace sinter

namespace sinter::kernel {

/// One parameter in double, whose gradient is scaled and clamped: what formulas of optimizers
/// update. Tests compare the kernel of an optimizer with its update_one(options, parameter).
struct OneParameter {
  double value, gradient;                              ///< the weight, and its gradient
  double learning_rate, weight_decay;                  ///< of this step; 0 if there is no decay
  std::int64_t step;                                   ///< number of updates, this one included
  std::array<double, detail::max_regions> state = {};  ///< zeros before the first step
};

}  // namespace sinter::kernel
