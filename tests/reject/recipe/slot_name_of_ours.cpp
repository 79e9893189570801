// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: two slots have one name
// and: acme::Halved
// and: AdamW
#include "sinter/model/mlp.hpp"
#include "sinter/plan/plan.hpp"
using namespace sinter;

namespace acme {
struct halving {
  static constexpr std::string_view name = "optimizer";
};
struct Halved {
  using slot = halving;
  struct Options {};
  static constexpr Options options{};
  static double rate_factor(const Options&, int) { return 0.5; }
};
}  // namespace acme

struct mine : Recipe<Mlp<>, acme::Halved> {};
constexpr bool checked = ready<mine>();
