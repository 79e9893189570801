// SPDX-License-Identifier: Apache-2.0
// What generate() writes behind prompts, without and with an encoder.
#include <doctest/doctest.h>

#include "sinter/error.hpp"
#include "sinter/generate/generate.hpp"
#include "support/text_models.hpp"

namespace sinter::detail::testing::text_tests {
namespace {

using Tokens = std::vector<std::int32_t>;
constexpr SamplingOptions likeliest{.temperature = 0};

Tokens written(TrainerCore& trainer, const Prompt& prompt, std::int64_t count,
               const SamplingOptions& options = likeliest) {
  Tokens tokens;
  generate(trainer, prompt, count, options, [&](std::int32_t token) { tokens.push_back(token); });
  return tokens;
}

/// The likeliest token behind what a decoder has read of a reply.
std::int32_t next(TrainerCore& trainer, const Tokens& source, const Tokens& reply) {
  HostBatch batch = sequences_of({int(reply.size())});
  batch.second_starts = {0, int(source.size())};
  batch.ids = {source, reply};
  return sample(trainer.predict(batch).values, likeliest, 0);
}

std::string refusal(TrainerCore& trainer, const Prompt& prompt) {
  try {
    written(trainer, prompt, 1);
    return "";
  } catch (const ArgumentError& error) {
    return error.what();
  }
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

TEST_CASE("a decoder writes what its source makes likeliest, up to its context") {
  Random<Replies> trainer;
  const Tokens source{4, 9, 1, 0, 7, 7, 2, 10, 3};
  Tokens reply{8, 2};
  const Tokens found = written(trainer, {.tokens = source, .decoder = reply}, 100);
  // It reads 5 tokens at most, and the last one that it writes it has not read.
  REQUIRE(found.size() == 4);
  for (std::int32_t token : found) {
    CHECK(token == next(trainer, source, reply));
    reply.push_back(token);
  }
  CHECK(written(trainer, {.tokens = source, .decoder = {8, 2}}, 3).size() == 3);
}

TEST_CASE("a decoder's text hangs on all of its source, and on what it begins with") {
  Random<Replies> trainer;
  const SamplingOptions drawn{.seed = 5};
  std::map<Tokens, int> texts;
  for (std::int32_t first = 0; first < axes_vocabulary; ++first) {
    ++texts[written(trainer, {.tokens = {first, 1, 1}, .decoder = {0}}, 5, drawn)];
    ++texts[written(trainer, {.tokens = {1, 1, 1}, .decoder = {first}}, 5, drawn)];
  }
  CHECK(texts.size() > 4);
}

TEST_CASE("the end of a reply ends it, and is not given") {
  Random<Replies> trainer;
  const Prompt open{.tokens = {4, 9, 1}, .decoder = {0}};
  const Tokens all = written(trainer, open, 100, {.seed = 2});
  REQUIRE(all.size() == 5);
  Prompt closed = open;
  closed.end = all[2];
  const auto first = std::find(all.begin(), all.end(), closed.end);
  CHECK(written(trainer, closed, 100, {.seed = 2}) == Tokens(all.begin(), first));
}

TEST_CASE("why a text ended is told, and any of several tokens ends it") {
  Random<Next> trainer;
  auto none = [](std::int32_t) {};
  Prompt prompt{.tokens = {4, 9, 1}};
  const Tokens all = written(trainer, prompt, 30, {.seed = 2});
  CHECK(generate(trainer, prompt, 30, {.seed = 2}, none) == GenerationEnd::length);
  prompt.end = all[7];
  prompt.more_ends = {-1, all[4], all[9]};
  const auto first = std::find_if(
      all.begin(), all.end(), [&](auto t) { return t == all[4] || t == all[7] || t == all[9]; });
  CHECK(written(trainer, prompt, 30, {.seed = 2}) == Tokens(all.begin(), first));
  CHECK(generate(trainer, prompt, 30, {.seed = 2}, none) == GenerationEnd::end_of_text);
  CHECK(generate(trainer, prompt, first - all.begin(), {.seed = 2}, none) == GenerationEnd::length);
  Random<Replies> replies;
  CHECK(generate(replies, {.tokens = {4, 9, 1}, .decoder = {0}}, 100, {.seed = 2}, none) ==
        GenerationEnd::length);
}

TEST_CASE("a text goes on behind the last tokens that fit, however long it is") {
  Random<Next> trainer;
  const Tokens beginning{4, 9, 1, 0, 7, 7, 2};
  const Tokens found = written(trainer, {.tokens = beginning}, 20);
  CHECK(found.size() == 20);
  CHECK(written(trainer, {.tokens = {1, 0, 7, 7, 2}}, 20) == found);
  Tokens as_text;
  generate(trainer, beginning, 20, likeliest, [&](std::int32_t t) { as_text.push_back(t); });
  CHECK(as_text == found);
}

TEST_CASE("a prompt for another kind of model is refused, and one that is too long") {
  Random<Replies> replies;
  Random<Next> next;
  CHECK(has(refusal(replies, {.tokens = {1}}), "does not say what its decoder begins with"));
  CHECK(has(refusal(next, {.tokens = {1}, .decoder = {1}}), "has no encoder"));
  CHECK(has(refusal(replies, {.tokens = {}, .decoder = {1}}), "There is no token"));
  CHECK(has(refusal(replies, {.tokens = Tokens(10, 1), .decoder = {1}}),
            "10 tokens for the encoder, and the recipe's second_context is 9"));
  CHECK(has(refusal(replies, {.tokens = {1}, .decoder = Tokens(6, 1)}),
            "6 tokens for the decoder, and the recipe's context is 5"));
  CHECK(refusal(replies, {.tokens = Tokens(9, 1), .decoder = Tokens(5, 1)}).empty());
}

}  // namespace
}  // namespace sinter::detail::testing::text_tests
