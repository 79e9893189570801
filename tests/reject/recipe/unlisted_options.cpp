// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: options or a run state do not list their fields
// and: acme::Clip
// and: acme::ClipOptions
// and: SINTER_FIELDS(
#include "sinter/model/mlp.hpp"
#include "sinter/plan/plan.hpp"
using namespace sinter;

namespace acme {
struct ClipOptions {
  double max = 1;
};
struct Clip {
  using slot = sinter::slot::clipping;
  using Options = ClipOptions;
  static constexpr Options options{};
  static constexpr double scale(const Options&, double) { return 1; }
};
}  // namespace acme

struct mine : Recipe<Mlp<>, acme::Clip> {};
constexpr bool checked = ready<mine>();
