// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: this policy is not all that its slot asks for
#include "sinter/recovery/reaction.hpp"
#include "support/policies.hpp"
using namespace sinter;

namespace acme {
struct Patient : Counting {
  static double rate_factor(const Options&, const State&, int) { return 0.5; }
  static Reaction recover(const Options&, State&, bool) {
    return Reaction::skip;
  }  // of the figures
};
}  // namespace acme

struct mine : Recipe<Mlp<>, acme::Patient> {};
constexpr bool checked = ready<mine>();
