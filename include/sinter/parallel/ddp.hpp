// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>

#include "sinter/parallel/compression.hpp"
#include "sinter/parallel/transfers.hpp"
#include "sinter/policy/concepts.hpp"
#include "sinter/program/kinds.hpp"

namespace sinter {

struct DdpOptions {
  std::int64_t bucket_bytes = 25 << 20;  ///< gradients are reduced in buckets of at least this size
  /// Minimum size of the first bucket; small, so that ranks begin to reduce early in backward.
  std::int64_t first_bucket_bytes = 1 << 20;
  /// The type of gradients in transfers. With bf16, each rank's gradients are rounded and added in
  /// fp32 in rank order (on cards as NCCL adds), and the sum is rounded again: half the bytes,
  /// other bits.
  GradientCompression compression = GradientCompression::none;
  /// Number of ranks, each with its own copy of everything. On the CPU ranks are threads of one
  /// process. If TrainerSettings::world says so, they are processes of one or several hosts, with
  /// the same bits. On cards each is a process with its own card.
  int ranks = 2;
  SINTER_FIELDS((bucket_bytes).at_least(1), (first_bucket_bytes).at_least(1), (compression),
                (ranks).at_least(1).adjustable())
};

namespace touches {
/// States that gradients are compressed in place, and their sum over the ranks starts.
constexpr void reduce_compressed(const Model& model, const Instruction& i, TouchList& out) {
  each(model, i, Use::modify, Space::gradient, out);
  each(model, i, Use::exchange, Space::gradient, out);
}
/// States that the sum of compressed gradients ends, and they are expanded in place.
constexpr void await_compressed(const Model& model, const Instruction& i, TouchList& out) {
  each(model, i, Use::finish, Space::gradient, out);
  each(model, i, Use::modify, Space::gradient, out);
}
}  // namespace touches

namespace traffic {
/// States that gradients are summed as bf16, which lie at the beginning of their arrays of fp32.
template <Traffic::Does Does>
constexpr void reduce_compressed(const Model& model, const Instruction& i, const OnRank&,
                                 TrafficList& out) {
  const std::size_t before = out.size();
  parts(model, i.what, i.count, {Operation::all_reduce, Does, Space::gradient, 0, 0, Element::bf16},
        out);
  for (std::size_t k = before; k < out.size(); ++k)
    out[k].first *= detail::bytes_of(Element::f32) / detail::bytes_of(Element::bf16);
}
}  // namespace traffic

namespace detail {
namespace executes {
template <class Gradient>
void reduce(Machine& machine, const Bound& bound) {
  each_array<Gradient>(
      machine, Space::gradient, *bound.instruction,
      [&](Gradient* array, std::int64_t size) { machine.communicator().start_sum(array, size); });
}
inline void reduce_compressed(Machine& machine, const Bound& bound) {
  each_array<float>(machine, Space::gradient, *bound.instruction,
                    [&](float* gradients, std::int64_t size) {
                      compress(machine.stream(), gradients, size, machine.workspace());
                      auto* const compressed = reinterpret_cast<BFloat16*>(gradients);
                      machine.communicator().start_sum(compressed, size);
                    });
}
inline void await_compressed(Machine& machine, const Bound& bound) {
  each_array<float>(machine, Space::gradient, *bound.instruction,
                    [&](float* gradients, std::int64_t size) {
                      machine.communicator().wait(gradients);
                      expand(machine.stream(), gradients, size, machine.workspace());
                    });
}
constexpr std::int64_t workspace_to_compress(const Model&, const Instruction&) {
  return compression_workspace;
}
}  // namespace executes

/// The kind of the instruction that starts to sum the gradients of a run of units over the ranks.
template <class Gradient>
inline constexpr Kind reduce_kind{
    .name = "reduce",
    .touch = touches::gradients<Use::exchange>,
    .run = executes::reduce<Gradient>,
    .role = Role::reduce,
    .traffic =
        traffic::run<Operation::all_reduce, Traffic::starts, Space::gradient, Type::gradient>};
/// The kind of the instruction that waits for the sum of gradients.
template <class Gradient>
inline constexpr Kind await_reduce_kind{
    .name = "await reduce",
    .touch = touches::gradients<Use::finish>,
    .run = executes::await_gradients<Gradient>,
    .traffic =
        traffic::run<Operation::all_reduce, Traffic::waits, Space::gradient, Type::gradient>};

/// An instruction of this kind starts the sum of fp32 gradients over the ranks, which travel as
/// bf16.
inline constexpr Kind reduce_compressed_kind{
    .name = "reduce",
    .touch = touches::reduce_compressed,
    .run = executes::reduce_compressed,
    .role = Role::reduce,
    .workspace = executes::workspace_to_compress,
    .traffic = traffic::reduce_compressed<Traffic::starts>};
/// The kind of the instruction that waits for the sum of gradients.
inline constexpr Kind await_compressed_kind{.name = "await reduce",
                                            .touch = touches::await_compressed,
                                            .run = executes::await_compressed,
                                            .workspace = executes::workspace_to_compress,
                                            .traffic = traffic::reduce_compressed<Traffic::waits>};

SINTER_RULE(CompressesFloats,
            (R::parallel::options.compression == GradientCompression::none ||
             std::is_same_v<typename R::precision::gradient, float>),
            "Ddp: only gradients of fp32 are compressed to bf16. Why: this recipe's precision has "
            "gradients of another type, which has as few bytes, or is there for its digits. Fix: "
            "leave .compression out, or use Fp32, Tf32, Bf16 or Fp16 with masters.");

/// Consecutive units in Model::order whose gradients are reduced in one transfer.
struct Bucket {
  short what, count;  ///< the first unit's place in the order, and the number of units
};

/// Cuts the units into buckets of at least `bytes`, in the order in which their gradients become
/// final. The first has at least `first_bytes`, if that is less; the last one may be smaller.
constexpr std::vector<Bucket> cut_into_buckets(const Model& model, std::int64_t first_bytes,
                                               std::int64_t bytes) {
  std::vector<Bucket> buckets;
  std::int64_t size = 0;
  int first = 0;
  for (int k = 0; k < int(model.order.size()); ++k) {
    const Block& block = model.block(model.order[k]);
    size += (block.decayed + block.undecayed) * model.sizes.of(Type::gradient);
    const std::int64_t minimum = buckets.empty() ? std::min(first_bytes, bytes) : bytes;
    if (size < minimum && k + 1 < int(model.order.size())) continue;
    buckets.push_back({short(first), short(k + 1 - first)});
    first = k + 1;
    size = 0;
  }
  return buckets;
}

/// Calls visit(Instruction) with each instruction of a program, and ready(Bucket) with each bucket
/// behind the instruction that makes its last contribution to a gradient.
constexpr void walk_with_buckets(const Model& model, const Program& program,
                                 std::span<const Bucket> buckets, auto visit, auto ready) {
  std::vector<int> last(model.count(), -1);  // contribution to each unit's gradient
  TouchList list;
  for (int t = 0; t < int(program.size()); ++t) {
    list.clear();
    program[t].kind->touch(model, program[t], list);
    for (const Touch& touch : list)
      if (touch.use == Use::accumulate && touch.space == model.gradients()) last[touch.index] = t;
  }
  std::size_t next = 0;
  for (int t = 0; t < int(program.size()); ++t) {
    visit(program[t]);
    for (; next < buckets.size(); ++next) {
      if (last[model.order[buckets[next].what + buckets[next].count - 1]] > t) break;
      ready(buckets[next]);
    }
  }
}
}  // namespace detail

/// Data parallel training (Li et al. 2020): every rank has the whole model and a part of the global
/// batch. In the last micro-batch, each bucket of gradients is reduced as soon as it is final,
/// concurrently with the rest of backward. Before the norm, the ranks wait for all buckets.
template <DdpOptions O = {}>
struct Ddp {
  using slot = slot::parallel;
  using Options = DdpOptions;
  using rules = RuleList<detail::CompressesFloats>;
  static constexpr Options options = O;
  static constexpr bool reduces = true;
  static constexpr int ranks(const Options& o) { return o.ranks; }

  template <class R>
  static constexpr Program rewrite(const Model& model, const Program& program) {
    using Gradient = typename R::precision::gradient;
    Program rewritten = detail::room_for(program);
    constexpr bool compressed = O.compression == GradientCompression::bf16;
    constexpr const Kind& start =
        compressed ? detail::reduce_compressed_kind : detail::reduce_kind<Gradient>;
    constexpr const Kind& wait =
        compressed ? detail::await_compressed_kind : detail::await_reduce_kind<Gradient>;
    const std::vector<detail::Bucket> buckets =
        detail::cut_into_buckets(model, O.first_bucket_bytes, O.bucket_bytes);
    detail::walk_with_buckets(
        model, program, buckets,
        [&](const Instruction& i) {
          if (i.kind->role == Role::norm)
            for (const detail::Bucket& b : buckets) rewritten.push_back({&wait, b.what, b.count});
          rewritten.push_back(i);
        },
        [&](const detail::Bucket& b) {
          rewritten.push_back({&start, b.what, b.count, When::last});
        });
    return rewritten;
  }
};

}  // namespace sinter
