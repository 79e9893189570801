// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: a policy does nothing
// and: acme::Halved
// and: sinter/policy/hooks.hpp lists all hooks
#include "sinter/model/mlp.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

namespace acme {
struct halving {
  static constexpr std::string_view name = "halving";
};
struct HalvedOptions {
  double by = 2;
  SINTER_FIELDS((by).above(0).adjustable())
};
struct Halved {
  using slot = halving;
  using Options = HalvedOptions;
  static constexpr Options options{};
  static double rate_faktor(const Options& o, int) { return 1 / o.by; }
};
}  // namespace acme

struct mine : Recipe<Mlp<>, acme::Halved> {};
constexpr bool checked = ready<mine>();
