// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/kernels/optimizer.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter {

struct SgdOptions {
  double lr = 1e-2;         ///< learning rate before the schedule
  double momentum = 0;      ///< decay rate of the average of gradients
  double weight_decay = 0;  ///< times the parameter, added to the gradient; matrices only
  /// True if a step follows gradient + momentum × average instead of the average.
  bool nesterov = false;
  SINTER_FIELDS((lr).at_least(0).adjustable(), (momentum).at_least(0).below(1),
                (weight_decay).at_least(0).adjustable(), (nesterov))
};

namespace detail {
SINTER_RULE(NesterovHasMomentum,
            !R::optimizer::options.nesterov || R::optimizer::options.momentum > 0,
            "Sgd: nesterov needs momentum. Why: it is a correction of the momentum's step, and "
            "without momentum there is nothing to correct. Fix: make momentum positive (0.9 is "
            "usual), or leave nesterov out.");
}  // namespace detail

/// Stochastic gradient descent, with or without momentum, with the arithmetic of torch.optim.SGD.
/// Biases and norms do not decay. The state is one number per parameter, or none without momentum.
template <SgdOptions O = {}>
struct Sgd {
  using slot = slot::optimizer;
  using Options = SgdOptions;
  using rules = RuleList<detail::NesterovHasMomentum>;
  static constexpr Options options = O;
  static constexpr Offer offered{O.momentum == 0 ? "Sgd<> without momentum"
                                                 : "Sgd<{.momentum = …}>"};
  static constexpr auto regions = [] {
    if constexpr (O.momentum != 0) {
      return std::array{Region{"momentum_buffer"}};
    } else {
      return std::array<Region, 0>{};
    }
  }();
  static constexpr bool casts = true;

  static constexpr double learning_rate(const Options& o) { return o.lr; }
  static void update(const Options& o, const auto& s) {
    kernel::SgdStep step;
    step.lr = s.learning_rate;
    step.momentum = o.momentum;
    step.weight_decay = s.decayed ? o.weight_decay : 0;
    step.decision = s.decision;
    step.first = s.step == 1;
    step.nesterov = o.nesterov;
    kernel::sgd(s.stream, s.master, s.gradient, s.state[0].data, s.copy, s.size, step);
  }
};

}  // namespace sinter
