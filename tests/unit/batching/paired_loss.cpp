// SPDX-License-Identifier: Apache-2.0
// However pairs of sequences are put into batches, they have the same loss.
#include <doctest/doctest.h>

#include "sinter/curriculum/length_warmup.hpp"
#include "sinter/data/dialogue_pairs.hpp"
#include "sinter/data/example_source.hpp"
#include "sinter/layer/attention.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/recipe/plan.hpp"
#include "sinter/recipe/recipe.hpp"
#include "sinter/trainer/trainer.hpp"
#include "support/batchings.hpp"
#include "support/reply_model.hpp"

namespace sinter::detail::testing::paired_loss_tests {

constexpr int most = 16;
using Data = DialoguePairs<{.text = 40, .label = 24}>;
using Steps = Batch<{.global = most, .micro = 4}>;
struct one_rank : Recipe<Replier<258>, Data, Steps> {};
struct two_ranks : Recipe<Replier<258>, Data, Steps, Ddp<{.ranks = 2}>> {};
struct growing : Recipe<Replier<258>, Data, Steps, LengthWarmup<{.from = 8, .sequences = 64}>> {};
static_assert(ready<one_rank>() && ready<two_ranks>() && ready<growing>());

/// An encoder may see both sides: none of its rows is predicted.
struct Encode {
  static constexpr Value<8> trace(auto& g, Ids tokens) {
    auto qkv = g("qkv", Linear<8, 24>{}, g("table", Embedding<258, 8>{}, tokens));
    return g("see", SelfAttention<8, 2>{}, qkv);
  }
};
struct Attentive {
  using slot = slot::model;
  static constexpr void trace(auto& g) {
    auto source = g.tokens(1), said = g.tokens(0), targets = g.targets(0);
    auto x = g.unit("decoder", Replier<258>::Embed{}, said),
         y = g.unit("encoder", Encode{}, source);
    auto mixed = g.unit("mix", Replier<258>::Mix{}, x, y);
    g.result(g.unit("head", Replier<258>::Head{}, mixed, targets));
  }
};
struct attentive : Recipe<Attentive, Data, Steps> {};
static_assert(ready<attentive>());

PairedExamples random_dialogues(std::uint64_t seed, int count) {
  return with_random_dialogues(PairedExamples(byte_tokenizer(), {.text = 40, .label = 24}), seed,
                               count);
}

TEST_CASE("pairs have the same loss in all batchings, over the same number of predictions") {
  const PairedExamples set = random_dialogues(1, 40);
  Trainer<attentive> trainer({.seed = 1, .threads = 2});
  Loss whole;
  EvaluationExamples each(set, {0, set.size()}, 1);
  HostBatch batch;
  while (each.next(batch)) whole += trainer.evaluate(batch);
  CHECK(whole.count == set.figures().label_tokens);
  for (const Batching& batching : all_batchings(most)) {
    if (!batching.arrange) continue;  // batches of theirs are of two epochs at the end
    CAPTURE(batching.order);
    ExampleBatches source = source_of(set, batching, most);
    Loss loss;
    while (source.state().epoch == 0) {
      source.next(batch);
      loss += trainer.evaluate(batch);
    }
    CHECK(loss.count == whole.count);
    CHECK(loss.mean() == doctest::Approx(whole.mean()).epsilon(1e-6));
  }
}

TEST_CASE("steps on padded pairs are those on packed ones, to rounding") {
  const PairedExamples set = random_dialogues(2, 60);
  Trainer<attentive> packed({.seed = 1, .threads = 2}), padded({.seed = 1, .threads = 2});
  ExampleBatches a = source_of(set, Packed::batching(most), most);
  ExampleBatches b = source_of(set, Padded::batching(most), most);
  HostBatch batch;
  for (int step = 0; step < 6; ++step) {
    a.next(batch);
    const auto of_packed = std::get<Applied>(packed.step(batch));
    const int rows = batch.rows(), second = batch.rows_of(1);
    b.next(batch);
    CHECK(batch.rows() > rows);
    CHECK(batch.rows_of(1) > second);
    const auto of_padded = std::get<Applied>(padded.step(batch));
    CHECK(of_packed.loss.count == of_padded.loss.count);
    CHECK(of_packed.loss.mean() == doctest::Approx(of_padded.loss.mean()).epsilon(1e-5));
    CHECK(of_packed.gradient_norm == doctest::Approx(of_padded.gradient_norm).epsilon(1e-4));
  }
}

TEST_CASE("every batching trains on pairs, also with batches smaller than there are ranks") {
  const PairedExamples set = random_dialogues(3, 20);
  for (const Batching& batching : all_batchings(most)) {
    CAPTURE(batching.order);
    Trainer<two_ranks> trainer({.seed = 1, .threads = 2});
    ExampleBatches source = source_of(set, batching, most, trainer.recipe().ranks());
    HostBatch batch;
    double first = 0, last = 0;
    for (int step = 0; step < 40; ++step) {
      source.next(batch);
      const auto applied = std::get<Applied>(trainer.step(batch));
      (step == 0 ? first : last) = applied.loss.mean();
    }
    CHECK(last < first);
  }
}

TEST_CASE("pairs that grow are short on both axes, and whole in the end") {
  const PairedExamples set = random_dialogues(4, 60);
  Trainer<growing> trainer({.seed = 1, .threads = 2});
  ExampleBatches source(set, {0, set.size()},
                        {.sequences = most, .shapes = trainer.recipe().batch_shapes()});
  HostBatch batch;
  source.next(batch);
  for (std::size_t s = 0; s + 1 < batch.starts.size(); ++s) {
    CHECK(batch.starts[s + 1] - batch.starts[s] <= 8);
    CHECK(batch.second_starts[s + 1] - batch.second_starts[s] <= 14);  // 40 · 8 / 24, rounded up
  }
  int longest = 0, second = 0;
  for (int step = 0; step < 20; ++step) {
    (void)trainer.step(batch);
    for (std::size_t s = 0; s + 1 < batch.starts.size(); ++s) {
      longest = std::max(longest, batch.starts[s + 1] - batch.starts[s]);
      second = std::max(second, batch.second_starts[s + 1] - batch.second_starts[s]);
    }
    source.next(batch);
  }
  CHECK(longest == 24);
  CHECK(second == 40);
}

}  // namespace sinter::detail::testing::paired_loss_tests
