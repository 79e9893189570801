// SPDX-License-Identifier: Apache-2.0
// Adapters: what they learn, against PEFT's, and what is planned for them.
#include "sinter/parameters/lora.hpp"

#include "sinter/memory/checkpoint.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/model/llama.hpp"
#include "sinter/optimizer/adafactor.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/parallel/zero.hpp"
#include "sinter/parameters/average.hpp"
#include "sinter/parameters/groups.hpp"
#include "sinter/precision/bf16.hpp"
#include "sinter/precision/fp64.hpp"
#include "support/finite_differences.hpp"
#include "unit/files/support.hpp"
#include "unit/parameters/lora_reference.hpp"

namespace sinter::detail::testing::lora_tests {

constexpr int words = 19, positions = lora_positions;
const TrainerSettings settings{.seed = 1, .threads = 1};
template <class Model, class... Policies>
using Net = LoraNet<Model, Policies...>;

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

HostBatch text(std::uint64_t seed) { return token_batch({8, 5, 8, 1, 3, 8}, words, seed); }

TEST_CASE("adapters learn as PEFT's") {
  compare_lora<Gpt, OfGpt>("gpt2", 1e-5);
  compare_lora<Gpt, OfGpt, Fp64>("gpt2", 1e-9);
  compare_lora<LikeLlama, OfLlama>("llama", 1e-5);
  compare_lora<LikeLlama, OfLlama, Fp64>("llama", 1e-9);
}

TEST_CASE("adapters, and modules that are saved, learn alone") {
  const Trainer<Net<LikeLlama, OfLlama>> trainer(settings);
  for (const Parameter& p : trainer.parameters())
    CHECK(p.frozen == !(p.name.find("lora_") != p.name.npos || p.name == "model.norm.weight"));
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

TEST_CASE("dropout is of what A reads alone, and of no evaluation") {
  using Dropping = Lora<{.rank = 4, .alpha = 6, .dropout = .5}, Targets<"*.c_attn", "*.c_proj">>;
  Trainer<Net<Gpt, Dropping>> dropping(settings);
  Trainer<Plain> plain(settings);
  Trainer<Adapted<>> adapted(settings);
  CHECK(applied(dropping, text(1)).loss.sum == applied(plain, text(1)).loss.sum);  // B is zero
  set_reference_weights(dropping);
  set_reference_weights(adapted);
  CHECK(dropping.evaluate(text(1)).sum == adapted.evaluate(text(1)).sum);
  CHECK(applied(dropping, text(1)).loss.sum != applied(adapted, text(1)).loss.sum);
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
