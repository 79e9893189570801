// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: a list of fields has a name that is no field
// and: acme::Clip
// and: acme::ClipOptions
// and: {"maxx"}
#include "support/policies.hpp"
using namespace sinter;

namespace acme {
struct ClipOptions {
  double max = 1;
  SINTER_FIELDS((maxx).above(0).adjustable())
};
}  // namespace acme

struct mine : Recipe<Mlp<>, acme::Clip<acme::ClipOptions>> {};
constexpr bool checked = ready<mine>();
