// SPDX-License-Identifier: Apache-2.0
// Texts that are continued with caches, against predictions of whole texts.
#include "sinter/generate/generator.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "sinter/error.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/model/llama.hpp"
#include "sinter/model/seq2seq.hpp"
#include "sinter/optimizer/sgd.hpp"
#include "sinter/precision/bf16.hpp"
#include "sinter/precision/fp64.hpp"
#include "support/generators.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing {
namespace {

constexpr int tokens_of_all = 23;
using Tokens = std::vector<std::int32_t>;
template <class Model, class... Policies>
using Texts =
    Made<Model, UpTo<40, tokens_of_all>, Sgd<>, Batch<{.global = 2, .micro = 2}>, Policies...>;
template <class Model, class... Policies>
using Pairs = Made<Model, UpToBoth<40, 30, tokens_of_all>, Sgd<>, Batch<{.global = 2, .micro = 2}>,
                   Policies...>;

template <class... Policies>
using OfGpt2 = Texts<
    Gpt2<{.layers = 2, .heads = 2, .width = 16, .vocabulary = tokens_of_all, .positions = 40}>,
    Policies...>;
/// Heads share keys, and rows see the nearest 6; not a multiple of a block of the cache.
using OfLlama = Texts<Llama<{.layers = 2,
                             .heads = 4,
                             .kv_heads = 2,
                             .width = 24,
                             .hidden = 20,
                             .vocabulary = tokens_of_all,
                             .positions = 40,
                             .window = 6}>,
                      Fp64, Generation<{.rows = 3}>>;
template <Positions P>
using OfPairs = Pairs<Seq2Seq<{.encoder_layers = 1,
                               .decoder_layers = 2,
                               .heads = 2,
                               .width = 16,
                               .hidden = 20,
                               .vocabulary = tokens_of_all,
                               .positions = 40,
                               .position = P,
                               .dropout = 0}>,
                      Fp64>;

bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

/// A trainer, and a generator with its weights.
template <class R>
struct Both {
  Trainer<R> trainer{{.seed = 1, .threads = 2}};
  Generator<R> generator{{.threads = 2}};

