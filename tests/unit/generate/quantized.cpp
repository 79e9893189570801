// SPDX-License-Identifier: Apache-2.0
// Generators with weights in int8, against trainers with the same weights.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <span>

#include "sinter/error.hpp"
#include "sinter/generate/generator.hpp"
#include "sinter/kernels/int8.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/model/llama.hpp"
#include "sinter/model/seq2seq.hpp"
#include "sinter/optimizer/sgd.hpp"
#include "sinter/parameters/lora.hpp"
#include "sinter/parameters/quantize.hpp"
#include "sinter/precision/bf16.hpp"
#include "sinter/precision/fp64.hpp"
#include "support/folder.hpp"
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

template <class... Policies>
using OfGpt2 = Texts<
    Gpt2<{.layers = 2, .heads = 2, .width = 64, .vocabulary = tokens_of_all, .positions = 40}>,
    Policies...>;
/// hidden is no multiple of a group: one of the products stays as it is.
template <class... Policies>
using OfLlama = Texts<Llama<{.layers = 2,
                             .heads = 4,
                             .kv_heads = 2,
                             .width = 96,
                             .hidden = 60,
                             .vocabulary = tokens_of_all,
                             .positions = 40,
                             .window = 6}>,
                      Policies...>;
template <class... Policies>
using OfPairs =
    Made<Seq2Seq<{.encoder_layers = 1,
                  .decoder_layers = 2,
                  .heads = 2,
                  .width = 32,
                  .hidden = 64,
                  .vocabulary = tokens_of_all,
                  .positions = 40,
                  .dropout = 0}>,
         UpToBoth<40, 30, tokens_of_all>, Sgd<>, Batch<{.global = 2, .micro = 2}>, Policies...>;

Tokens random_text(std::size_t length, unsigned seed) {
  return testing::random_text(length, seed, tokens_of_all);
}

/// A generator in int8, and a trainer with the weights that it stores.
template <class R>
struct Both {
  Trainer<R> trainer{{.seed = 1, .threads = 2}};
  Generator<R> generator{{.threads = 2}};

  Both() {
    randomise(trainer, 5, 1);
    for (const Parameter& p : trainer.parameters()) {
      generator.weights().set_parameter(p.name, trainer.parameter(p.name));
      trainer.set_parameter(p.name, generator.weights().parameter(p.name));
    }
  }
  /// error_of_logits() of a row.
  double error(int row, const Tokens& text, const Tokens& source) {
    return error_of_logits(trainer, generator, row, text, source);
  }
};

/// Reads a text as a whole, and token by token beside another, with the same logits. Returns their
/// error.
template <class R>
double error_of(const Tokens& source = {}) {
  const Tokens text = random_text(20, 7);
  const auto prompt = [&](std::size_t length) {
    const Tokens begin(text.begin(), text.begin() + std::ptrdiff_t(length));
    return source.empty() ? Prompt{.tokens = begin} : Prompt{.tokens = source, .decoder = begin};
  };
  Both<R> both;
  Generator<R>& g = both.generator;
  g.add(prompt(text.size()));
  const std::vector<float> whole(g.logits(0).begin(), g.logits(0).end());
  const double error = both.error(0, text, source);
  g.clear();
  g.add(prompt(3));
  g.add(prompt(5));
  for (std::size_t k = 3; k < text.size(); ++k) {
    const int parents[]{0, 1};
    const std::int32_t next[]{text[k], 1};
    g.extend(parents, next);
  }
  double apart = 0, largest = 0;
  for (std::size_t k = 0; k < whole.size(); ++k) {
    apart = std::max(apart, double(std::abs(g.logits(0)[k] - whole[k])));
    largest = std::max(largest, double(std::abs(whole[k])));
  }
  CHECK(apart <=
        2e-5 * largest);  // products in int8 have the same bits; others may round differently
  return error;
}

// Activations are rounded to multiples of 1/127 of the largest of 32: each of the products errs by
// less than a hundredth of the largest results, and there are nine of them behind each other.
TEST_CASE("a generator in int8 is near the model with its weights") {
  CHECK(error_of<OfGpt2<Quantize<>>>() < .05);
  CHECK(error_of<OfGpt2<Quantize<{.group = 64}>, Fp64>>() < .05);
  CHECK(error_of<OfLlama<Quantize<>>>() < .05);
  CHECK(error_of<OfPairs<Quantize<>>>(random_text(11, 3)) < .05);
}
TEST_CASE("a generator in int8 with bf16 is near the model with its weights") {
  CHECK(error_of<OfGpt2<Quantize<>, Bf16>>() < .08);
}

using Wide = Texts<Llama<{.layers = 1,
                          .heads = 8,
                          .width = 512,
                          .hidden = 1024,
                          .vocabulary = tokens_of_all,
                          .positions = 40}>,
                   Quantize<>>;

/// Numbers rounded as with one scale for each row of a matrix.
std::vector<double> rounded_by_rows(std::vector<double> values, std::size_t columns) {
  for (std::size_t first = 0; first < values.size(); first += columns) {
    const std::span row = std::span(values).subspan(first, columns);
    double largest = 0;
    for (const double value : row) largest = std::max(largest, std::abs(value));
    const double scale = largest / 127;
    for (double& value : row) value = scale * std::round(value / scale);
  }
  return values;
}

