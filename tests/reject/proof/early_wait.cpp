// SPDX-License-Identifier: Apache-2.0
// Must not compile: the programs of this recipe's ranks do not fit together
// and: waits for what it has not started
// and: await sum
// and: start sum
#include "sinter/data/bytes.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

namespace acme {

template <Traffic::Does Does>
constexpr void sum(const Model&, const Instruction&, const OnRank&, TrafficList& out) {
  out.push_back({Operation::all_reduce, Does, Space::decision, 1, 1, Element::f64});
}
template <Traffic::Does Does>
constexpr Kind sum_kind(const char* name) {
  return {.name = name, .touch = touches::nothing, .run = executes::nothing, .traffic = sum<Does>};
}
inline constexpr Kind start = sum_kind<Traffic::starts>("start sum"),
                      wait = sum_kind<Traffic::waits>("await sum");

struct Impatient : Ddp<> {
  template <class R>
  static constexpr Program rewrite(const Model& model, const Program& program) {
    Program result = Ddp<>::rewrite<R>(model, program);
    result.insert(result.begin(), {&wait});
    result.push_back({&start});
    return result;
  }
};

}  // namespace acme

struct mine
    : Recipe<Gpt2<{.layers = 2}>, Bytes<>, Batch<{.global = 8, .micro = 4}>, acme::Impatient> {};
constexpr bool checked = ready<mine>();
