// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: a list of fields has a name that is no field
// and: acme::Clip
// and: acme::ClipOptions
// and: {"maxx"}
#include "sinter/model/mlp.hpp"
#include "sinter/plan/plan.hpp"
using namespace sinter;

namespace acme {
struct ClipOptions {
  double max = 1;
  SINTER_FIELDS((maxx).above(0).adjustable())
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
