// SPDX-License-Identifier: Apache-2.0
// A token behind the first ones takes no memory, neither in a generator nor in the choice of the token, by
// beams or not; and little is planned beside weights and caches.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

#include "sinter/generate/generator.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/optimizer/sgd.hpp"
#include "sinter/precision/bf16.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"

namespace {
std::atomic<std::int64_t> taken{0};  // how often memory was asked for
}  // namespace

void* operator new(std::size_t bytes) {
  ++taken;
  if (void* memory = std::malloc(bytes ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  ++taken;
  const auto multiple = std::size_t(alignment);
  if (void* memory = std::aligned_alloc(multiple, (bytes + multiple - 1) / multiple * multiple))
    return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace sinter::detail::testing {
namespace {

constexpr int vocabulary = 50, context = 64;
using Texts = Made<
    Gpt2<{.layers = 2, .heads = 2, .width = 16, .vocabulary = vocabulary, .positions = context}>,
    UpTo<context, vocabulary>, Sgd<>, Batch<{.global = 2, .micro = 2}>, Generation<{.rows = 4}>>;

/// A generator with weights by chance, and prompts of 3, 4, … tokens.
struct Begun {
  Generator<Texts> generator{{.seed = 1, .threads = 2}};

  Begun() { randomise(generator.weights(), 5, 1); }
  static Prompt prompt(int number) {
    Prompt prompt;
    for (int k = 0; k < 3 + number; ++k) prompt.tokens.push_back((7 * number + k) % vocabulary);
    return prompt;
  }
  /// How often memory is asked for while texts are extended.
  template <class Next>
  std::int64_t taken_by(int tokens, Next next) {
    std::int64_t before = 0;
    for (int step = 0; step < tokens; ++step) {
      if (step == 2) before = taken;
      next(step);
    }
    return taken - before;
  }
};

/// GPT-2 124M.
template <class... Policies>
using Large =
    Made<Gpt2<{.layers = 12, .heads = 12, .width = 768, .vocabulary = 50257, .positions = 1024}>,
         UpTo<1024, 50257>, Sgd<>, Batch<{.global = 1, .micro = 1}>, Policies...>;
/// True if no more than weights and caches is planned, and 15 %.
template <class R>
constexpr bool plans_little() {
  constexpr Memory planned = GenerationPlan<R>::memory;
  return planned.total <= (planned.parameters + planned.cache) * 115 / 100;
}
static_assert(plans_little<Large<>>() && plans_little<Large<Generation<{.rows = 1}>>>());
static_assert(plans_little<Large<Bf16, Generation<{.rows = 1}>>>());

TEST_CASE("the count sees memory that is asked for") {
  const std::int64_t before = taken;
  std::vector<int> some(10, 1);
  CHECK(taken == before + 1);
  CHECK(some[9] == 1);
}

TEST_CASE("rows that go on take no memory") {
  Begun begun;
  for (int text = 0; text < 3; ++text) begun.generator.add(Begun::prompt(text));
  const std::vector<int> parents{0, 1, 2};
  std::vector<std::int32_t> tokens{1, 2, 3};
  CHECK(begun.taken_by(40, [&](int step) {
    for (std::int32_t& token : tokens) token = (token + step) % vocabulary;
    begun.generator.extend(parents, tokens);
  }) == 0);
}

TEST_CASE("hypotheses that branch and end take no memory") {
  Begun begun;
  begun.generator.add(Begun::prompt(0), 3);
  begun.generator.add(Begun::prompt(1));
  const std::vector<int> first{0, 0, 0, 1}, even{0, 0, 2, 3}, odd{1, 2, 2, 3};
  const std::vector<std::int32_t> tokens{1, 2, 3, 4};
  begun.generator.extend(first, tokens);
  CHECK(begun.taken_by(
            40, [&](int step) { begun.generator.extend(step % 2 ? odd : even, tokens); }) == 0);
}

/// How often memory is asked for from the fourth token of each text on.
std::int64_t taken_by_texts(const SamplingOptions& options) {
  Begun begun;
  std::vector<GenerationRequest> requests;
  for (int text = 0; text < 3; ++text)
    requests.push_back({.prompt = Begun::prompt(text), .tokens = 40, .sampling = options});
  std::int64_t first = 0, last = 0;
  int written = 0;
  const GenerationHooks hooks{.on_token = [&](const WrittenToken&) {
    ++written;
    if (written == 3 * 3) first = taken;
    if (written == 3 * 40 - 3) last = taken;  // results are made behind it
    return true;
  }};
  (void)generate(begun.generator, requests, hooks);
  CHECK(written == 3 * 40);
  return last - first;
}

TEST_CASE("the choice of a token takes no memory, whatever the rules") {
  CHECK(taken_by_texts({.temperature = 0}) == 0);
  CHECK(taken_by_texts({.temperature = 0.8, .top_k = 20, .seed = 1}) == 0);
  CHECK(taken_by_texts({.seed = 2, .top_p = 0.9, .min_p = 0.01}) == 0);
  CHECK(taken_by_texts({.seed = 3, .typical_p = 0.7}) == 0);
  CHECK(taken_by_texts({.seed = 4,
                        .sequence_bias = {{{1, 2}, 1.5}},
                        .repetition_penalty = 1.2,
                        .frequency_penalty = 0.3,
                        .presence_penalty = 0.2,
                        .no_repeat_ngram = 5,
                        .bad_words = {{3, 4}},
                        .suppressed = {5}}) == 0);
}

/// How often memory is asked for by a token of two beam searches at once.
std::int64_t taken_by_beams(const SamplingOptions& options, const BeamOptions& beams) {
  Begun begun;
  std::vector<GenerationRequest> requests;
  for (int text = 0; text < 2; ++text)
    requests.push_back({.prompt = Begun::prompt(text),
                        .tokens = 50,
                        .results = 2,
                        .sampling = options,
                        .beams = beams});
  // Each text may end, and others go on.
  for (GenerationRequest& request : requests) request.prompt.end = 9;
  std::int64_t first = 0, last = 0;
  int tokens = 0;
  const GenerationHooks hooks{.goes_on = [&] {
    ++tokens;
    if (tokens == 4) first = taken;
    if (tokens == 45) last = taken;
    return true;
  }};
  (void)generate(begun.generator, requests, hooks);
  CHECK(tokens >= 45);
  return last - first;
}

TEST_CASE("a beam search takes no memory for a token, whatever the rules") {
  constexpr BeamOptions beams{.beams = 2, .early_stopping = BeamStopping::never, .exponent = 3};
  CHECK(taken_by_beams({.temperature = 0}, beams) == 0);
  CHECK(taken_by_beams({.temperature = 0, .repetition_penalty = 1.2, .no_repeat_ngram = 3},
                       beams) == 0);
  CHECK(taken_by_beams({.seed = 1}, beams) == 0);
  CHECK(taken_by_beams({.temperature = 0.9, .top_k = 9, .seed = 2, .top_p = 0.9}, beams) == 0);
  CHECK(taken_by_beams({.seed = 3, .typical_p = 0.7}, beams) == 0);
}

}  // namespace
}  // namespace sinter::detail::testing
