// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: options or a run state do not list their fields
// and: acme::Clip
// and: acme::ClipOptions
// and: SINTER_FIELDS(
#include "support/policies.hpp"
using namespace sinter;

namespace acme {
struct ClipOptions {
  double max = 1;
};
}  // namespace acme

struct mine : Recipe<Mlp<>, acme::Clip<acme::ClipOptions>> {};
constexpr bool checked = ready<mine>();
