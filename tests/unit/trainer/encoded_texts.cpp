// SPDX-License-Identifier: Apache-2.0
// What the encoder gives while a loss is computed, in place of what a generator's encoder would.
#include "trainer/encoded_texts.hpp"

#include <doctest/doctest.h>

#include "sinter/error.hpp"
#include "sinter/evaluation/evaluate.hpp"
#include "sinter/generate/generator.hpp"
#include "sinter/metric/bleu.hpp"
#include "sinter/metric/metrics.hpp"
#include "sinter/model/seq2seq.hpp"
#include "sinter/optimizer/adamw.hpp"
#include "sinter/parallel/split_batch.hpp"
#include "support/axes_models.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing::encoded_texts_tests {

struct Letters : TwoContexts {
  static constexpr bool has_replies = true;
};
template <class... Policies>
using Replies =
    Made<Seq2Seq<{.encoder_layers = 2,
                  .decoder_layers = 1,
                  .heads = 2,
                  .width = 16,
                  .hidden = 20,
                  .vocabulary = axes_vocabulary,
                  .positions = 9,
                  .dropout = 0.1}>,
         Letters, Batch<{.global = 4, .micro = 2}>, AdamW<>, Metrics<Bleu>, Policies...>;
using R = Replies<Evaluate<{.examples = 200}>>;
using WritesAll = Replies<Evaluate<>>;

/// Sequences of a batch, each with the text that its encoder reads.
constexpr int sequences = 7;
const std::vector<std::int32_t> texts{1, 2, 3, 8, 7, 6, 5, 1, 4, 4, 0,
                                      3, 2, 8, 8, 1, 2, 1, 5, 6, 7};
const std::vector<std::int32_t> text_starts{0, 3, 6, 7, 11, 13, 18, 21};

HostBatch batch_of_texts() {
  HostBatch batch;
  batch.ids = {texts, {}, {}};
  batch.second_starts = text_starts;
  for (int s = 0; s < sequences; ++s) {
    for (int k = 0; k < 1 + s % 3; ++k) {
      batch.ids[1].push_back(k);
      batch.ids[2].push_back((s + k) % axes_vocabulary);
    }
    batch.starts.push_back(std::int32_t(batch.ids[1].size()));
  }
  return batch;
}
Prompt prompt_of(int s) {
  return {.tokens{texts.begin() + text_starts[std::size_t(s)],
                  texts.begin() + text_starts[std::size_t(s) + 1]},
          .decoder = {1}};
}

/// A trainer, a generator with its weights, and what the encoder gives for a batch.
struct Encoded {
  Trainer<R> trainer{{.seed = 1, .threads = 2}};
  Generator<R> generator{{.threads = 2}};
  HostBatch batch = batch_of_texts();
  EncodedTexts encoded;

  explicit Encoded(std::int64_t most = EncodedTexts::most_bytes) : encoded(trainer, most) {
    randomise(trainer, 5, 1);
    trainer.give_weights(generator.weights());
  }
  std::vector<float> logits(int row) {
    const std::span<const float> all = generator.logits(row);
    return {all.begin(), all.end()};
  }
};

TEST_CASE("the rows of each text are those that the generator's encoder gives") {
  Encoded e;
  (void)e.encoded.evaluate(e.batch);
  for (int s = 0; s < sequences; ++s) {
    const std::vector<std::byte> rows = e.encoded.take(e.batch, s);
    REQUIRE(rows.size() == prompt_of(s).tokens.size() * 16 * sizeof(float));
    e.generator.add(prompt_of(s));
    const std::vector<float> want = e.logits(0);
    e.generator.clear();
    e.generator.add_encoded(prompt_of(s), 1, rows);
    const std::vector<float> found = e.logits(0);
    e.generator.clear();
    for (std::size_t k = 0; k < want.size(); ++k)
      CHECK(found[k] == doctest::Approx(want[k]).epsilon(1e-4));
  }
}

