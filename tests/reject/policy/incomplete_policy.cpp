// SPDX-License-Identifier: Apache-2.0
// Must not compile: this policy is not all that its slot asks for
// and: acme::Momentum
#include "sinter/model/mlp.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

namespace acme {
struct Momentum {
  using slot = sinter::slot::optimizer;
};
}  // namespace acme

struct mine : Recipe<Mlp<>, acme::Momentum> {};
constexpr bool checked = ready<mine>();
