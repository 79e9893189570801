// SPDX-License-Identifier: Apache-2.0
// However examples are put into batches, they have the same loss.
#include <doctest/doctest.h>

#include "sinter/data/dialogue.hpp"
#include "sinter/data/example_source.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/recipe/plan.hpp"
#include "sinter/recipe/recipe.hpp"
#include "sinter/trainer/trainer.hpp"
#include "support/batchings.hpp"

namespace sinter::detail::testing::loss_tests {

constexpr int most = 24;
using Model = Gpt2<{.layers = 2, .heads = 2, .width = 16, .vocabulary = 258, .positions = 64}>;
using Data = Dialogue<{.text = 40, .label = 24}>;
struct one_rank : Recipe<Model, Data, Batch<{.global = most, .micro = 4}>> {};
struct two_ranks : Recipe<Model, Data, Batch<{.global = most, .micro = 4}>, Ddp<{.ranks = 2}>> {};

ExampleSet random_dialogues(std::uint64_t seed, int count) {
  return with_random_dialogues(ExampleSet(byte_tokenizer(), {.context = 40, .label = 24}), seed,
                               count);
}

TEST_CASE("an epoch has the same loss in all batchings, over the same number of predictions") {
  const ExampleSet set = random_dialogues(1, 2 * most);  // a whole number of batches is not needed
  Trainer<one_rank> trainer({.seed = 1, .threads = 2});
  std::optional<Loss> first;
  for (const Batching& batching : all_batchings(most)) {
    CAPTURE(batching.order);
    ExampleBatches source = source_of(set, batching, most);
    Loss loss;
    HostBatch batch;
    std::uint64_t left = std::uint64_t(set.size());
    while (source.state().epoch == 0 && left > 0) {
      source.next(batch);
      if (source.state().epoch > 0 && source.state().position > 0) {  // some are of the next epoch
        ExampleBatches tail(set, {0, set.size()},
                            {.sequences = int(left), .seed = 1, .batching = batching});
        SamplerState state = tail.state();
        state.position = std::uint64_t(set.size()) - left;
        tail.restore(state);
        tail.next(batch);
        REQUIRE(batch.sequences() == int(left));
      }
      left -= std::uint64_t(batch.sequences());
      loss += trainer.evaluate(batch);
    }
    CHECK(loss.count == set.figures().label_tokens);
    if (!first) first = loss;
    CHECK(loss.mean() == doctest::Approx(first->mean()).epsilon(1e-6));
  }
}

TEST_CASE("steps on padded batches are those on packed ones, to rounding") {
  const ExampleSet set = random_dialogues(2, 60);
  Trainer<one_rank> packed({.seed = 1, .threads = 2}), padded({.seed = 1, .threads = 2});
  ExampleBatches a = source_of(set, Packed::batching(most), most);
  ExampleBatches b = source_of(set, Padded::batching(most), most);
  HostBatch batch;
  for (int step = 0; step < 6; ++step) {
    a.next(batch);
    const auto of_packed = std::get<Applied>(packed.step(batch));
    b.next(batch);
    const auto of_padded = std::get<Applied>(padded.step(batch));
    CHECK(of_packed.loss.count == of_padded.loss.count);
    CHECK(of_packed.loss.mean() == doctest::Approx(of_padded.loss.mean()).epsilon(1e-5));
    CHECK(of_packed.gradient_norm == doctest::Approx(of_padded.gradient_norm).epsilon(1e-4));
  }
}

TEST_CASE("every batching trains, also with batches smaller than there are ranks") {
  const ExampleSet set = random_dialogues(3, 20);
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

}  // namespace sinter::detail::testing::loss_tests