TEST_CASE("a text is read by the rows that are given, whatever stands beside it") {
  Encoded e;
  (void)e.encoded.evaluate(e.batch);
  const std::vector<std::byte> second = e.encoded.take(e.batch, 1);
  e.generator.add_encoded(prompt_of(1), 1, second);
  const std::vector<float> want = e.logits(0);
  e.generator.clear();
  // The first text has as many tokens; the others are read by the encoder.
  e.generator.add(prompt_of(3));
  e.generator.add_encoded(prompt_of(0), 2, second);
  e.generator.add_encoded(prompt_of(1), 1, second);
  e.generator.add(prompt_of(0));
  CHECK(e.logits(1) == want);
  CHECK(e.logits(2) == want);
  CHECK(e.logits(3) != want);
  // Hypotheses and later tokens go on with them.
  const std::vector<int> parents{0, 1, 1, 2, 3};
  const std::vector<std::int32_t> tokens{2, 2, 2, 2, 2};
  e.generator.extend(parents, tokens);
  CHECK(e.logits(1) == e.logits(2));
  CHECK(e.logits(1) == e.logits(3));
  CHECK(e.logits(1) != e.logits(4));
}

TEST_CASE("an evaluation that keeps rows has the same loss, and stays unobserved") {
  Encoded e;
  const double want = e.trainer.evaluate(e.batch).mean();
  CHECK(e.encoded.evaluate(e.batch).mean() == want);
  CHECK(!e.trainer.is_observed());
  e.batch.ids[1][0] = axes_vocabulary;
  CHECK_THROWS_AS((void)e.encoded.evaluate(e.batch), ArgumentError);
  CHECK(!e.trainer.is_observed());
}

TEST_CASE("no more bytes are taken than allowed") {
  constexpr std::int64_t row = 16 * sizeof(float);
  Encoded e(8 * row);
  (void)e.encoded.evaluate(e.batch);
  CHECK(std::ssize(e.encoded.take(e.batch, 0)) == 3 * row);
  CHECK(std::ssize(e.encoded.take(e.batch, 3)) == 4 * row);
  CHECK(e.encoded.take(e.batch, 1).empty());
  CHECK(std::ssize(e.encoded.take(e.batch, 2)) == row);
  (void)e.encoded.evaluate(e.batch);
  CHECK(e.encoded.take(e.batch, 2).empty());
}

TEST_CASE("rows of another size are refused") {
  Encoded e;
  const std::vector<std::byte> rows(3 * 16 * sizeof(float) - 1);
  CHECK_THROWS_WITH_AS(e.generator.add_encoded(prompt_of(0), 1, rows),
                       doctest::Contains("191 bytes of what an encoder gives"), ArgumentError);
  CHECK(e.generator.rows() == 0);
}

TEST_CASE("what an encoder gives is known where one rank has it and the generator has the same") {
  const std::shared_ptr<RecipeView> one = Trainer<R>::options();
  CHECK(EncodedTexts::are_known(*one));
  CHECK(!EncodedTexts::are_known(
      *Trainer<Replies<Evaluate<{.examples = 200}>, SplitBatch<{.ranks = 2}>>>::options()));
  one->skips_generation = true;
  CHECK(!EncodedTexts::are_known(*one));
  CHECK(reply_bytes(*one) == 0);
}

TEST_CASE("the bytes of replies are those of the generator, of kept rows and of a micro-batch") {
  constexpr std::int64_t row = 16 * sizeof(float), of_200 = 200 * 9;
  const std::shared_ptr<RecipeView> one = Trainer<R>::options();
  const std::int64_t of_a_batch = one->plan->evaluation_micro * 9;
  CHECK(reply_bytes(*one) == one->reply_plan()->memory.total + (of_200 + of_a_batch) * row);
  const std::shared_ptr<RecipeView> all = Trainer<WritesAll>::options();
  CHECK(EncodedTexts::bytes_of(*all) == EncodedTexts::most_bytes + of_a_batch * row);
}

}  // namespace sinter::detail::testing::encoded_texts_tests