/// The logarithms of what follows each row of a text.
std::vector<double> log_probabilities(TrainerCore& trainer, const Tokens& text) {
  HostBatch batch;
  batch.starts = {0, std::int32_t(text.size())};
  batch.ids = {text, text};  // targets, which a prediction does not read
  std::vector<double> all;
  trainer.predict_rows(batch, [&](const Prediction& part) {
    all.insert(all.end(), part.values.begin(), part.values.end());
  });
  for (std::size_t first = 0; first < all.size(); first += tokens_of_all) {
    double total = 0;
    for (int k = 0; k < tokens_of_all; ++k) total += std::exp(all[first + std::size_t(k)]);
    for (int k = 0; k < tokens_of_all; ++k) all[first + std::size_t(k)] -= std::log(total);
  }
  return all;
}
double divergence(const std::vector<double>& p, const std::vector<double>& q) {
  double sum = 0;
  for (std::size_t k = 0; k < p.size(); ++k) sum += std::exp(p[k]) * (p[k] - q[k]);
  return sum / double(p.size() / tokens_of_all);
}

TEST_CASE(
    "rounded weights diverge less by groups of 32 than by rows, on heavy tails a third or less") {
  std::mt19937 engine(3);
  std::normal_distribution<double> normal(0, .02);
  std::student_t_distribution<double> student(4);
  const Tokens text = random_text(40, 3);
  Trainer<Wide> trainer({.seed = 1, .threads = 2});
  Generator<Wide> stored({.threads = 1});
  const std::vector<Parameter> all = stored.weights().parameters();
  for (const bool heavy : {false, true}) {
    CAPTURE(heavy);
    std::map<std::string, std::vector<double>> weights;
    for (const Parameter& p : all) {
      if (!p.int8) continue;
      std::vector<double>& values = weights[p.name];
      for (std::int64_t k = 0; k < p.size; ++k)
        values.push_back(double(float(heavy ? .02 * student(engine) : normal(engine))));
      trainer.set_parameter(p.name, values);
    }
    CHECK(weights.size() == 9);  // the table, q, k, v, o, three of the perceptron, the head
    const std::vector<double> exact = log_probabilities(trainer, text);
    for (const auto& [name, values] : weights) {
      stored.weights().set_parameter(name, values);
      trainer.set_parameter(name, stored.weights().parameter(name));
    }
    const double by_groups = divergence(exact, log_probabilities(trainer, text));
    for (const Parameter& p : all)
      if (p.int8)
        trainer.set_parameter(p.name,
                              rounded_by_rows(weights.at(p.name), std::size_t(p.shape.back())));
    const double by_rows = divergence(exact, log_probabilities(trainer, text));
    CAPTURE(by_groups);
    CAPTURE(by_rows);
    CHECK(by_groups > 1e-9);
    CHECK(by_groups <= by_rows / (heavy ? 3 : 1));
  }
}

TEST_CASE("weights in int8 take 34 bytes for 32 numbers") {
  using R = OfGpt2<Quantize<>>;
  using Plain = GenerationPlan<R, generated_rows<R>, false>;
  using Matrix = std::array<int, 2>;
  std::int64_t matrices = kernel::int8_bytes(tokens_of_all, 64, 32), vectors = 40 * 64 + 2 * 64;
  for (const auto& [rows, columns] :
       {Matrix{3 * 64, 64}, Matrix{64, 64}, Matrix{4 * 64, 64}, Matrix{64, 4 * 64}})
    matrices += 2 * kernel::int8_bytes(rows, columns, 32), vectors += 2 * rows;
  vectors += 2 * 4 * 64;
  const Memory& planned = GenerationPlan<R>::memory;
  CHECK(planned.parameters >= matrices + 4 * vectors);
  CHECK(planned.parameters <= matrices + 4 * vectors + 64 * 40);  // each is aligned
  CHECK(planned.parameters < Plain::memory.parameters / 2);
  CHECK(planned.cache == Plain::memory.cache);
}

TEST_CASE("a trainer's programs are planned as without Quantize") {
  using R = OfGpt2<Quantize<>>;
  static_assert(Plan<R>::memory.total == Plan<OfGpt2<>>::memory.total);
  static_assert(Plan<R>::memory.parameters == Plan<OfGpt2<>>::memory.parameters);
  for (const Parameter& p : Trainer<R>().parameters()) CHECK(!p.int8);
}

TEST_CASE("int8 is made of files, and layers with an adapter stay as they are") {
  using R = OfGpt2<Quantize<>, Lora<{.rank = 2}, Targets<"*.c_attn">>>;
  Both<R> both;
  const TemporaryFolder folder;
  both.trainer.save(folder / "saved");
  Generator<R> loaded;
  loaded.load_weights(folder / "saved");
  for (const Parameter& p : both.trainer.parameters()) {
    CAPTURE(p.name);
    CHECK(loaded.weights().parameter(p.name) == both.generator.weights().parameter(p.name));
  }
  CHECK(loaded.weights().parameters().front().int8);
  for (const Parameter& p : loaded.weights().parameters())
    if (p.name.find("c_attn") != std::string::npos) CHECK(!p.int8);
}

TEST_CASE("weights in int8 are not saved in their place") {
  Both<OfGpt2<Quantize<>>> both;
  const TemporaryFolder folder;
  CHECK_THROWS_WITH_AS(both.generator.weights().export_to(folder / "out"),
                       doctest::Contains("stored in int8"), Error);
}

TEST_CASE("a width that no group divides is not stored in int8") {
  using Small = Texts<
      Gpt2<{.layers = 1, .heads = 2, .width = 16, .vocabulary = tokens_of_all, .positions = 40}>>;
  using R = Made<typename Small::model, UpTo<40, tokens_of_all>, Sgd<>,
                 Batch<{.global = 2, .micro = 2}>, Quantize<>>;
  int in_int8 = 0;
  for (const Parameter& p : list_parameters(GenerationPlan<R>::stored)) in_int8 += bool(p.int8);
  CHECK(in_int8 == 1);  // mlp.c_proj, whose depth is 64
}

}  // namespace
}  // namespace sinter::detail::testing
