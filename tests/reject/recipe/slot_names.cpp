// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: two slots have one name
// and: acme::Halved
// and: acme::Doubled
#include "sinter/model/mlp.hpp"
#include "sinter/plan/plan.hpp"
using namespace sinter;

namespace acme {
struct halving {
  static constexpr std::string_view name = "rate";
};
struct doubling {
  static constexpr std::string_view name = "rate";
};
struct Halved {
  using slot = halving;
  struct Options {};
  static constexpr Options options{};
  static double rate_factor(const Options&, int) { return 0.5; }
};
struct Doubled {
  using slot = doubling;
  struct Options {};
  static constexpr Options options{};
  static double rate_factor(const Options&, int) { return 2; }
};
}  // namespace acme

struct mine : Recipe<Mlp<>, acme::Halved, acme::Doubled> {};
constexpr bool checked = ready<mine>();
