// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: a policy has a range of an option that is no number
// and: acme::Clip
// and: {"by_layer"}
#include "support/policies.hpp"
using namespace sinter;

namespace acme {
struct ClipOptions {
  double max = 1;
  bool by_layer = false;
  SINTER_FIELDS((max).above(0), (by_layer).at_least(0))
};
}  // namespace acme

struct mine : Recipe<Mlp<>, acme::Clip<acme::ClipOptions>> {};
constexpr bool checked = ready<mine>();
