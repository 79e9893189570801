// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/bytes.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/parallel/split_batch.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

template <class Parallel>
using OfTwoLayers =
    Recipe<Gpt2<{.layers = 2}>, Bytes<>, Batch<{.global = 8, .micro = 4}>, Parallel>;
/// A parallel policy whose program ends with one more instruction.
template <class Parallel, const Kind& Last>
struct Ending : Parallel {
  template <class R>
  static constexpr Program rewrite(const Model& model, const Program& program) {
    Program result = Parallel::template rewrite<R>(model, program);
    result.push_back({&Last});
    return result;
  }
};

// Must not compile, all_receive_first: the programs of this recipe's ranks do not fit together
// and: ranks wait for each other and: the_ranks_do_not_fit_together and: "pass"
/// Waits for what the rank before sends, and only then sends to the next one. So do all.
constexpr void in_a_ring(const Model&, const Instruction&, const OnRank& on, TrafficList& out) {
  Traffic number{Operation::receive, Traffic::both, Space::decision, 1, 1, Element::f64};
  number.peer = (on.rank + on.ranks - 1) % on.ranks;
  out.push_back(number);
  number.operation = Operation::send;
  number.peer = (on.rank + 1) % on.ranks;
  out.push_back(number);
}
inline constexpr Kind pass{.name = "pass", .touch = touches::nothing, .traffic = in_a_ring};
struct mine : OfTwoLayers<Ending<Ddp<>, pass>> {};

// Must not compile, depends_on_rank: the programs of this recipe's ranks do not fit together
// and: ranks differ in the instruction and: the_ranks_do_not_fit_together and: norm of and: "tell"
/// Sums a number that the first rank alone has.
constexpr void first_rank_alone(const Model&, const Instruction&, const OnRank& on,
                                TrafficList& out) {
  if (on.rank == 0)
    out.push_back({Operation::all_reduce, Traffic::both, Space::decision, 1, 1, Element::f64});
}
inline constexpr Kind tell{.name = "tell", .touch = touches::nothing, .traffic = first_rank_alone};

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
struct mine : OfTwoLayers<Telling> {};

// Must not compile, early_wait: the programs of this recipe's ranks do not fit together
// and: waits for what it has not started and: await sum and: start sum
template <Traffic::Does Does>
constexpr void sum(const Model&, const Instruction&, const OnRank&, TrafficList& out) {
  out.push_back({Operation::all_reduce, Does, Space::decision, 1, 1, Element::f64});
}
template <Traffic::Does Does>
constexpr Kind sum_kind(const char* name) {
  return {.name = name, .touch = touches::nothing, .traffic = sum<Does>};
}
inline constexpr Kind start = sum_kind<Traffic::starts>("start sum"),
                      await = sum_kind<Traffic::waits>("await sum");

struct Impatient : Ddp<> {
  template <class R>
  static constexpr Program rewrite(const Model& model, const Program& program) {
    Program result = Ddp<>::rewrite<R>(model, program);
    result.insert(result.begin(), {&await});
    result.push_back({&start});
    return result;
  }
};
struct mine : OfTwoLayers<Impatient> {};

// Must not compile (quick), own_root: the programs of this recipe's ranks do not fit together
// and: ranks differ in the root and: the_ranks_do_not_fit_together and: "tell"
/// Sends a number, each rank as if it were the root.
constexpr void from_itself(const Model&, const Instruction&, const OnRank& on, TrafficList& out) {
  out.push_back(
      {Operation::broadcast, Traffic::both, Space::decision, 1, 1, Element::f64, 0, on.rank});
}
inline constexpr Kind tell{.name = "tell", .touch = touches::nothing, .traffic = from_itself};
struct mine : OfTwoLayers<Ending<SplitBatch<>, tell>> {};

// Must not compile, swapped_buckets: the programs of this recipe's ranks do not fit together
// and: ranks differ in the array and: reduce of
/// The last rank sends the buckets of the first two blocks, which are equally large, the other way round.
constexpr void swapped(const Model& model, const Instruction& i, const OnRank& on,
                       TrafficList& out) {
  Instruction other = i;
  if (on.rank == on.ranks - 1 && (i.what == 1 || i.what == 2)) other.what = short(3 - i.what);
  traffic::run<Operation::all_reduce, Traffic::starts, Space::gradient, Type::gradient>(
      model, other, on, out);
}
inline constexpr Kind reduce = [] {
  Kind kind = detail::reduce_kind<float>;
  kind.traffic = swapped;
  return kind;
}();

struct Swapping : Ddp<{.bucket_bytes = 1}> {
  template <class R>
  static constexpr Program rewrite(const Model& model, const Program& program) {
    Program result = Ddp<{.bucket_bytes = 1}>::rewrite<R>(model, program);
    for (Instruction& i : result)
      if (i.kind->role == Role::reduce) i.kind = &reduce;
    return result;
  }
};
struct mine : OfTwoLayers<Swapping> {};
