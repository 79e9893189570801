// SPDX-License-Identifier: Apache-2.0
// A batch of texts that a trainer reads anew for each token.
#include "sinter/generate/whole_texts.hpp"

#include <doctest/doctest.h>

#include "sinter/error.hpp"
#include "sinter/generate/generate.hpp"
#include "sinter/generate/texts.hpp"
#include "support/text_models.hpp"

namespace sinter::detail::testing::whole_texts_tests {
namespace {

using Tokens = std::vector<std::int32_t>;

/// What follows one text alone.
std::vector<float> alone(TrainerCore& trainer, Tokens text) {
  const std::size_t context = std::size_t(trainer.plan().context);
  if (text.size() > context) text.erase(text.begin(), text.end() - std::ptrdiff_t(context));
  HostBatch batch = sequences_of({int(text.size())});
  batch.ids = {text};
  return trainer.predict(batch).values;
}

void check_near(std::span<const float> got, const std::vector<float>& want) {
  REQUIRE(got.size() == want.size());
  for (std::size_t k = 0; k < want.size(); ++k)
    CHECK(got[k] == doctest::Approx(want[k]).epsilon(1e-5).scale(1));
}

TEST_CASE("a row has the logits of its whole text, wherever it stands") {
  Random<Next> trainer;
  WholeTexts batch(trainer, 6);
  const Tokens first{4, 9, 1}, second{7};
  batch.add({.tokens = first}, 2);
  check_near(batch.logits(0), alone(trainer, first));
  batch.add({.tokens = second}, 3);
  CHECK(batch.rows() == 2);
  check_near(batch.logits(1), alone(trainer, second));
  check_near(batch.logits(0), alone(trainer, first));
  batch.extend(std::vector{0, 0, 1, 1, 1}, Tokens{3, 5, 0, 1, 2});
  CHECK(batch.rows() == 5);
  check_near(batch.logits(1), alone(trainer, {4, 9, 1, 5}));
  check_near(batch.logits(4), alone(trainer, {7, 2}));
  batch.extend(std::vector{3, 2, 3}, Tokens{6, 8, 9});  // the first text has ended
  CHECK(batch.rows() == 3);
  check_near(batch.logits(0), alone(trainer, {7, 1, 6}));
  check_near(batch.logits(1), alone(trainer, {7, 0, 8}));
  batch.add({.tokens = {0, 1, 2, 3, 4, 5, 6}}, 3);  // longer than the context
  check_near(batch.logits(3), alone(trainer, {0, 1, 2, 3, 4, 5, 6}));
  batch.extend({}, {});
  CHECK(batch.rows() == 0);
}

TEST_CASE("a batch refuses what it has no room for, and what is no extension") {
  Random<Next> trainer;
  WholeTexts batch(trainer, 3);
  CHECK_THROWS_AS(WholeTexts(trainer, 0), ArgumentError);
  CHECK_THROWS_AS(batch.add({.tokens = {1}}, 4), ArgumentError);
  CHECK_THROWS_AS(batch.add({.tokens = {}}, 1), ArgumentError);
  CHECK(batch.rows() == 0);
  batch.add({.tokens = {1}}, 2);
  CHECK_THROWS_AS(batch.add({.tokens = {1}}, 2), ArgumentError);
  batch.add({.tokens = {2}});
  CHECK_THROWS_AS(batch.logits(2), ArgumentError);
  CHECK_THROWS_AS(batch.extend(std::vector{0}, Tokens{1, 2}), ArgumentError);
  CHECK_THROWS_AS(batch.extend(std::vector{2}, Tokens{1}), ArgumentError);
  CHECK_THROWS_AS(batch.extend(std::vector{1, 0}, Tokens{1, 1}), ArgumentError);
  CHECK_THROWS_AS(batch.extend(std::vector{0, 0, 0}, Tokens{1, 2, 3}), ArgumentError);
  CHECK(batch.rows() == 2);
  Random<Replies> replies;
  WholeTexts decoder(replies, 1);
  decoder.add({.tokens = {1}, .decoder = Tokens(5, 1)});
  CHECK_THROWS_AS(decoder.extend(std::vector{0}, Tokens{1}), ArgumentError);
}

/// What generate() writes of one text.
Tokens one(TrainerCore& trainer, const GenerationRequest& r) {
  Tokens tokens;
  generate(trainer, r.prompt, r.tokens, r.sampling, [&](std::int32_t t) { tokens.push_back(t); });
  return tokens;
}

template <class R>
void compare_with_one(const std::vector<GenerationRequest>& requests) {
  Random<R> trainer;
  // Draws of a batch's first request are those of generate().
  for (GenerationRequest request : requests)
    CHECK(generate(trainer, {&request, 1})[0][0].tokens == one(trainer, request));
  std::vector<GenerationRequest> greedy = requests;
  for (GenerationRequest& request : greedy) request.sampling.temperature = 0;
  for (int rows : {1, 3, 8}) {
    const auto results = generate(trainer, greedy, {}, rows);
    for (std::size_t k = 0; k < greedy.size(); ++k)
      CHECK(results[k][0].tokens == one(trainer, greedy[k]));
  }
}

TEST_CASE("texts of a batch are those that are written one by one") {
  std::vector<GenerationRequest> requests;
  for (int k = 0; k < 5; ++k)
    requests.push_back({.prompt = {.tokens = Tokens(std::size_t(1 + 2 * k), k), .end = 6},
                        .tokens = 12,
                        .sampling = {.seed = std::uint64_t(k)}});
  compare_with_one<Next>(requests);
  for (int k = 0; k < 5; ++k)
    requests[std::size_t(k)].prompt.decoder = Tokens(std::size_t(1 + k), 2);
  compare_with_one<Replies>(requests);
}

TEST_CASE("beams of an encoder-decoder see their source, and end where the decoder has no room") {
  Random<Replies> trainer;
  const GenerationRequest request{.prompt = {.tokens = {4, 9, 1}, .decoder = {0, 3}},
                                  .tokens = 100,
                                  .results = 3,
                                  .sampling = {.temperature = 0},
                                  .beams = {.beams = 3}};
  const auto texts = generate(trainer, {&request, 1}, {}, 1)[0];
  REQUIRE(texts.size() == 3);
  for (const GeneratedText& text : texts) {
    REQUIRE(text.tokens.size() == 4);
    CHECK(text.end == GenerationEnd::length);
    double sum = 0;
    Tokens reply{0, 3};
    for (std::size_t k = 0; k < 4; ++k) {
      HostBatch batch = sequences_of({int(reply.size())});
      batch.second_starts = {0, 3};
      batch.ids = {{4, 9, 1}, reply};
      const std::vector<float> logits = trainer.predict(batch).values;
      double total = 0;
      for (float logit : logits) total += std::exp(double(logit));
      sum += logits[std::size_t(text.tokens[k])] - std::log(total);
      reply.push_back(text.tokens[k]);
    }
    CHECK(text.score == doctest::Approx(sum / 4).epsilon(1e-4));
  }
}

}  // namespace
}  // namespace sinter::detail::testing::whole_texts_tests
