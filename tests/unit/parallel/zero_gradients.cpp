// SPDX-License-Identifier: Apache-2.0
// Stage 2: a rank keeps the gradients of its shards alone. Of one micro-batch they are those of Ddp; of
// several, the sums over the ranks are added up, one micro-batch after the other.
#include "program/models.hpp"
#include "program/poison.hpp"
#include "sinter/memory/checkpoint.hpp"
#include "sinter/optimizer/lion.hpp"
#include "sinter/optimizer/sgd.hpp"
#include "sinter/parameters/average.hpp"
#include "sinter/parameters/freeze.hpp"
#include "sinter/proof/simulate.hpp"
#include "unit/parallel/zero_recipes.hpp"

namespace sinter::detail::testing::zero_gradients_tests {

template <int Ranks>
using Shards = Split<Ranks, 2>;

// ---- one micro-batch on each rank
/// Among them a batch that leaves a rank of four without a sequence.
HostBatch with_few(int step) {
  return step % 4 == 3 ? token_batch({4, 12, 7}, vocabulary, std::uint64_t(step) + 1, .2)
                       : batch_of(step);
}
template <int Ranks, class... Policies>
void same_as_ddp(const char* what) {
  CAPTURE(what);
  CAPTURE(Ranks);
  const TrainerSettings settings{.seed = 3, .threads = Ranks};
  Trainer<Small<8 / Ranks, Policies..., Whole<Ranks>>> whole(settings);
  Trainer<Small<8 / Ranks, Policies..., Shards<Ranks>>> split(settings);
  check_same(whole, split, with_few);
}

TEST_CASE("stage 2 with one micro-batch has the bits of Ddp, and so of stage 1") {
  same_as_ddp<4, Decaying, Fp32, Clipped>("Fp32");
  same_as_ddp<4, Decaying, Bf16, Clipped>("Bf16");
  same_as_ddp<2, Lion<{.lr = 1e-3}>, Fp16<>, Checkpoint<{.policy = selective}>>("Fp16");
  same_as_ddp<2, Decaying, Fp64, Clipped, Checkpoint<{.policy = full}>>("Fp64");
  same_as_ddp<4, Sgd<{.lr = .1, .momentum = .9}>, Bf16, Average<{.decay = .9}>>("average");
  same_as_ddp<2, Decaying, Bf16, Clipped, Freeze<"wte", "wpe", "h.0">>("half frozen");
}

// ---- several micro-batches
/// Gradients of all parameters after a step, as fp32 or fp64 numbers.
template <class T>
std::map<std::string, std::vector<T>> gradients_after(Ranks& ranks) {
  std::map<std::string, std::vector<T>> all;
  const Model& model = ranks.plan.model;
  for (const Parameter& p : list_parameters(model)) {
    if (p.frozen) continue;
    std::vector<T>& values = all[p.name];
    values.resize(std::size_t(p.size));
    for (int r = 0; r < (model.shards > 1 ? ranks.count() : 1); ++r)
      ranks.machine(r).parameters().read(Space::gradient, p,
                                         reinterpret_cast<std::byte*>(values.data()));
  }
  return all;
}

/// A step's gradients are the sum of those that Ddp has of each micro-batch alone, in their order.
template <int Count, class... Policies>
void check_sums(const char* what, const HostBatch& batch, int micro_batches) {
  CAPTURE(what);
  CAPTURE(Count);
  using Four = Batch<{.global = 4 * Count, .micro = 1}>;
  using Sum = Made<Letters, Gpt2<tiny>, Four,
                   Zero<{.stage = 2, .bucket_bytes = 500, .ranks = Count}>, Policies...>;
  using Each =
      Made<Letters, Gpt2<tiny>, Four, Ddp<{.bucket_bytes = 500, .ranks = Count}>, Policies...>;
  static_assert(ready<Sum>() && ready<Each>());
  using T = typename Sum::precision::gradient;
  Ranks ranks(Plan<Sum>::view, view_of<Sum>(), Count);
  std::vector<Poison> poisons(static_cast<std::size_t>(Count),
                              Poison(Plan<Sum>::view, Plan<Sum>::view.training));
  for (int r = 0; r < Count; ++r) ranks.observers[std::size_t(r)] = &poisons[std::size_t(r)];
  ranks.train(batch, 1, 0);
  std::map<std::string, std::vector<T>> want;
  for (int k = 0; k < micro_batches; ++k) {
    Ranks each(Plan<Each>::view, view_of<Each>(), Count);
    each.train_one(batch, 1, k);
    for (const auto& [name, values] : gradients_after<T>(each)) {
      std::vector<T>& sum = want[name];
      if (k == 0) sum = values;
      for (std::size_t n = 0; n < values.size() && k > 0; ++n) sum[n] = T(sum[n] + values[n]);
    }
  }
  const auto got = gradients_after<T>(ranks);
  CHECK(got.size() == want.size());
  for (const auto& [name, values] : got) {
    CAPTURE(name);
    CHECK(std::memcmp(values.data(), want[name].data(), values.size() * sizeof(T)) == 0);
  }
}
TEST_CASE("stage 2 with several micro-batches adds up the sums of Ddp") {
  const HostBatch even = letters({5, 3, 6, 2, 4, 1, 6, 5});
  const HostBatch uneven = letters({5, 3, 6, 2, 4});  // the last micro-batch is empty on one rank
  const HostBatch few = letters({5, 3, 6});           // one of four ranks has no sequence
  check_sums<2, Fp32>("Fp32", even, 4);
  check_sums<2, Fp32>("Fp32", uneven, 3);
  check_sums<4, Bf16>("Bf16", letters({5, 3, 6, 2, 4, 1, 6, 5, 2}), 3);
  check_sums<4, Bf16>("Bf16", few, 1);
  check_sums<2, Fp64, Checkpoint<{.policy = full}>>("Fp64, recomputed", even, 4);
  check_sums<2, Bf16, Freeze<"wte", "wpe">, Checkpoint<{.policy = selective}>>("a frozen table",
                                                                               uneven, 3);
  check_sums<4, Fp32, Freeze<"h.1">>("a frozen block", few, 1);
}

TEST_CASE("many steps of several micro-batches are those of Ddp, to rounding") {
  // Sums of 80 terms in another order, in 20 steps. Each differs by at most 2 · 80 ε Σ|t|; AdamW's step
  // does not grow with the gradient, but with its relative error.
  Trainer<Tiny<Whole<2>, Decaying, Fp64, Clipped>> whole({.seed = 3, .threads = 2});
  Trainer<Tiny<Shards<2>, Decaying, Fp64, Clipped>> split({.seed = 3, .threads = 2});
  const Figures want = take_steps(whole, 0, 20), got = take_steps(split, 0, 20);
  CHECK(relative_difference(got.losses, want.losses) < 1e-11);
  CHECK(relative_difference(got.norms, want.norms) < 1e-10);
  for (const auto& [name, values] : parameters_of(whole)) {
    CAPTURE(name);
    CHECK(relative_difference(split.parameter(name), values) < 1e-9);
  }
}

// ---- memory and volume
template <class R>
struct Facts {
  static constexpr const Model& model = Plan<R>::model;
  /// The most bytes of gradients that are there at once beside those that stay.
  static constexpr std::int64_t transient() {
    std::int64_t most = 0;
    for (int t = 0; t < int(Plan<R>::program.size()); ++t) {
      std::int64_t bytes = 0;
      for (const Buffer& b : Plan<R>::training.buffers.view())
        if (b.space == Space::d_weights && b.first <= t && t <= b.last) bytes += b.bytes;
      most = std::max(most, bytes);
    }
    return most;
  }
  static constexpr std::int64_t padded = model.elements();
  static constexpr std::int64_t unit(int u) { return aligned(model.unit_elements(u) * 4); }
};
template <int Count, class... Policies>
constexpr bool is_the_formula() {
  using OneUnit = Zero<{.stage = 2, .bucket_bytes = 1, .ranks = Count}>;
  using R = Tiny<OneUnit, Decaying, Policies...>;
  using F = Facts<R>;
  static_assert(Plan<R>::memory.gradients == aligned(F::padded / Count * 4));
  static_assert(Plan<R>::memory.optimizer == 2 * aligned(F::padded / Count * 4));
  // The tied table from the first to the last, the unit at hand, and the one that is being summed.
  static_assert(F::transient() == F::unit(0) + 2 * F::unit(1));
  return true;
}
static_assert(is_the_formula<2>() && is_the_formula<4, Bf16>());

/// Bytes of an operation that a rank states in a step of so many micro-batches.
template <class R>
constexpr std::int64_t stated(Operation operation, int ranks, int micro_batches) {
  std::int64_t bytes = 0;
  for (const Event& event :
       Communication(Plan<R>::program, true).events(Plan<R>::model, {0, ranks, 0, micro_batches}))
    if (event.traffic.operation == operation && event.traffic.does != Traffic::waits)
      bytes += event.traffic.bytes();
  return bytes;
}
template <class R, int Micro>
constexpr bool moves_as_the_formula(int weight) {
  const std::int64_t elements = Plan<R>::model.elements();
  return stated<R>(Operation::reduce_scatter, 2, Micro) == Micro * elements * 4 &&
         stated<R>(Operation::all_gather, 2, Micro) == elements * weight;
}
static_assert(moves_as_the_formula<Tiny<Shards<2>, Decaying>, 1>(4));
static_assert(moves_as_the_formula<Tiny<Shards<2>, Decaying, Bf16>, 4>(2));

TEST_CASE("the arena of each rank has its shards of gradients alone") {
  using R = Tiny<Shards<4>, Decaying, Bf16>;
  Trainer<R> trainer({.seed = 3, .threads = 4});
  take_steps(trainer, 0, 2);
  for (int rank = 0; rank < 4; ++rank) {
    const Machine& machine = trainer.machine(rank);
    CHECK(std::int64_t(machine.arena().size()) == Plan<R>::bytes);
    CHECK(machine.flat<std::byte>(Space::gradient).size ==
          aligned(Plan<R>::model.elements() / 4 * 4));
  }
  const Parameter& p = trainer.parameters()[0];
  CHECK_THROWS_AS((void)trainer.machine().parameters().part(Space::gradient, p), Error);
}

}  // namespace sinter::detail::testing::zero_gradients_tests
