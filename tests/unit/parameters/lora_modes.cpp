// SPDX-License-Identifier: Apache-2.0
// Adapters with policies that change how a step is computed, and not what: the bits of the plain recipe, or its losses
// to the precision.
#include "sinter/memory/budget.hpp"
#include "sinter/memory/offload.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/optimizer/adamw.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/parallel/split_batch.hpp"
#include "sinter/parameters/lora.hpp"
#include "sinter/precision/fp16.hpp"
#include "sinter/precision/tf32.hpp"
#include "support/batches.hpp"
#include "support/recipes.hpp"
#include "support/references.hpp"

namespace sinter::detail::testing::lora_modes_tests {

constexpr int words = 19, positions = 8;
using Gpt =
    Gpt2<{.layers = 2, .heads = 2, .width = 16, .vocabulary = words, .positions = positions}>;
template <class... Policies>
using Adapted = Made<Gpt, Lora<{.rank = 4, .dropout = .1}, Targets<"*.c_attn", "h.0.mlp.c_fc">>,
                     UpTo<positions, words>, Batch<{.global = 8, .micro = 1}>, AdamW<{.lr = 1e-2}>,
                     Policies...>;

/// What steps leave: their losses, the weights, and how many were applied.
struct Run {
  Numbers losses;
  NamedNumbers weights;
  int applied = 0;
};
/// Six steps from weights whose B are not zero. Only the adapters change.
template <class R>
Run run_of() {
  Trainer<R> trainer({.seed = 1, .threads = 2});
  set_reference_weights(trainer);
  const NamedNumbers before = parameters_of(trainer);
  Run run;
  for (std::uint64_t step = 0; step < 6; ++step) {
    const Outcome outcome = trainer.step(token_batch({8, 5, 8, 1, 3, 8}, words, step));
    run.losses.push_back(std::visit([](const auto& o) { return o.loss.sum; }, outcome));
    run.applied += std::holds_alternative<Applied>(outcome);
  }
  run.weights = parameters_of(trainer);
  for (const Parameter& p : trainer.parameters()) {
    CAPTURE(p.name);
    CHECK((run.weights.at(p.name) == before.at(p.name)) == !p.adapter);
  }
  return run;
}
void check_same(const Run& got, const Run& want) {
  CHECK(got.losses == want.losses);
  CHECK(got.weights == want.weights);
}

using Within = Adapted<Budget<{.bytes = Plan<Adapted<>>::bytes - 1}>>;
static_assert(Plan<Within>::bytes < Plan<Adapted<>>::bytes);

TEST_CASE("adapters learn in Tf32 as in fp32, and within a budget of memory with its bits") {
  const Run plain = run_of<Adapted<>>();
  CHECK(plain.applied == 6);
  check_same(run_of<Within>(), plain);
  const Run rounded = run_of<Adapted<Tf32>>();
  CHECK(rounded.applied == 6);
  CHECK(relative_difference(rounded.losses, plain.losses) < 1e-3);
}

TEST_CASE("adapters begin in Fp16 as in fp32, with the same bits where state is a file") {
  const Run half = run_of<Adapted<Fp16<>>>();
  CHECK(half.applied >= 4);  // the scale of the loss may be too large at first
  CHECK(relative_difference({half.losses[0]}, {run_of<Adapted<>>().losses[0]}) < 1e-2);
  check_same(run_of<Adapted<Fp16<>, Offload<{.bucket_bytes = 1}>>>(), half);
}

TEST_CASE("adapters that one rank updates for all have the bits of Ddp's") {
  const Run all = run_of<Adapted<Ddp<{.ranks = 2}>>>();
  CHECK(all.applied == 6);
  check_same(run_of<Adapted<SplitBatch<{.ranks = 2}>>>(), all);
}

}  // namespace sinter::detail::testing::lora_modes_tests
