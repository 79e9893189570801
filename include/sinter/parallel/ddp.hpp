// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>

#include "sinter/comm/communicator.hpp"
#include "sinter/program/kinds.hpp"
#include "sinter/recipe/concepts.hpp"
#include "sinter/run/machine.hpp"

namespace sinter {

struct DdpOptions {
  std::int64_t bucket_bytes = 25 << 20;  ///< gradients are reduced in buckets of at least this size
  /// The first bucket need only have this size, so that ranks begin to reduce early in backward.
  std::int64_t first_bucket_bytes = 1 << 20;
  /// Each has its own copy of everything. On the CPU they are threads of one process, or, where
  /// TrainerSettings::world says so, processes of one host, with the same bits; on cards each is a
  /// process with a card of its own.
  int ranks = 2;
  SINTER_FIELDS((bucket_bytes).at_least(1), (first_bucket_bytes).at_least(1),
                (ranks).at_least(1).adjustable())
};

namespace touches {
/// Sums gradients over the ranks, in place, beside what follows.
constexpr void reduce(const Model& model, const Instruction& i, TouchList& out) {
  each(model, i, Use::exchange, Space::gradient, out);
}
/// Waits for that.
constexpr void await_reduce(const Model& model, const Instruction& i, TouchList& out) {
  each(model, i, Use::finish, Space::gradient, out);
}
}  // namespace touches

namespace executes {
template <class Gradient>
void reduce(Machine& machine, const Bound& bound) {
  const Instruction& i = *bound.instruction;
  for (bool decayed : {true, false})
    if (FlatSlice slice = machine.flat_slice(i.what, i.count, decayed); slice.size > 0)
      machine.communicator().start_sum(machine.flat<Gradient>(Space::gradient) + slice.first,
                                       slice.size);
}
template <class Gradient>
void await_reduce(Machine& machine, const Bound& bound) {
  const Instruction& i = *bound.instruction;
  for (bool decayed : {true, false})
    if (FlatSlice slice = machine.flat_slice(i.what, i.count, decayed); slice.size > 0)
      machine.communicator().wait(machine.flat<Gradient>(Space::gradient) + slice.first);
}
}  // namespace executes

/// The kind of the instruction that starts to sum the gradients of a run of units over the ranks.
template <class Gradient>
inline constexpr Kind reduce_kind{
    .name = "reduce",
    .touch = touches::reduce,
    .run = executes::reduce<Gradient>,
    .role = Role::reduce,
    .traffic =
        traffic::run<Operation::all_reduce, Traffic::starts, Space::gradient, Type::gradient>};
/// The kind of the one that waits for the sum.
template <class Gradient>
inline constexpr Kind await_reduce_kind{
    .name = "await reduce",
    .touch = touches::await_reduce,
    .run = executes::await_reduce<Gradient>,
    .traffic =
        traffic::run<Operation::all_reduce, Traffic::waits, Space::gradient, Type::gradient>};

/// Data parallel training (Li et al. 2020): every rank has the whole model and a part of the global
/// batch. In the last micro-batch each bucket of gradients is reduced as soon as it is final,
/// beside the rest of backward. Before the norm, the ranks wait for all buckets.
template <DdpOptions O = {}>
struct Ddp {
  using slot = slot::parallel;
  using Options = DdpOptions;
  static constexpr Options options = O;
  static constexpr bool reduces = true;
  static constexpr int ranks(const Options& o) { return o.ranks; }

  template <class R>
  static constexpr Program rewrite(const Model& model, const Program& program) {
    using Gradient = typename R::precision::gradient;
    Program rewritten = room_for(program);
    std::vector<Instruction> buckets = cut(model, &reduce_kind<Gradient>);
    std::vector<int> ready = positions(model, program);
    std::size_t next = 0;
    for (int t = 0; t < int(program.size()); ++t) {
      if (program[t].kind->role == Role::norm)
        for (Instruction bucket : buckets)
          rewritten.push_back({&await_reduce_kind<Gradient>, bucket.what, bucket.count});
      rewritten.push_back(program[t]);
      for (; next < buckets.size(); ++next) {
        if (ready[model.order[buckets[next].what + buckets[next].count - 1]] > t) break;
        rewritten.push_back(buckets[next]);
      }
    }
    return rewritten;
  }

 private:
  /// Cuts the units into buckets, in the order in which their gradients become final. The first and the
  /// last bucket may be smaller than the others.
  static constexpr std::vector<Instruction> cut(const Model& model, const Kind* kind) {
    std::vector<Instruction> buckets;
    std::int64_t bytes = 0;
    int first = 0;
    for (int k = 0; k < int(model.order.size()); ++k) {
      const Block& block = model.block(model.order[k]);
      bytes += (block.decayed + block.undecayed) * model.sizes.of(Type::gradient);
      const std::int64_t least =
          buckets.empty() ? std::min(O.first_bucket_bytes, O.bucket_bytes) : O.bucket_bytes;
      if (bytes < least && k + 1 < int(model.order.size())) continue;
      buckets.push_back({kind, short(first), short(k + 1 - first), When::last});
      first = k + 1;
      bytes = 0;
    }
    return buckets;
  }
  /// For each unit, the position in the program at which its gradient gets its last contribution.
  static constexpr std::vector<int> positions(const Model& model, const Program& program) {
    std::vector<int> last(model.count(), -1);
    TouchList list;
    for (int t = 0; t < int(program.size()); ++t) {
      list.clear();
      program[t].kind->touch(model, program[t], list);
      for (const Touch& touch : list)
        if (touch.use == Use::accumulate && touch.space == Space::gradient) last[touch.index] = t;
    }
    return last;
  }
};

}  // namespace sinter
