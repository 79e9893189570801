// SPDX-License-Identifier: Apache-2.0
// What changes batches goes with every way of computing them, and costs no plan a byte.
#include "sinter/batch/pad_rows.hpp"
#include "sinter/curriculum/batch_warmup.hpp"
#include "sinter/curriculum/length_warmup.hpp"
#include "sinter/memory/budget.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/precision/bf16.hpp"
#include "sinter/recipe/plan.hpp"
#include "support/recipes.hpp"

namespace sinter::detail::testing {

using Tiny = Gpt2<{.layers = 2, .heads = 2, .width = 16, .vocabulary = 31, .positions = 16}>;
template <class... Policies>
using Net = Made<Tiny, UpTo<16, 31>, Batch<{.global = 8, .micro = 2}>, Policies...>;
using Growing = BatchWarmup<{.from = 2, .increment = 2, .sequences = 50}>;
using Longer = LengthWarmup<{.from = 8, .sequences = 50}>;

template <class... Policies>
constexpr bool goes_with_all() {
  using All = Net<Growing, Longer, PadRows<>, Policies...>;
  return ready<All>() && Plan<All>::bytes == Plan<Net<Policies...>>::bytes &&
         Plan<All>::evaluation_micro == Plan<Net<Policies...>>::evaluation_micro;
}
static_assert(goes_with_all<>());
static_assert(goes_with_all<Bf16>());
static_assert(goes_with_all<Ddp<{.ranks = 1}>>());
static_assert(goes_with_all<Budget<{.bytes = Plan<Net<Checkpoint<>>>::bytes}>>());

// ---- the ramps, at compile time
constexpr BatchShape shape_after(std::uint64_t sequences) {
  const BatchLimits limits{8, 16, 2};
  BatchShape shape{8, 16};
  Growing::next_batch(Growing::options, limits, sequences, shape);
  Longer::next_batch(Longer::options, limits, sequences, shape);
  return shape;
}
static_assert(shape_after(0) == BatchShape{2, 8} && shape_after(49) == BatchShape{6, 8});
static_assert(shape_after(17) == BatchShape{4, 8} && shape_after(50) == BatchShape{8, 16});

}  // namespace sinter::detail::testing
