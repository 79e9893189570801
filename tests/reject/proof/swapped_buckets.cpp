// SPDX-License-Identifier: Apache-2.0
// Must not compile: the programs of this recipe's ranks do not fit together
// and: ranks differ in the array
// and: reduce of
#include "sinter/data/bytes.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

namespace acme {

/// The last rank sends the buckets of the first two blocks, which are equally large, the other way round.
constexpr void swapped(const Model& model, const Instruction& i, const OnRank& on,
                       TrafficList& out) {
  Instruction other = i;
  if (on.rank == on.ranks - 1 && (i.what == 1 || i.what == 2)) other.what = short(3 - i.what);
  traffic::run<Operation::all_reduce, Traffic::starts, Space::gradient, Type::gradient>(
      model, other, on, out);
}
inline constexpr Kind reduce = [] {
  Kind kind = reduce_kind<float>;
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

}  // namespace acme

struct mine
    : Recipe<Gpt2<{.layers = 2}>, Bytes<>, Batch<{.global = 8, .micro = 4}>, acme::Swapping> {};
constexpr bool checked = ready<mine>();
