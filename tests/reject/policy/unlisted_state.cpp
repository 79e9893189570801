// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: options or a run state do not list their fields
// and: acme::Counter
// and: acme::Count
#include "sinter/model/mlp.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

namespace acme {
struct counting {
  static constexpr std::string_view name = "counting";
};
struct Count {
  int steps = 0;
};
struct Counter {
  using slot = counting;
  struct Options {};
  using State = Count;
  static constexpr Options options{};
  static bool after_step(const Options&, State& s, bool) { return ++s.steps < 0; }
};
}  // namespace acme

struct mine : Recipe<Mlp<>, acme::Counter> {};
constexpr bool checked = ready<mine>();