  Both() {
    randomise(trainer, 5, 1);
    for (const Parameter& p : trainer.parameters())
      generator.weights().set_parameter(p.name, trainer.parameter(p.name));
  }
  /// error_of_logits() of a row.
  double error(int row, const Tokens& text, const Tokens& source = {}) {
    return error_of_logits(trainer, generator, row, text, source);
  }
};

Tokens random_text(std::size_t length, unsigned seed) {
  return testing::random_text(length, seed, tokens_of_all);
}

/// The largest error while a text of `length` tokens grows to its whole context.
template <class R>
double worst_of_growth(std::size_t length, const Tokens& source = {}) {
  Both<R> both;
  Tokens text = random_text(length, 7);
  both.generator.add(source.empty() ? Prompt{.tokens = text}
                                    : Prompt{.tokens = source, .decoder = text});
  double worst = both.error(0, text, source);
  while (text.size() < 40) {
    const int parent = 0;
    text.push_back(std::int32_t(text.size() * 5 % tokens_of_all));
    both.generator.extend({&parent, 1}, {&text.back(), 1});
    worst = std::max(worst, both.error(0, text, source));
  }
  return worst;
}

// Logits of the largest size 1 are sums of some hundred products, in float and in double.
TEST_CASE("a text that grows has the logits of the whole text") {
  CHECK(worst_of_growth<OfGpt2<>>(1) < 1e-4);
  CHECK(worst_of_growth<OfGpt2<Fp64>>(17) < 1e-6);  // logits are floats
  CHECK(worst_of_growth<OfLlama>(1) < 1e-6);
  CHECK(worst_of_growth<OfLlama>(33) < 1e-6);
}
TEST_CASE("a long prompt is read in parts") {
  using Long = Made<Llama<{.layers = 1,
                           .heads = 2,
                           .width = 16,
                           .hidden = 12,
                           .vocabulary = tokens_of_all,
                           .positions = 600,
                           .window = 20}>,
                    UpTo<600, tokens_of_all>, Sgd<>, Batch<{.global = 1, .micro = 1}>, Fp64>;
  static_assert(GenerationPlan<Long>::prefill_rows == 256);
  // Of a window of 20 and a part of 256 rows, and not of 600: 8 texts' keys and values, 16 wide, in doubles.
  constexpr int ring = 288;
  static_assert(GenerationPlan<Long>::memory.cache == 8 * ring * 2 * 16 * 8);
  Both<Long> both;
  Tokens text = random_text(590, 5);
  both.generator.add({.tokens = text});
  CHECK(both.error(0, text) < 1e-6);
  for (const std::int32_t token : {1, 2, 3}) {
    const int parent = 0;
    text.push_back(token);
    both.generator.extend({&parent, 1}, {&token, 1});
    CHECK(both.error(0, text) < 1e-6);
  }
}
TEST_CASE("weights and caches of a narrow type err by its roundings") {
  CHECK(worst_of_growth<OfGpt2<Bf16>>(9) < 0.05);
  using Plan = GenerationPlan<OfGpt2<Bf16>>;
  CHECK(Plan::memory.parameters < GenerationPlan<OfGpt2<>>::memory.parameters * 0.51);
  CHECK(Plan::memory.cache * 2 == GenerationPlan<OfGpt2<>>::memory.cache);
}
TEST_CASE("a reply that grows has the logits of the whole reply to its source") {
  CHECK(worst_of_growth<OfPairs<Positions::sinusoidal>>(1, random_text(30, 2)) < 1e-6);
  CHECK(worst_of_growth<OfPairs<Positions::learned>>(1, random_text(1, 2)) < 1e-6);
  CHECK(worst_of_growth<OfPairs<Positions::learned>>(37, random_text(11, 2)) < 1e-6);
}

TEST_CASE("logits of a text stay while another one is read") {
  const auto stays = []<class R>(std::type_identity<R>) {
    Both<R> both;
    both.generator.add({.tokens = random_text(5, 1)});
    const int parent = 0;
    const std::int32_t token = 3;
    both.generator.extend({&parent, 1}, {&token, 1});
    const auto logits = [&] {
      const std::span<const float> now = both.generator.logits(0);
      return std::vector<float>(now.begin(), now.end());
    };
    both.generator.logits(0)[2] = 77;  // as one may
    const std::vector<float> before = logits();
    both.generator.add({.tokens = random_text(9, 2)});
    const std::span<const float> other = both.generator.logits(1);
    CHECK(logits() == before);
    CHECK(!std::ranges::equal(before, other));
  };
  stays(std::type_identity<OfGpt2<>>());
  stays(std::type_identity<OfGpt2<Bf16>>());
}

TEST_CASE("texts of different lengths do not change each other, and end one by one") {
  Both<OfLlama> both;
  std::vector<Tokens> texts{random_text(3, 1), random_text(20, 2), random_text(9, 3)};
  for (const Tokens& text : texts) both.generator.add({.tokens = text});
  for (int step = 0; step < 12; ++step) {
    std::vector<int> parents;
    Tokens next;
    if (step == 4) {  // the first one ends, and another begins in its place
      texts.erase(texts.begin());
      for (int k : {1, 2}) parents.push_back(k), next.push_back(k);
    } else {
      for (int k = 0; k < int(texts.size()); ++k) parents.push_back(k), next.push_back(3 * k);
    }
    for (std::size_t k = 0; k < texts.size(); ++k) texts[k].push_back(next[k]);
    both.generator.extend(parents, next);
    if (step == 4) {
      texts.push_back(random_text(14, 4));
      both.generator.add({.tokens = texts.back()});
    }
    REQUIRE(both.generator.rows() == int(texts.size()));
    for (int k = 0; k < int(texts.size()); ++k) CHECK(both.error(k, texts[std::size_t(k)]) < 1e-6);
  }
}

/// The largest error of texts of these lengths that are added together, and of what follows them.
template <class R>
double worst_of_added(const std::vector<std::size_t>& lengths, std::size_t sources = 0) {
  Both<R> both;
  std::vector<Tokens> texts, read;
  std::vector<int> parents;
  Tokens next;
  for (const std::size_t length : lengths) {
    const auto k = unsigned(texts.size());
    texts.push_back(random_text(length, k));
    read.push_back(random_text(sources > 0 ? 1 + (k * 7 + sources) % sources : 0, k + 50));
    both.generator.add(sources > 0 ? Prompt{.tokens = read[k], .decoder = texts[k]}
                                   : Prompt{.tokens = texts[k]});
    parents.push_back(int(k));
    next.push_back(std::int32_t(k % tokens_of_all));
  }
  double worst = 0;
  const auto look = [&] {
    for (std::size_t k = 0; k < texts.size(); ++k)
      worst = std::max(worst, both.error(int(k), texts[k], read[k]));
  };
  look();
  both.generator.extend(parents, next);
  for (std::size_t k = 0; k < texts.size(); ++k) texts[k].push_back(next[k]);
  look();
  return worst;
}

TEST_CASE("texts that are added together are read together, as each would be alone") {
  CHECK(worst_of_added<OfGpt2<Fp64>>({3, 39, 1, 38, 39, 39, 39, 39}) < 1e-6);
  CHECK(worst_of_added<OfLlama>({39, 1, 20}) < 1e-6);
  CHECK(worst_of_added<OfPairs<Positions::learned>>({1, 39, 1, 1, 9, 17, 2, 1}, 30) < 1e-6);
  using Wide = Texts<
      Gpt2<{.layers = 1, .heads = 2, .width = 16, .vocabulary = tokens_of_all, .positions = 40}>,
      Fp64, Generation<{.rows = 40}>>;
  static_assert(GenerationPlan<Wide>::prefill_texts == 16);
  CHECK(worst_of_added<Wide>(std::vector<std::size_t>(40, 13)) < 1e-6);
}

/// Grows hypotheses of one text or of two, as a beam search does, from random parents.
template <class R>
double worst_of_branches(const Tokens& source = {}) {
  Both<R> both;
  std::mt19937 engine(3);
  std::vector<Tokens> texts{random_text(5, 1)};
  both.generator.add(
      source.empty() ? Prompt{.tokens = texts[0]} : Prompt{.tokens = source, .decoder = texts[0]},
      3);
  double worst = 0;
  for (int step = 0; step < 30; ++step) {
    std::vector<int> parents;
    Tokens next;
    std::vector<Tokens> grown;
    for (int k = 0; k < (step % 7 == 6 ? 2 : 3); ++k) {
      parents.push_back(int(engine() % texts.size()));
      next.push_back(std::int32_t(engine() % tokens_of_all));
    }
    std::ranges::sort(parents);
    for (std::size_t k = 0; k < parents.size(); ++k) {
      grown.push_back(texts[std::size_t(parents[k])]);
      grown.back().push_back(next[k]);
    }
    both.generator.extend(parents, next);
    texts = grown;
    for (int k = 0; k < int(texts.size()); ++k)
      worst = std::max(worst, both.error(k, texts[std::size_t(k)], source));
  }
  return worst;
}

TEST_CASE("hypotheses read the rows of their parents where they lie") {
  CHECK(worst_of_branches<OfGpt2<Fp64>>() < 1e-6);
  CHECK(worst_of_branches<OfLlama>() < 1e-6);
  CHECK(worst_of_branches<OfPairs<Positions::learned>>(random_text(13, 6)) < 1e-6);
}

TEST_CASE("a text that outgrows the context goes on with its last half, read anew") {
  Both<OfGpt2<Fp64>> both;
  Tokens text = random_text(50, 8);
  both.generator.add({.tokens = text});  // of which it sees the last 40
  CHECK(both.error(0, {text.end() - 40, text.end()}) < 1e-6);
  for (int more = 1; more <= 45; ++more) {
    const int parent = 0;
    text.push_back(more % tokens_of_all);
    both.generator.extend({&parent, 1}, {&text.back(), 1});
    const int seen = 20 + (more - 1) % 20 + 1;
    CHECK(both.error(0, {text.end() - seen, text.end()}) < 1e-6);
  }
  CHECK(both.generator.rereads() == 3);
}

/// GPT-2 with more positions than its data have tokens, whose texts see `Context` of them.
template <int Context, int Rows = 2>
using Seen = Texts<
    Gpt2<{.layers = 2, .heads = 2, .width = 16, .vocabulary = tokens_of_all, .positions = 64}>,
    Fp64, Generation<{.rows = Rows, .context = Context}>>;
/// The same weights in a recipe whose data are as long.
template <int Context>
using Learnt =
    Made<Gpt2<{.layers = 2, .heads = 2, .width = 16, .vocabulary = tokens_of_all, .positions = 64}>,
         UpTo<Context, tokens_of_all>, Sgd<>, Batch<{.global = 2, .micro = 2}>, Fp64>;

/// The largest error of a text whose generator sees `Context` tokens, while it outgrows them.
template <int Context>
double worst_of_seen(int written) {
  Trainer<Learnt<Context>> trainer({.seed = 1, .threads = 2});
  Generator<Seen<Context>> generator({.threads = 2});
  randomise(trainer, 5, 1);
  for (const Parameter& p : trainer.parameters())
    generator.weights().set_parameter(p.name, trainer.parameter(p.name));
  int seen = std::max(Context - 3, 1), rereads = 0;
  Tokens text = random_text(std::size_t(seen), 8);
  generator.add({.tokens = text});
  double worst = error_of_logits(trainer, generator, 0, text, {});
  for (int more = 1; more <= written; ++more) {
    const int parent = 0;
    text.push_back(more % tokens_of_all);
    generator.extend({&parent, 1}, {&text.back(), 1});
    rereads += seen == Context;
    seen = seen == Context ? Context / 2 + 1 : seen + 1;
    worst = std::max(worst,
                     error_of_logits(trainer, generator, 0, {text.end() - seen, text.end()}, {}));
  }
  CHECK(rereads > 0);
  CHECK(generator.rereads() == rereads);
  return worst;
}

TEST_CASE("a generator sees as many tokens as Generation says, fewer or more than the data have") {
  CHECK(worst_of_seen<12>(20) < 1e-6);
  CHECK(worst_of_seen<64>(40) < 1e-6);
  CHECK(worst_of_seen<1>(5) < 1e-6);
}
TEST_CASE("what is planned follows the context of Generation") {
  constexpr auto cache = [](const Memory& memory) { return memory.cache; };
  static_assert(GenerationPlan<Seen<64>>::context == 64 && GenerationPlan<Seen<0>>::context == 40);
  static_assert(cache(GenerationPlan<Seen<64>>::memory) ==
                2 * cache(GenerationPlan<Seen<32>>::memory));
  static_assert(GenerationPlan<Seen<64>>::memory.total > GenerationPlan<Seen<40>>::memory.total);
  static_assert(GenerationPlan<Seen<40>>::memory.total == GenerationPlan<Seen<0>>::memory.total);
  CHECK(Generator<Seen<64>>().plan().context == 64);
  CHECK(Trainer<Seen<64>>().plan().context == 40);
}

TEST_CASE("what a decoder reads of the other side is computed once a prompt") {
  using Pairs = OfPairs<Positions::learned>;
  Both<Pairs> both, other;
  const Prompt prompt{.tokens = random_text(20, 1), .decoder = random_text(3, 2)};
  const auto logits = [](Both<Pairs>& of, int row) {
    const std::span<float> found = of.generator.logits(row);
    return std::vector<float>(found.begin(), found.end());
  };
  both.generator.add(prompt);
  other.generator.add(prompt);
  CHECK(logits(both, 0) == logits(other, 0));
  // From here on the encoder, and the keys and values that are made of what it gives, are others.
  int altered = 0;
  for (const Parameter& p : other.trainer.parameters()) {
    const bool keys = has(p.name, "encoder_attn.k_proj") || has(p.name, "encoder_attn.v_proj");
    if (!keys && !has(p.name, "encoder.")) continue;
    Numbers values = other.trainer.parameter(p.name);
    for (double& value : values) value = 1 - value;
    other.generator.weights().set_parameter(p.name, values);
    ++altered;
  }
  CHECK(altered > 8);
  const int parent = 0;
  for (std::int32_t token = 1; token < 20; ++token) {
    both.generator.extend({&parent, 1}, {&token, 1});
    other.generator.extend({&parent, 1}, {&token, 1});
    CHECK(logits(both, 0) == logits(other, 0));
  }
  both.generator.add(prompt);
  other.generator.add(prompt);
  CHECK(logits(both, 1) != logits(other, 1));
}

template <class F>
std::string refusal(const F& call) {
  try {
    call();
    return "";
  } catch (const ArgumentError& error) {
    return error.what();
  }
}

TEST_CASE("what cannot be continued is refused, and texts stay") {
  Both<OfLlama> both;
  Generator<OfLlama>& g = both.generator;
  const Tokens text = random_text(4, 1);
  g.add({.tokens = text}, 2);
  const Tokens next{1, 2, 3};
  const std::vector<int> same{0, 0, 0}, strange{1};
  CHECK(has(refusal([&] { g.add({.tokens = {}}); }), "Give at least one"));
  CHECK(has(refusal([&] { g.add({.tokens = {tokens_of_all}}); }), "in [0, "));
  CHECK(has(refusal([&] { g.add({.tokens = {1}, .decoder = {1}}); }), "no encoder"));
  CHECK(has(refusal([&] { g.add({.tokens = text}, 2); }), "Generation<{.rows = N}>"));
  CHECK(has(refusal([&] { g.add({.tokens = text}, 0); }), "0 hypotheses"));
  CHECK(both.error(0, text) < 1e-6);
  CHECK(has(refusal([&] { g.extend(strange, {next.data(), 1}); }), "row 1 is no parent"));
  CHECK(has(refusal([&] { g.extend({same.data(), 1}, {next.data(), 2}); }), "1 parents and 2"));
}

TEST_CASE("a decoder ends at the context of Generation, which the error names") {
  using Short = Pairs<Seq2Seq<{.encoder_layers = 1,
                               .decoder_layers = 2,
                               .heads = 2,
                               .width = 16,
                               .hidden = 20,
                               .vocabulary = tokens_of_all,
                               .positions = 40,
                               .dropout = 0}>,
                      Fp64, Generation<{.context = 12}>>;
  Both<Short> both;
  Tokens text = random_text(11, 1);
  const Tokens source = random_text(30, 1);
  both.generator.add({.tokens = source, .decoder = text});
  const int parent = 0;
  const std::int32_t token = 1;
  both.generator.extend({&parent, 1}, {&token, 1});
  text.push_back(token);
  CHECK(both.error(0, text, source) < 1e-6);
  CHECK(has(refusal([&] { both.generator.extend({&parent, 1}, {&token, 1}); }),
            "Generation<{.context = N}>"));
  CHECK(has(refusal([&] { both.generator.add({.tokens = {1}, .decoder = random_text(13, 1)}); }),
            "context is 12. Shorten it, or build the recipe with a larger one: Generation"));
}

TEST_CASE("a decoder beside an encoder ends at its context") {
  Both<OfPairs<Positions::learned>> both;
  both.generator.add({.tokens = random_text(31 - 1, 1), .decoder = random_text(40, 1)});
  const int parent = 0;
  const std::int32_t token = 1;
  CHECK(has(refusal([&] { both.generator.extend({&parent, 1}, {&token, 1}); }), "no room"));
  CHECK(has(refusal([&] { both.generator.add({.tokens = random_text(31, 1), .decoder = {1}}); }),
            "second_context"));
  CHECK(has(refusal([&] { both.generator.add({.tokens = {1}, .decoder = random_text(41, 1)}); }),
            "41 tokens for the decoder"));
}

}  // namespace
}  // namespace sinter::detail::testing
