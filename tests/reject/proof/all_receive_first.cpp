// SPDX-License-Identifier: Apache-2.0
// Must not compile: the programs of this recipe's ranks do not fit together
// and: ranks wait for each other
// and: the_ranks_do_not_fit_together
// and: "pass"
#include "sinter/data/bytes.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

namespace acme {

/// Waits for what the rank before sends, and only then sends to the next one. So do all.
constexpr void in_a_ring(const Model&, const Instruction&, const OnRank& on, TrafficList& out) {
  Traffic number{Operation::receive, Traffic::both, Space::decision, 1, 1, Element::f64};
  number.peer = (on.rank + on.ranks - 1) % on.ranks;
  out.push_back(number);
  number.operation = Operation::send;
  number.peer = (on.rank + 1) % on.ranks;
  out.push_back(number);
}
inline constexpr Kind pass{
    .name = "pass", .touch = touches::nothing, .run = executes::nothing, .traffic = in_a_ring};

struct Passing : Ddp<> {
  template <class R>
  static constexpr Program rewrite(const Model& model, const Program& program) {
    Program result = Ddp<>::rewrite<R>(model, program);
    result.push_back({&pass});
    return result;
  }
};

}  // namespace acme

struct mine
    : Recipe<Gpt2<{.layers = 2}>, Bytes<>, Batch<{.global = 8, .micro = 4}>, acme::Passing> {};
constexpr bool checked = ready<mine>();
