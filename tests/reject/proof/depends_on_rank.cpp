// SPDX-License-Identifier: Apache-2.0
// Must not compile: the programs of this recipe's ranks do not fit together
// and: ranks differ in the instruction
// and: the_ranks_do_not_fit_together
// and: norm of
// and: "tell"
#include "sinter/data/bytes.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

namespace acme {

/// Sums a number that the first rank alone has.
constexpr void first_rank_alone(const Model&, const Instruction&, const OnRank& on,
                                TrafficList& out) {
  if (on.rank == 0)
    out.push_back({Operation::all_reduce, Traffic::both, Space::decision, 1, 1, Element::f64});
}
inline constexpr Kind tell{.name = "tell",
                           .touch = touches::nothing,
                           .run = executes::nothing,
                           .traffic = first_rank_alone};

struct Telling : Ddp<> {
  template <class R>
  static constexpr Program rewrite(const Model& model, const Program& program) {
    Program result = Ddp<>::rewrite<R>(model, program);
    for (auto i = result.begin(); i != result.end(); ++i)
      if (i->kind->role == Role::norm) {
        result.insert(i, {&tell});
        break;
      }
    return result;
  }
};

}  // namespace acme

struct mine
    : Recipe<Gpt2<{.layers = 2}>, Bytes<>, Batch<{.global = 8, .micro = 4}>, acme::Telling> {};
constexpr bool checked = ready<mine>();
