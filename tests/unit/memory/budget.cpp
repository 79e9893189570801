// SPDX-License-Identifier: Apache-2.0
// What recipes choose for themselves, and what they say of it: budgets of memory, scaled rates.
#include "sinter/memory/budget.hpp"
#include "sinter/batch/scaled_rate.hpp"
#include "sinter/curriculum/batch_warmup.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/schedule/linear_decay.hpp"
#include "support/batches.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing::budget_tests {

using Small = Gpt2<{.layers = 4, .heads = 2, .width = 32, .vocabulary = 31, .positions = 32}>;
template <class... Policies>
using Net = Made<Small, UpTo<32, 31>, Batch<{.global = 12, .micro = 6}>, Policies...>;
template <std::int64_t Bytes>
using Within = Net<Budget<{.bytes = Bytes}>>;
template <class R, class Mode, int Micro>
inline constexpr bool chosen =
    std::is_same_v<typename R::memory::template Chosen<R, PlanAsIs>, Fitted<R, Mode, Micro>>;

using Selective = Checkpoint<{.policy = selective}>;
using Full = Checkpoint<{.policy = full}>;
template <class Mode, int Micro>
constexpr std::int64_t needs = Plan<Fitted<Net<>, Mode, Micro>>::bytes;
static_assert(needs<KeepAll, 6> == Plan<Net<>>::bytes);

// The boundary, to the byte; 5 does not divide the global batch.
using Plenty = Within<needs<KeepAll, 6>>;
using Less = Within<needs<KeepAll, 6> - 1>;
using Tight = Within<needs<KeepAll, 1> - 1>;
using Least = Within<needs<Full, 1>>;
static_assert(chosen<Plenty, KeepAll, 6>);
static_assert(chosen<Less, KeepAll, 4>);
static_assert(chosen<Least, Full, 1>);
static_assert(!chosen<Tight, KeepAll, 1> && !chosen<Tight, KeepAll, 6>);
static_assert(ready<Plenty>() && ready<Less>() && ready<Tight>() && ready<Least>());
static_assert(Plan<Tight>::bytes < needs<KeepAll, 1>);
static_assert(Plan<Least>::bytes == needs<Full, 1>);

// Micro-batches of 4 fit, too, but not two ranks of them into 12 sequences, nor into a ramp from 6.
template <class... Policies>
constexpr bool passes_over_four = [] {
  using R = Net<Budget<{.bytes = needs<KeepAll, 4>}>, Policies...>;
  return ready<R>() && chosen<R, KeepAll, 3>;
}();
static_assert(passes_over_four<Ddp<{.ranks = 2}>>);
static_assert(passes_over_four<BatchWarmup<{.from = 6, .sequences = 100}>>);

TEST_CASE("the recipe that a budget chooses trains as the recipe without the budget") {
  HostBatch batch = token_batch({32, 7, 32, 16, 32, 1, 2, 3, 4, 5, 6, 32}, 31, 1);
  Trainer<Made<Small, UpTo<32, 31>, Batch<{.global = 12, .micro = 1}>, Full>> plain(
      {.seed = 1, .threads = 1});
  Trainer<Least> least({.seed = 1, .threads = 1});
  CHECK(std::int64_t(least.machine().arena().size()) == needs<Full, 1>);
  for (int s = 0; s < 3; ++s)
    CHECK(applied(least, batch).loss.sum == applied(plain, batch).loss.sum);
  CHECK(parameters_of(least) == parameters_of(plain));
}

TEST_CASE("a budget says what it has chosen, and why") {
  const auto view = view_of<Least>();
  REQUIRE(view->notes().size() == 1);
  const std::string note = view->notes()[0];
  CAPTURE(note);
  CHECK(note.find("recompute whole units, micro-batches of 1") != std::string::npos);
  CHECK(note.find("keeping everything with micro-batches of 6 would need") != std::string::npos);
  CHECK(view_of<Plenty>()->notes()[0].find("would need") == std::string::npos);
}

TEST_CASE("a scaled rate is of the global batch, whatever changes it, and is said") {
  using R = Net<AdamW<{.lr = 1e-3}>, ScaledRate<{.base = 3}>, LinearDecay<{.steps = 4}>>;
  using Root = Net<AdamW<{.lr = 1e-3}>, ScaledRate<{.rule = ScalingRule::root, .base = 3}>>;
  CHECK(view_of<R>()->learning_rate(1) == doctest::Approx(4e-3));
  CHECK(view_of<R>()->learning_rate(3) == doctest::Approx(2e-3));
  CHECK(view_of<Root>()->learning_rate(1) == doctest::Approx(2e-3));
  const auto view = view_of<R>();
  for (Option& option : view->options)
    if (option.dotted() == "batch.global") *std::get<int*>(option.value) = 24;
  CHECK(view->learning_rate(1) == doctest::Approx(8e-3));
  REQUIRE(view->notes().size() == 1);
  CHECK(view->notes()[0] ==
        "the learning rate, found for batches of 3 sequences, is multiplied by 8 for those of 24 "
        "(linear rule)");
}

}  // namespace sinter::detail::testing::budget_tests
