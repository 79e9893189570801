// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: this policy is not all that its slot asks for
#include "sinter/model/mlp.hpp"
#include "sinter/plan/plan.hpp"
using namespace sinter;

namespace acme {
struct Count {
  int steps = 0;
  SINTER_FIELDS((steps))
};
struct Patient {
  using slot = slot::recovery;
  struct Options {};
  using State = Count;
  static constexpr Options options{};
  static bool recover(const Options&, State&, const StepFigures&) { return true; }
};
}  // namespace acme

struct mine : Recipe<Mlp<>, acme::Patient> {};
constexpr bool checked = ready<mine>();
