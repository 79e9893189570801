// SPDX-License-Identifier: Apache-2.0
// State that lives in a file leaves what state leaves that is kept, in the memory that the plan says.
#include "sinter/memory/offload.hpp"

#include "sinter/parallel/split_batch.hpp"
#include "sinter/parameters/average.hpp"
#include "sinter/parameters/freeze.hpp"
#include "sinter/parameters/groups.hpp"
#include "sinter/recipe/techniques.hpp"
#include "unit/parallel/zero_recipes.hpp"

namespace sinter::detail::testing::offload_tests {

using EachUnit = Offload<{.bucket_bytes = 1}>;
using Runs = Offload<{.bucket_bytes = 100'000}>;  // two units
using AtOnce = Offload<>;                         // all of them
using Weights = Offload<{.weights = true, .bucket_bytes = 1}>;
using RunsOfWeights = Offload<{.weights = true, .bucket_bytes = 100'000}>;

void check_steps(TrainerCore& kept, TrainerCore& offload) {
  CHECK(differences(all_of(kept), all_of(offload)).empty());
  const Figures want = take_steps(kept, 0, 8), got = take_steps(offload, 0, 8);
  REQUIRE(want.norms.size() > 2);  // the scale of fp16 may be too large at first
  CHECK(got.losses == want.losses);
  CHECK(got.norms == want.norms);
  const std::set<std::string> differ = differences(all_of(kept), all_of(offload));
  for (const std::string& name : differ) CHECK_MESSAGE(false, name);
  CHECK(kept.evaluate(batch_of(1)).sum == offload.evaluate(batch_of(1)).sum);
}
template <class Away, class... Policies>
void same(const char* what, int ranks = 1) {
  CAPTURE(what);
  const TrainerSettings settings{.seed = 3, .threads = ranks};
  Trainer<Tiny<Policies...>> kept(settings);
  Trainer<Tiny<Policies..., Away>> offload(settings);
  check_steps(kept, offload);
}

TEST_CASE("offloaded state has the bits of kept state") {
  same<EachUnit, Decaying, Clipped>("unit by unit");
  same<Runs, Decaying, Bf16, Clipped>("runs of units, Bf16");
  same<AtOnce, Decaying, Fp16<>, Checkpoint<>>("all units, Fp16, checkpointed");
}

TEST_CASE("state comes while others are updated, and weights while others are computed with") {
  const PlanView &state = Plan<Tiny<EachUnit, Decaying>>::view,
                 &weights = Plan<Tiny<Weights, Decaying>>::view;
  CHECK(exposed_fetches(state, fetch_state_kind, await_state_kind) == 0);
  CHECK(exposed_fetches(weights, fetch_state_kind, await_state_kind) == 0);
  CHECK(exposed_fetches(weights, fetch_masters_kind, await_masters_kind) == 1);
}

TEST_CASE("offloaded state of every optimizer has the bits of kept state") {
  using Fast = Groups<Group<"*.bias", {.learning_rate = 2}>>;
  same<EachUnit, Adam<{.weight_decay = .1}>, Average<{.decay = .9}>, Fast>("Adam, average, groups");
  same<EachUnit, Lion<{.lr = 1e-3, .weight_decay = .1}>>("Lion");
  same<Runs, Sgd<{.lr = .1, .momentum = .9}>, Bf16>("momentum, which does not cast");
  same<EachUnit, AdamW8bit<>, Freeze<"wte", "wpe", "h.0">>("8 bits, half frozen");
  same<EachUnit, Adafactor<{.beta1 = .9}>, Bf16>(
      "factors, and a moment without a shape of its own");
  same<EachUnit, Muon<>>("Muon");
}

TEST_CASE("offloaded state has the bits of kept state with every way of sharing the work") {
  same<EachUnit, Decaying, Whole<2>, Clipped>("Ddp", 2);
  same<EachUnit, Decaying, Split<2>, Bf16, Average<>>("Zero 1", 2);
  same<Runs, Decaying, Split<4, 2>, Clipped>("Zero 2", 4);
  same<EachUnit, Decaying, Split<2, 3>, Bf16, Checkpoint<>>("Zero 3, checkpointed", 2);
  same<EachUnit, Muon<>, SplitBatch<{.ranks = 2}>>("SplitBatch", 2);
}

TEST_CASE("offloaded weights have the bits of kept weights") {
  same<Weights, Decaying, Clipped>("unit by unit");
  same<RunsOfWeights, Decaying, Bf16, Checkpoint<>>("runs of units, Bf16, checkpointed");
  same<Weights, Decaying, Fp16<>, Checkpoint<{.policy = selective}>>("Fp16, selective");
}

TEST_CASE("offloaded weights have the bits of kept weights with other optimizers and an average") {
  using Fast = Groups<Group<"*.bias", {.learning_rate = 2}>>;
  same<Weights, Adam<{.weight_decay = .1}>, Average<{.decay = .9}>, Fast>("Adam, average, groups");
  same<Weights, Sgd<{.lr = .1}>, Bf16, Freeze<"wte", "wpe", "h.0">>("no state, half frozen");
  same<RunsOfWeights, Muon<>, Bf16>("Muon");
}

TEST_CASE("offloaded weights have the bits of kept weights on several ranks") {
  same<Weights, Decaying, Whole<2>, Clipped>("Ddp", 2);
  same<RunsOfWeights, Decaying, Split<4, 3>, Bf16, Checkpoint<>, Average<>>("Zero 3", 4);
  same<Weights, Muon<>, Bf16, Split<2, 3>, Average<>>("Zero 3, Muon", 2);
}

// ---- memory
template <class... Policies>
using Kept = Plan<Tiny<Decaying, Policies...>>;
template <class... Policies>
using Away = Plan<Tiny<Decaying, EachUnit, Policies...>>;
template <class... Policies>
constexpr bool leaves_the_arena() {
  using K = Kept<Policies...>;
  using A = Away<Policies...>;
  static_assert(A::memory.optimizer == 0 && A::memory.offloaded == K::memory.optimizer);
  // What lives through all steps is less by just that, to a page.
  static_assert(A::training.persistent ==
                    (K::training.persistent - K::memory.optimizer + page - 1) / page * page ||
                A::training.persistent + page ==
                    (K::training.persistent - K::memory.optimizer + page - 1) / page * page);
  return true;
}
static_assert(leaves_the_arena<>() && leaves_the_arena<Bf16>() && leaves_the_arena<Split<4>>());

/// Of the masters nothing is left but what is not trained.
template <class... Policies>
constexpr bool weights_leave_the_arena() {
  using K = Kept<Policies...>;
  using A = Plan<Tiny<Decaying, Weights, Policies...>>;
  static_assert(A::memory.parameters == 0 && A::memory.weights == 0 && A::memory.optimizer == 0);
  static_assert(A::memory.offloaded == K::memory.optimizer + K::memory.parameters);
  return A::memory.gradients == K::memory.gradients;
}
static_assert(weights_leave_the_arena<>() && weights_leave_the_arena<Bf16>() &&
              weights_leave_the_arena<Split<4, 3>>());

/// Of units that are fetched one by one, no more than three in a row are there at once.
template <class R>
constexpr std::int64_t largest_three() {
  const Model& m = Plan<R>::model;
  std::int64_t most = 0;
  for (std::size_t k = 0; k < m.order.size(); ++k) {
    std::int64_t sum = 0;
    for (std::size_t j = k; j < std::min(k + 3, m.order.size()); ++j)
      for (int r = 0; r < int(m.regions.size()); ++r) sum += buffer_bytes(m, region(r), m.order[j]);
    most = std::max(most, sum);
  }
  return most;
}
/// The most bytes of buffers of state that are open at once.
template <class R>
constexpr std::int64_t state_at_once() {
  std::int64_t most = 0;
  for (int t = 0; t < int(Plan<R>::program.size()); ++t) {
    std::int64_t sum = 0;
    for (const Buffer& b : Plan<R>::training.buffers.view())
      if (b.space >= Space::region && b.opened_by >= 0 && b.first <= t && t <= b.last)
        sum += b.bytes;
    most = std::max(most, sum);
  }
  return most;
}
template <int Micro, class... Policies>
using Deep = Made<
    Gpt2<{.layers = 8, .heads = 2, .width = 32, .vocabulary = vocabulary, .positions = context}>,
    UpTo<context, vocabulary>, Batch<{.global = 8, .micro = Micro}>, Decaying, Policies...>;
static_assert(state_at_once<Deep<1, EachUnit>>() == largest_three<Deep<1, EachUnit>>());
// It lies where activations have been: where these are large enough, the arena needs no more for them.
static_assert(Plan<Deep<8, EachUnit>>::memory.activations == Plan<Deep<8>>::memory.activations);

TEST_CASE("with Offload, a recipe fits into a budget that is too small without it") {
  constexpr std::int64_t least = Plan<Deep<1, EachUnit, Checkpoint<>>>::bytes;
  static_assert(least < Plan<Deep<1, Checkpoint<>>>::bytes * 3 / 4);
  using Fitted = Plan<Deep<8, EachUnit, Budget<{.bytes = least}>>>;
  static_assert(Fitted::bytes <= least);
}

TEST_CASE("files in memory, and folders that are not there, are refused") {
  using R = Tiny<Decaying, EachUnit>;
  Trainer<R> nowhere({.seed = 3, .threads = 1, .scratch = "/nowhere/at all"});
  CHECK(std::isfinite(nowhere.evaluate(batch_of(0)).sum));  // which needs no state
  CHECK_THROWS_WITH_AS(nowhere.require_memory_to_train(),
                       doctest::Contains("in /nowhere/at all: No such file"), FileError);
  if (!std::filesystem::is_directory("/dev/shm")) return;
  Trainer<R> in_memory({.seed = 3, .threads = 1, .scratch = "/dev/shm"});
  CHECK_THROWS_WITH_AS((void)in_memory.step(batch_of(0)),
                       doctest::Contains("/dev/shm, whose files are in memory"), FileError);
}

TEST_CASE("state that comes and goes is no part of the arena") {
  Trainer<Tiny<Decaying, EachUnit>> trainer({.seed = 3, .threads = 1});
  take_steps(trainer, 0, 1);
  CHECK(trainer.machine().flat<float>(region(0)).size == 0);
  CHECK_THROWS_WITH_AS(
      (void)trainer.machine().parameters().part(region(0), trainer.parameters()[0]),
      doctest::Contains("come and go"), Error);
}

}  // namespace sinter::detail::testing::offload_tests
