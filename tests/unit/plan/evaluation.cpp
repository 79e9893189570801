// SPDX-License-Identifier: Apache-2.0
// Evaluation in micro-batches larger than training's, in the same arena.
#include "sinter/data/bytes.hpp"
#include "sinter/data/windows.hpp"
#include "sinter/memory/checkpoint.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/precision/bf16.hpp"
#include "sinter/precision/fp64.hpp"
#include "support/batches.hpp"
#include "support/recipes.hpp"
#include "support/text.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing {
namespace {

constexpr int context = 16, words = 31;
using Small = Gpt2<{.layers = 3,
                    .heads = 2,
                    .width = 32,
                    .vocabulary = words,
                    .positions = context,
                    .dropout = .1}>;
template <class... Policies>
using Net = Made<Small, UpTo<context, words>, Batch<{.global = 8, .micro = 4}>, Policies...>;

template <class R>
constexpr bool uses_the_arena_well() {
  using P = Plan<R>;
  constexpr int micro = R::batch::micro, wide = P::evaluation_micro;
  constexpr int bound = detail::evaluation_bound(micro, R::data::context);
  constexpr std::int64_t more =
      wide < bound ? detail::evaluation_bytes(P::model, micro, wide + 1, P::view.forward_program)
                   : P::bytes + 1;
  return wide >= micro && wide <= bound && P::evaluation.peak <= P::bytes && more > P::bytes &&
         P::bytes == std::max({P::training.peak, P::evaluation_peak, P::prediction.peak});
}
static_assert(uses_the_arena_well<Net<>>() && Plan<Net<>>::evaluation_micro > 8);
static_assert(uses_the_arena_well<Net<Bf16>>() && uses_the_arena_well<Net<Fp64>>());
static_assert(uses_the_arena_well<Net<Checkpoint<>>>());
static_assert(uses_the_arena_well<Made<Mlp<>, Batch<{.global = 4, .micro = 1}>>>());

/// A recipe whose evaluation has training's micro-batches.
struct Narrow {
  PlanView plan;
  std::shared_ptr<RecipeView> recipe;
  template <class R>
  static Narrow of(const PlacementView& placement) {
    Narrow narrow{Plan<R>::view, view_of<R>()};
    narrow.plan.evaluating = narrow.plan.model;
    narrow.plan.evaluation = placement;
    narrow.plan.evaluation_micro = narrow.plan.micro;
    return narrow;
  }
};

/// The losses of a text with evaluation in training's micro-batches, and in the wide ones.
template <class R>
void same_loss(double bound, int threads) {
  const std::string text = some_text(3000);
  std::vector<std::int32_t> tokens;
  for (unsigned char c : text) tokens.push_back(c % words);
  tokens.resize(3000);
  const Model& model = Plan<R>::model;
  const Program program = evaluation(model);
  const Placement placed = place(model, program);
  Narrow narrow =
      Narrow::of<R>({program, placed.buffers, placed.persistent, placed.workspace, placed.peak});
  narrow.recipe->plan = &narrow.plan;
  TrainerCore few(narrow.recipe, {.seed = 3, .threads = threads});
  Trainer<R> many({.seed = 3, .threads = threads});
  randomise(few, 9, .2);
  set_parameters(many, parameters_of(few));
  auto loss = [&](TrainerCore& trainer, int sequences) {
    poison(trainer);
    EvaluationWindows windows(tokens, {context, sequences});
    return trainer.evaluate(windows);
  };
  const int wide = Plan<R>::evaluation_micro, ranks = many.recipe().ranks();
  const Loss want = loss(few, 4 * ranks), got = loss(many, wide * ranks);
  CHECK(want.count == 2999);
  CHECK(got.count == want.count);
  CHECK(relative_difference(got.sum, want.sum) <= bound);
  CHECK(loss(many, wide * ranks).sum == got.sum);  // a function of the data
  const int all = (int(tokens.size()) + context - 1) / context;
  CHECK(loss(many, all).sum == got.sum);  // split where it was before, and added in the same order
  CHECK(relative_difference(loss(many, 7).sum, want.sum) <= bound);
}

/// Losses are added in double precision: sums in another order differ by n u Σ at most, n the rows.
/// (fp32 losses are short enough to be added exactly.) A row's loss is the same bits however many
/// rows there are where our own matrix products run; the vendor's library promises an error alone,
/// (1 + √depth) ε Σ|x w| a product, which leaves less than 100 ε of the loss in a model this small.
TEST_CASE("the loss does not depend on how many sequences are evaluated at once") {
  constexpr double sums = 3000 * 0x1p-53;
  for (int threads : {1, 2}) {
    CAPTURE(threads);
    same_loss<Net<Fp64>>(sums + 100 * 0x1p-52, threads);
    same_loss<Net<>>(sums + 100 * 0x1p-23, threads);
    same_loss<Net<Bf16>>(sums + 0x1p-8, threads);
    same_loss<Net<Checkpoint<>>>(sums + 100 * 0x1p-23, threads);
  }
  same_loss<Net<Ddp<{.ranks = 2}>>>(sums + 100 * 0x1p-23, 2);
}

TEST_CASE("a wide evaluation between steps changes nothing, and sequences may be short") {
  Trainer<Net<>> calm({.seed = 5, .threads = 1}), busy({.seed = 5, .threads = 1});
  std::vector<int> lengths;
  for (int s = 0; s < 3 * Plan<Net<>>::evaluation_micro + 1; ++s)
    lengths.push_back(1 + s * 7 % context);
  const HostBatch batch = token_batch({16, 9, 16, 4, 5, 16, 1, 16}, words, 2, .2),
                  other = token_batch(lengths, words, 8);
  for (int step = 0; step < 3; ++step) {
    CHECK(applied(calm, batch).loss.sum == applied(busy, batch).loss.sum);
    const Loss all = busy.evaluate(other);
    double sum = 0;
    for (int s = 0; s < other.sequences(); ++s) sum += busy.evaluate(part(other, s, s + 1)).sum;
    CHECK(relative_difference(sum, all.sum) < 1e-5);
    CHECK(parameters_of(calm) == parameters_of(busy));
    CHECK(gradients_of(calm) == gradients_of(busy));
  }
}

}  // namespace
}  // namespace sinter::detail::testing
