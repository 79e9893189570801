// SPDX-License-Identifier: Apache-2.0
// A rank that updates its shard alone leaves what ranks leave that update everything (in each precision:
// modes.hpp).
#include "program/models.hpp"
#include "sinter/optimizer/adam.hpp"
#include "sinter/optimizer/lion.hpp"
#include "sinter/optimizer/sgd.hpp"
#include "sinter/parameters/average.hpp"
#include "sinter/parameters/freeze.hpp"
#include "sinter/parameters/groups.hpp"
#include "sinter/recovery/spike_guard.hpp"
#include "unit/parallel/zero_recipes.hpp"

namespace sinter::detail::testing::zero_tests {

template <int Ranks, class... Policies>
void same_as_ddp(const char* what) {
  CAPTURE(what);
  CAPTURE(Ranks);
  Trainer<Tiny<Whole<Ranks>, Policies...>> whole({.seed = 3, .threads = Ranks});
  Trainer<Tiny<Split<Ranks>, Policies...>> split({.seed = 3, .threads = Ranks});
  check_same(whole, split);
}

TEST_CASE("Zero has the bits of Ddp with other policies") {
  using Fast = Groups<Group<"*.bias", {.learning_rate = 2}>>;
  same_as_ddp<2, Decaying, Fp64, Clipped>("Fp64");
  same_as_ddp<2, Sgd<{.lr = .1}>, Bf16>("no state");
  same_as_ddp<2, Sgd<{.lr = .1, .momentum = .9}>, Clipped>("momentum");
  same_as_ddp<4, Lion<{.lr = 1e-3, .weight_decay = .1}>, Fp16<>>("Lion");
  same_as_ddp<2, Adam<{.weight_decay = .1}>, Bf16, Average<{.decay = .9}>>("an average, Bf16");
  same_as_ddp<4, Decaying, Clipped, Average<{.decay = .9}>, Fast>("an average, groups");
  same_as_ddp<2, Decaying, Bf16, Clipped, Freeze<"wte", "wpe", "h.0">, SpikeGuard<>>(
      "half frozen, Bf16");
  same_as_ddp<1, Decaying, Bf16, Clipped>("one rank");
}

TEST_CASE("Zero has the bits of Ddp with running values") {
  using Four = Batch<{.global = 4, .micro = 1}>;
  Trainer<Made<Letters, Counting, Four, Whole<2>, Bf16>> whole({.seed = 3, .threads = 2});
  Trainer<Made<Letters, Counting, Four, Split<2>, Bf16>> split({.seed = 3, .threads = 2});
  check_same(whole, split, [](int step) { return letters({5, 3, 6, 2}, step); });
}

// ---- memory: what is split takes a rank the ranks' part of it, padding included
template <int Ranks, class... Policies>
struct Sizes {
  using whole = Plan<Tiny<Whole<Ranks>, Decaying, Policies...>>;
  using split = Plan<Tiny<Split<Ranks>, Decaying, Policies...>>;
  /// Elements that are trained: each unit's two parts are padded to a multiple of 16 for each rank.
  static constexpr std::int64_t padded = [] {
    const Model& model = whole::model;
    std::int64_t sum = 0;
    for (short unit : model.order)
      for (std::int64_t part : {model.block(unit).decayed, model.block(unit).undecayed})
        sum += (part + 16 * Ranks - 1) / (16 * Ranks) * (16 * Ranks);
    return sum;
  }();
  static constexpr std::int64_t held = padded / Ranks;
};
template <int Ranks>
constexpr bool is_the_formula() {
  using Single = Sizes<Ranks>;
  using Mixed = Sizes<Ranks, Bf16>;
  using Averaged = Sizes<Ranks, Bf16, Average<>>;
  constexpr auto is = [](std::int64_t bytes, std::int64_t elements, int each) {
    return bytes == aligned(elements * each);
  };
  static_assert(is(Single::split::memory.parameters, Single::padded, 4));
  static_assert(Single::split::memory.optimizer == 2 * aligned(Single::held * 4));
  static_assert(is(Single::split::memory.gradients, Single::padded, 4));
  static_assert(is(Mixed::split::memory.parameters, Mixed::held, 4));
  static_assert(is(Mixed::split::memory.weights, Mixed::padded, 2));
  static_assert(Mixed::split::memory.optimizer == 2 * aligned(Mixed::held * 4));
  static_assert(is(Averaged::split::memory.policies, Averaged::held, 4));
  return true;
}
static_assert(is_the_formula<2>() && is_the_formula<4>());

TEST_CASE("the arena of each rank is as small as the plan says") {
  using S = Sizes<4, Bf16>;
  Trainer<Tiny<Split<4>, Decaying, Bf16>> trainer({.seed = 3, .threads = 4});
  take_steps(trainer, 0, 2);
  for (int rank = 0; rank < 4; ++rank) {
    const Machine& machine = trainer.machine(rank);
    CHECK(std::int64_t(machine.arena().size()) == S::split::bytes);
    CHECK(machine.flat<float>(Space::master).size == aligned(S::held * 4) / 4);
    CHECK(machine.flat<float>(region(1)).size == aligned(S::held * 4) / 4);
  }
  // Masters and two moments, in fp32, less what gradients and weights take more of padding.
  const std::int64_t elements = S::whole::model.elements();
  CHECK(S::whole::bytes - S::split::bytes >
        12 * (elements - S::held) - 4 * 64 - 6 * (S::padded - elements) - 2 * page);
}

TEST_CASE("the plan is for as many ranks as its type says") {
  using R = Tiny<Split<2>, Decaying>;
  const auto view = Trainer<R>::options();
  for (Option& option : view->options)
    if (option.dotted() == "parallel.ranks") {
      CHECK(!option.adjustable);
      *std::get<int*>(option.value) = 4;
    }
  CHECK_THROWS_WITH_AS(Trainer<R>(view, {.threads = 1}),
                       doctest::Contains("parallel.ranks is 4, and the plan"), ArgumentError);
}

TEST_CASE("a machine gives no part of a space of which its rank has only shards") {
  Trainer<Tiny<Split<2>, Decaying, Bf16>> trainer({.seed = 3, .threads = 2});
  const Parameter& p = trainer.parameters()[0];
  CHECK_THROWS_AS((void)trainer.machine().parameters().part(Space::master, p), Error);
  CHECK_THROWS_AS((void)trainer.machine().parameters().part(region(0), p), Error);
  CHECK(trainer.machine().parameters().part(Space::weights, p).data != nullptr);
}

}  // namespace sinter::detail::testing::zero_tests
