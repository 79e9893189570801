// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/comm/communicator.hpp"
#include "sinter/parallel/transfers.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter {

struct SplitBatchOptions {
  int ranks = 2;  ///< number of ranks: threads of one process, or processes, as with Ddp
  SINTER_FIELDS((ranks).at_least(1).adjustable())
};

namespace traffic {
/// States that gradients are summed at the root.
template <Traffic::Does Does>
constexpr void collect(const Model& model, const Instruction& i, const OnRank&, TrafficList& out) {
  Traffic like{Operation::reduce, Does, Space::gradient};
  like.element = model.sizes.element[int(Type::gradient)];
  like.peer = detail::root_rank;
  parts(model, i.what, i.count, like, out);
}
/// States that the root broadcasts the weights that layers read.
template <Traffic::Does Does>
constexpr void distribute(const Model& model, const Instruction& i, const OnRank&,
                          TrafficList& out) {
  Traffic like{Operation::broadcast, Does, model.weights()};
  like.element = element_of_weights(model);
  like.peer = detail::root_rank;
  parts(model, i.what, i.count, like, out);
}
}  // namespace traffic

namespace detail {
namespace executes {

template <class Gradient>
void collect(Machine& machine, const Bound& bound) {
  each_array<Gradient>(machine, Space::gradient, *bound.instruction,
                       [&](Gradient* array, std::int64_t size) {
                         machine.communicator().start_reduce(array, size, root_rank);
                       });
}
template <class Weight>
void distribute(Machine& machine, const Bound& bound) {
  each_array<Weight>(machine, machine.model().weights(), *bound.instruction,
                     [&](Weight* array, std::int64_t size) {
                       machine.communicator().start_broadcast(array, size, root_rank);
                     });
}
template <class Weight>
void await_distribute(Machine& machine, const Bound& bound) {
  each_array<Weight>(machine, machine.model().weights(), *bound.instruction,
                     [&](Weight* array, std::int64_t) { machine.communicator().wait(array); });
}

}  // namespace executes

/// The kind of the instruction that starts to sum the gradients of a run of units at the root.
template <class Gradient>
inline constexpr Kind collect_kind{.name = "reduce to root",
                                   .touch = touches::gradients<Use::exchange>,
                                   .run = executes::collect<Gradient>,
                                   .role = Role::scatter,
                                   .traffic = traffic::collect<Traffic::starts>};
/// The kind of the instruction that waits for the sum of gradients.
template <class Gradient>
inline constexpr Kind await_collect_kind{.name = "await reduce",
                                         .touch = touches::gradients<Use::finish>,
                                         .run = executes::await_gradients<Gradient>,
                                         .traffic = traffic::collect<Traffic::waits>};
/// The kind of the instruction that starts to broadcast the new weights of a run of units from the
/// root. It also runs if the step is not applied, and then changes nothing; so no transfer is in a
/// conditional part of a launch graph.
template <class Weight>
inline constexpr Kind distribute_kind{.name = "broadcast",
                                      .touch = touches::weights<Use::exchange>,
                                      .run = executes::distribute<Weight>,
                                      .role = Role::gather,
                                      .traffic = traffic::distribute<Traffic::starts>};
/// The kind of the instruction that waits for the new weights.
template <class Weight>
inline constexpr Kind await_distribute_kind{.name = "await broadcast",
                                            .touch = touches::weights<Use::finish>,
                                            .run = executes::await_distribute<Weight>,
                                            .traffic = traffic::distribute<Traffic::waits>};
}  // namespace detail

/// Data parallel training in which one rank updates for all, like torch.nn.DataParallel. Each rank
/// computes its part of the global batch, and gradients are summed at the first rank. Only this
/// rank updates and broadcasts the new weights. All ranks run one program; the others skip the
/// update. No transfer overlaps with computation. Bit-identical to Ddp and never faster: a baseline
/// for benchmarks.
template <SplitBatchOptions O = {}>
struct SplitBatch {
  using slot = slot::parallel;
  using Options = SplitBatchOptions;
  static constexpr Options options = O;
  static constexpr bool reduces = true;
  static constexpr bool at_root = true;  ///< see Model::at_root
  static constexpr int ranks(const Options& o) { return o.ranks; }

  template <class R>
  static constexpr Program rewrite(const Model& model, const Program& program) {
    using Precision = typename R::precision;
    using Gradient = typename Precision::gradient;
    using Weight = typename Precision::compute;  // also the masters' type if there is no copy
    const short all = short(model.order.size());
    Program rewritten = detail::room_for(program);
    for (Instruction i : program) {
      const Role role = i.kind->role;
      if (role == Role::norm) {
        rewritten.push_back({&detail::collect_kind<Gradient>, 0, all});
        rewritten.push_back({&detail::await_collect_kind<Gradient>, 0, all});
      }
      rewritten.push_back(i);
      if (role != Role::update) continue;
      rewritten.push_back({&detail::distribute_kind<Weight>, i.what, i.count});
      rewritten.push_back({&detail::await_distribute_kind<Weight>, i.what, i.count});
    }
    return rewritten;
  }
};

}  // namespace sinter
