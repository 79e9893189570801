// SPDX-License-Identifier: Apache-2.0
#include "sinter/model/mlp.hpp"
#include "sinter/recipe/plan.hpp"
#include "sinter/recovery/reaction.hpp"
#include "sinter/recovery/roll_back.hpp"
#include "support/policies.hpp"
using namespace sinter;

// Must not compile (quick), answer: Sinter: this policy is not all that its slot asks for
namespace acme {
struct Patient : Counting {
  static bool recover(const Options&, State&, const StepFigures&) { return true; }
};
}  // namespace acme
struct mine : Recipe<Mlp<>, acme::Patient> {};

// Must not compile, arguments: Sinter: this policy is not all that its slot asks for
namespace acme {
struct Patient : Counting {
  static double rate_factor(const Options&, const State&, int) { return 0.5; }
  /// It takes the figures of the step, no bool.
  static Reaction recover(const Options&, State&, bool) { return Reaction::skip; }
};
}  // namespace acme
struct mine : Recipe<Mlp<>, acme::Patient> {};

// Must not compile, same_again: Sinter: options of a policy contradict each other
// and: RollBack< and: {"the same steps would fail again"} and: {"lower factor, or skip_batches"}
struct mine : Recipe<Mlp<>, RollBack<{.factor = 1, .skip_batches = false}>> {};
