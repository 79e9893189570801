// SPDX-License-Identifier: Apache-2.0
// Policies of a user, to be put together wrongly.
#pragma once
#include "sinter/model/mlp.hpp"
#include "sinter/recipe/plan.hpp"

namespace acme {

/// Clips nothing, with any options.
template <class O>
struct Clip {
  using slot = sinter::slot::clipping;
  using Options = O;
  static constexpr Options options{};
  static constexpr double bound(const Options&) { return 1e300; }
};

/// Multiplies the learning rate, in any slot.
template <class Slot>
struct Halved {
  using slot = Slot;
  struct Options {};
  static constexpr Options options{};
  static double rate_factor(const Options&, int) { return 0.5; }
};

/// Of a recovery policy that counts, what is not its recover().
struct Counting {
  using slot = sinter::slot::recovery;
  struct Options {};
  struct State {
    int steps = 0;
    SINTER_FIELDS((steps))
  };
  static constexpr Options options{};
};

}  // namespace acme
