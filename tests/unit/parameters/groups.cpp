// SPDX-License-Identifier: Apache-2.0
// Parameter groups, and parameters that stay as they are.
#include "sinter/parameters/groups.hpp"
#include "sinter/memory/checkpoint.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/optimizer/adamw.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/parameters/freeze.hpp"
#include "sinter/precision/bf16.hpp"
#include "support/batches.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"
#include "unit/files/support.hpp"

namespace sinter::detail::testing {
namespace {

using Small = Gpt2<{.layers = 3, .heads = 2, .width = 16, .vocabulary = 31, .positions = 12}>;
template <class... Policies>
using Net = Made<Small, UpTo<12, 31>, Batch<{.global = 4, .micro = 2}>,
                 AdamW<{.lr = 1e-2, .weight_decay = .1}>, Policies...>;
HostBatch text(std::uint64_t seed) { return token_batch({12, 7, 12, 9}, 31, seed); }
const TrainerSettings settings{.seed = 1, .threads = 1};

template <class R>
int count(const Kind& kind) {
  return int(std::ranges::count(Plan<R>::program, &kind, &Instruction::kind));
}

using Lower = Net<Freeze<"wte", "wpe", "h.0">>;
static_assert(ready<Lower>());
static_assert(Plan<Lower>::parameters == Plan<Net<>>::parameters);
static_assert(Plan<Lower>::memory.parameters == Plan<Net<>>::memory.parameters);
// Two blocks and the last norm are left: 12 matrices of 16 × 16, 13 vectors of 16 in each block.
static_assert(Plan<Lower>::memory.gradients == 4 * (2 * (12 * 256 + 13 * 16) + 2 * 16));
static_assert(Plan<Lower>::memory.optimizer == 2 * Plan<Lower>::memory.gradients);
static_assert(Plan<Lower>::memory.activations < Plan<Net<>>::memory.activations);

TEST_CASE("patterns match names of parameters") {
  CHECK(matches("h.*", "h.0"));
  CHECK(matches("*", ""));
  CHECK(matches("*.bias", "h.0.attn.bias"));
  CHECK(matches("h.*.mlp.*", "h.11.mlp.c_fc.weight"));
  CHECK_FALSE(matches("h.1", "h.11"));
  CHECK_FALSE(matches("h.1*", "h.0"));
  CHECK_FALSE(matches("", "h"));
  CHECK(matches("*.*.weight", "h.0.attn.weight"));
  CHECK(matches("**", "h"));
  CHECK_FALSE(matches("*.*.weight", "h.weight"));
  CHECK_FALSE(matches("aa", "a"));
}

/// Frozen parameters change no gradient of others in the first step.
template <class... Policies>
void check_frozen_step() {
  Trainer<Net<Policies...>> whole(settings);
  Trainer<Net<Policies..., Freeze<"wte", "wpe", "h.0">>> part(settings);
  Applied a = applied(whole, text(1)), b = applied(part, text(1));
  CHECK(a.loss.sum == b.loss.sum);
  double squares = 0;
  for (const Parameter& p : part.parameters()) {
    CAPTURE(p.name);
    CHECK(p.frozen ==
          (p.name.starts_with("wte") || p.name.starts_with("wpe") || p.name.starts_with("h.0.")));
    if (p.frozen) {
      CHECK(part.gradient(p.name).empty());
      continue;
    }
    CHECK(part.gradient(p.name) == whole.gradient(p.name));
    squares += std::pow(norm_of(part.gradient(p.name)), 2);
  }
  CHECK(b.gradient_norm == doctest::Approx(std::sqrt(squares)));
}
TEST_CASE("trained parameters get the gradients that they get if nothing is frozen") {
  check_frozen_step<>();
  check_frozen_step<Checkpoint<>>();
  check_frozen_step<Bf16>();
  check_frozen_step<Ddp<>>();
}

TEST_CASE("frozen parameters stay, whatever the steps do, and checkpoints hold them") {
  Trainer<Lower> trainer(settings), again({.seed = 2, .threads = 1});
  NamedNumbers before = parameters_of(trainer);
  for (int s = 0; s < 3; ++s) applied(trainer, text(s));
  for (const Parameter& p : trainer.parameters())
    CHECK((trainer.parameter(p.name) == before[p.name]) == p.frozen);
  CHECK(trainer.state("exp_avg", "wte.weight").empty());
  TemporaryFolder folder;
  trainer.save(folder / "saved");
  again.load(folder / "saved");
  CHECK(applied(again, text(5)).loss.sum == applied(trainer, text(5)).loss.sum);
  CHECK(parameters_of(again) == parameters_of(trainer));
}

TEST_CASE("computations that only frozen units need are left out") {
  CHECK(count<Net<>>(backward) == 5);  // embeddings, three blocks, norm and loss
  CHECK(count<Lower>(backward) == count<Net<>>(backward) - 2);
  CHECK(count<Lower>(evaluate) == 2);
  using Upper = Net<Freeze<"h.2", "ln_f">>;  // its gradients pass through what is frozen
  static_assert(ready<Upper>());
  CHECK(count<Upper>(backward) == count<Net<>>(backward));
  Trainer<Upper> upper(settings);
  Trainer<Net<>> whole(settings);
  applied(upper, text(1));
  applied(whole, text(1));
  CHECK(upper.gradient("h.0.mlp.c_fc.weight") == whole.gradient("h.0.mlp.c_fc.weight"));
}

TEST_CASE("groups have their own rates and decay") {
  using Plain = Made<Mlp<{.in = 3, .hidden = 8, .out = 2}>, Batch<{.global = 4, .micro = 4}>,
                     AdamW<{.lr = 1e-2, .weight_decay = .5}>>;
  using Grouped =
      Made<Mlp<{.in = 3, .hidden = 8, .out = 2}>, Batch<{.global = 4, .micro = 4}>,
           AdamW<{.lr = 1e-2, .weight_decay = .5}>,
           Groups<Group<"input.bias", {.learning_rate = 3, .decay = ParameterGroup::always}>,
                  Group<"output.*", {.learning_rate = 0, .decay = ParameterGroup::never}>>>;
  static_assert(ready<Grouped>());
  Trainer<Plain> plain(settings);
  Trainer<Grouped> grouped(settings);
  randomise(plain, 7);
  randomise(grouped, 7);
  NamedNumbers before = parameters_of(plain);
  HostBatch batch = regression_batch({1, 1, 1, 1}, 3, 2, 1);
  applied(plain, batch);
  applied(grouped, batch);
  CHECK(grouped.parameter("input.weight") == plain.parameter("input.weight"));
  CHECK(grouped.parameter("output.weight") == before["output.weight"]);
  // Adam's first step is the rate, in the direction of the gradient; decay comes first.
  Numbers was = before["input.bias"], now = grouped.parameter("input.bias"),
          gradient = grouped.gradient("input.bias");
  for (std::size_t k = 0; k < was.size(); ++k) {
    const double direction = gradient[k] > 0 ? 1 : gradient[k] < 0 ? -1 : 0;
    CHECK(now[k] == doctest::Approx(was[k] * (1 - .03 * .5) - .03 * direction).epsilon(1e-4));
  }
}

TEST_CASE("a checkpoint of other groups, or of others that are frozen, is not resumed from") {
  TemporaryFolder folder;
  Trainer<Net<Freeze<"h.*">, Groups<Group<"*.bias", {.learning_rate = .5}>>>> saved(settings);
  saved.save(folder / "saved");
  auto refused = [&]<class R>(std::type_identity<R>) {
    Trainer<R> trainer(settings);
    return message_of([&] { trainer.load(folder / "saved"); });
  };
  using Other = Net<Freeze<"h.*">, Groups<Group<"*.bias", {.decay = ParameterGroup::always}>>>;
  CHECK(contains(refused(std::type_identity<Other>{}),
                 "policy: groups: Groups<*.bias: rate × 0.5> in the checkpoint, groups: "
                 "Groups<*.bias: rate × 1, decayed> in this binary"));
  using Colder = Net<Freeze<"h.*", "wte", "wpe">, Groups<Group<"*.bias", {.learning_rate = .5}>>>;
  CHECK(contains(refused(std::type_identity<Colder>{}), "Freeze<h.*, wte, wpe> in this binary"));
}

}  // namespace
}  // namespace sinter::detail::testing
