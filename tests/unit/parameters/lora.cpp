// SPDX-License-Identifier: Apache-2.0
// Adapters against PEFT's: tests/data/lora.txt, which scripts/lora_reference.py has written.
#include "sinter/parameters/lora.hpp"

#include "sinter/clipping/clip_norm.hpp"
#include "sinter/memory/checkpoint.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/model/llama.hpp"
#include "sinter/optimizer/adafactor.hpp"
#include "sinter/optimizer/adamw.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/parallel/zero.hpp"
#include "sinter/parameters/average.hpp"
#include "sinter/parameters/groups.hpp"
#include "sinter/precision/bf16.hpp"
#include "sinter/precision/fp64.hpp"
#include "support/batches.hpp"
#include "support/finite_differences.hpp"
#include "support/recipes.hpp"
#include "support/references.hpp"
#include "unit/files/support.hpp"

namespace sinter::detail::testing::lora_tests {

constexpr int words = 19, positions = 8;
const std::vector<int> lengths{7, 3, 8, 1, 5};
const TrainerSettings settings{.seed = 1, .threads = 1};

using Decaying = AdamW<{.lr = 1e-2, .beta1 = .9, .beta2 = .95, .eps = 1e-8, .weight_decay = .1}>;
template <class Model, class... Policies>
using Net = Made<Model, UpTo<positions, words>, Batch<{.global = 8, .micro = 2}>, Decaying,
                 ClipNorm<{.max = 1}>, Policies...>;

using Gpt =
    Gpt2<{.layers = 2, .heads = 2, .width = 16, .vocabulary = words, .positions = positions}>;
using OfGpt = Lora<{.rank = 4, .alpha = 6}, Targets<"*.c_attn", "*.c_proj">>;
using LikeLlama = Llama<{.layers = 2,
                         .heads = 4,
                         .kv_heads = 2,
                         .width = 16,
                         .hidden = 24,
                         .vocabulary = words,
                         .positions = positions,
                         .eps = 1e-6}>;
using OfLlama = Lora<{.rank = 3, .alpha = 5, .rslora = true}, Targets<"*.q_proj", "*.v_proj">,
                     ModulesToSave<"model.norm">>;

/// The batch of the reference.
HostBatch batch_of() {
  HostBatch batch = sequences_of(lengths);
  batch.ids.resize(2);
  for (int s = 0; s < int(lengths.size()); ++s)
    for (int row = 0; row < lengths[std::size_t(s)]; ++row) {
      batch.ids[0].push_back((row * 7 + s * 5 + 3) % words);
      batch.ids[1].push_back((row * 3 + s) % words);
    }
  return batch;
}
HostBatch text(std::uint64_t seed) { return token_batch({8, 5, 8, 1, 3, 8}, words, seed); }

template <class Model, class... Policies>
void compare(const std::string& name, double tolerance) {
  const Reference want = read_references("lora.txt")[name];
  REQUIRE(want.losses.size() == 20);
  const HostBatch batch = batch_of();
  Trainer<Net<Model, Policies...>> trainer({.seed = 1, .threads = 2});
  set_reference_weights(trainer);
  const NamedNumbers before = parameters_of(trainer);
  for (double loss : want.losses) {
    CAPTURE(loss);
    CHECK(relative_difference(trainer.evaluate(batch).mean(), loss) < tolerance);
    CHECK(relative_difference(applied(trainer, batch).loss.mean(), loss) < tolerance);
  }
  for (const Parameter& p : trainer.parameters()) {
    CAPTURE(p.name);
    CHECK(p.frozen == !(p.name.find("lora_") != p.name.npos || p.name == "model.norm.weight"));
    CHECK((trainer.parameter(p.name) == before.at(p.name)) == p.frozen);
  }
  Numbers logits;
  trainer.predict_rows(batch, [&](const Prediction& part) {
    logits.insert(logits.end(), part.values.begin(), part.values.end());
  });
  CHECK(relative_difference(logits, want.logits) < std::max(10 * tolerance, 1e-6));
}

TEST_CASE("adapters learn as PEFT's") {
  compare<Gpt, OfGpt>("gpt2", 1e-5);
  compare<Gpt, OfGpt, Fp64>("gpt2", 1e-9);
  compare<LikeLlama, OfLlama>("llama", 1e-5);
  compare<LikeLlama, OfLlama, Fp64>("llama", 1e-7);  // whose angles transformers has in fp32
}

TEST_CASE("finite differences agree with adapters") {
  using Dropping = Lora<{.rank = 3, .dropout = .2}, Targets<"*.c_attn", "h.1.mlp.c_fc">,
                        ModulesToSave<"ln_f", "h.0.ln_1">>;
  expect_right_gradients<Net<Gpt, Dropping, Fp64>>(text(1));
  expect_right_gradients<Net<LikeLlama, OfLlama, Fp64>>(text(2));
}

template <class... Policies>
using Adapted = Net<Gpt, OfGpt, Policies...>;
using Plain = Net<Gpt>;
static_assert(ready<Adapted<>>());
// Of each block three layers have adapters: 16 to 48, 16 to 16, 64 to 16.
constexpr int adapters = 2 * 4 * ((16 + 48) + (16 + 16) + (64 + 16));
static_assert(Plan<Adapted<>>::parameters == Plan<Plain>::parameters + adapters);
static_assert(Plan<Adapted<>>::memory.parameters == Plan<Plain>::memory.parameters + 4 * adapters);
static_assert(Plan<Adapted<>>::memory.gradients == 4 * adapters);
static_assert(Plan<Adapted<>>::memory.optimizer == 2 * 4 * adapters);

TEST_CASE("products with the gradients of what stays are neither planned nor counted") {
  const auto products = [](std::int64_t in, std::int64_t out) { return 2 * in * out; };
  const std::int64_t weights = products(16, 48) + products(16, 16) + 2 * products(16, 64);
  const std::int64_t head = products(16, words);
  const std::int64_t plain = Plan<Plain>::flops_per_token;
  CHECK(Plan<Adapted<>>::flops_per_token == plain - 2 * weights - head + 3 * 2 * adapters);
}

TEST_CASE("an adapter starts as PEFT's: A uniform, B zero, so that nothing changes") {
  Trainer<Adapted<>> adapted(settings);
  Trainer<Plain> plain(settings);
  CHECK(adapted.evaluate(text(1)).sum == plain.evaluate(text(1)).sum);
  const Numbers a = adapted.parameter("h.0.attn.c_attn.lora_A.weight");
  CHECK(*std::ranges::max_element(a) <= .25);
  CHECK(*std::ranges::max_element(a) > .2);
  CHECK(norm_of(adapted.parameter("h.1.mlp.c_proj.lora_B.weight")) == 0);
}

/// The losses of four steps, from weights whose B are not zero.
template <class R>
Numbers losses_of(int threads) {
  Trainer<R> trainer({.seed = 1, .threads = threads});
  set_reference_weights(trainer);
  Numbers losses;
  for (int s = 0; s < 4; ++s) losses.push_back(applied(trainer, text(std::uint64_t(s))).loss.sum);
  return losses;
}
using Dropping = Lora<{.rank = 4, .dropout = .1}, Targets<"*.c_attn", "h.0.mlp.c_fc">>;

TEST_CASE("recomputation and ranks leave the losses as they are") {
  const Numbers plain = losses_of<Net<Gpt, Dropping>>(2);
  CHECK(losses_of<Net<Gpt, Dropping, Checkpoint<>>>(2) == plain);
  CHECK(losses_of<Net<Gpt, Dropping, Checkpoint<{.policy = selective}>>>(2) == plain);
  const Numbers ranks = losses_of<Net<Gpt, Dropping, Ddp<{.ranks = 2}>>>(2);
  CHECK(relative_difference(ranks, plain) < 1e-5);
  CHECK(losses_of<Net<Gpt, Dropping, Zero<{.stage = 1, .ranks = 2}>>>(2) == ranks);
  const Numbers sums = losses_of<Net<Gpt, Dropping, Zero<{.stage = 2, .ranks = 2}>>>(2);
  CHECK(relative_difference(sums, plain) < 1e-5);
  CHECK(relative_difference(losses_of<Net<Gpt, Dropping, Bf16>>(2), plain) < 2e-2);
}

template <class R>
void check_resume() {
  Trainer<R> trainer(settings), again({.seed = 2, .threads = 1});
  for (int s = 0; s < 3; ++s) applied(trainer, text(std::uint64_t(s)));
  TemporaryFolder folder;
  trainer.save(folder / "saved");
  again.load(folder / "saved");
  for (int s = 3; s < 6; ++s)
    CHECK(applied(again, text(std::uint64_t(s))).loss.sum ==
          applied(trainer, text(std::uint64_t(s))).loss.sum);
  CHECK(parameters_of(again) == parameters_of(trainer));
}
TEST_CASE("a resumed run has the bits of one that went on") {
  check_resume<Net<Gpt, Dropping>>();
  check_resume<Net<LikeLlama, OfLlama, Bf16, Average<{.decay = .9}>>>();
}

}  // namespace sinter::detail::testing::lora_tests
