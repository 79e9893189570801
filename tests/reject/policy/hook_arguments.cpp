// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: a policy does nothing
// and: acme::Halved
#include "sinter/model/mlp.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

namespace acme {
struct halving {
  static constexpr std::string_view name = "halving";
};
struct Halved {
  using slot = halving;
  struct Options {};
  static constexpr Options options{};
  static double rate_factor(const Options&) { return 0.5; }  // it takes the sequences, too
};
}  // namespace acme

struct mine : Recipe<Mlp<>, acme::Halved> {};
constexpr bool checked = ready<mine>();
