// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/kernels/sgd.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter {

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
  static void update(const Options& o, const auto& s) { kernel::sgd(o, s); }
};

}  // namespace sinter
