// SPDX-License-Identifier: Apache-2.0
// Must not compile: the programs of this recipe's ranks do not fit together
// and: ranks differ in the root
// and: the_ranks_do_not_fit_together
// and: "tell"
#include "sinter/data/bytes.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/parallel/split_batch.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

namespace acme {

/// Sends a number, each rank as if it were the root.
constexpr void from_itself(const Model&, const Instruction&, const OnRank& on, TrafficList& out) {
  out.push_back(
      {Operation::broadcast, Traffic::both, Space::decision, 1, 1, Element::f64, 0, on.rank});
}
inline constexpr Kind tell{
    .name = "tell", .touch = touches::nothing, .run = executes::nothing, .traffic = from_itself};

struct Telling : SplitBatch<> {
  template <class R>
  static constexpr Program rewrite(const Model& model, const Program& program) {
    Program result = SplitBatch<>::rewrite<R>(model, program);
    result.push_back({&tell});
    return result;
  }
};

}  // namespace acme

struct mine
    : Recipe<Gpt2<{.layers = 2}>, Bytes<>, Batch<{.global = 8, .micro = 4}>, acme::Telling> {};
constexpr bool checked = ready<mine>();
