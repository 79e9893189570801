// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: the slot of a policy has no name
// and: acme::Halved<acme::halving>
#include "support/policies.hpp"
using namespace sinter;

namespace acme {
struct halving {};
}  // namespace acme

struct mine : Recipe<Mlp<>, acme::Halved<acme::halving>> {};
constexpr bool checked = ready<mine>();
