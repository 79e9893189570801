// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: this policy is not all that its slot asks for
#include "support/policies.hpp"
using namespace sinter;

namespace acme {
struct Patient : Counting {
  static bool recover(const Options&, State&, const StepFigures&) { return true; }
};
}  // namespace acme

struct mine : Recipe<Mlp<>, acme::Patient> {};
constexpr bool checked = ready<mine>();
