// SPDX-License-Identifier: Apache-2.0
// Predictions and evaluations with weights alone, in int8 and as the precision says, against trainers.
#include "sinter/trainer/predictor.hpp"

#include "sinter/kernels/int8.hpp"
#include "sinter/metric/accuracy.hpp"
#include "sinter/model/bert.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/optimizer/adamw.hpp"
#include "sinter/parallel/zero.hpp"
#include "sinter/parameters/quantize.hpp"
#include "sinter/precision/bf16.hpp"
#include "support/batches.hpp"
#include "support/folder.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing::predictor_tests {

constexpr int words = 37, positions = 12, classes = 5;
template <class Model, class Data, class... Policies>
using Net = Made<Model, Data, AdamW<>, Batch<{.global = 4, .micro = 2}>, Policies...>;

constexpr BertOptions labelled = [] {
  BertOptions o{.layers = 2, .heads = 2, .width = 32, .hidden = 64};
  o.vocabulary = words, o.positions = positions, o.labels = classes, o.dropout = 0;
  return o;
}();
template <class... Policies>
using Labels = Net<Bert<labelled>, UpTo<positions, words>, Policies...>;
template <class... Policies>
using Texts =
    Net<Gpt2<{.layers = 2, .heads = 2, .width = 32, .vocabulary = words, .positions = positions}>,
        UpTo<positions, words>, Policies...>;
template <class... Policies>
using Digits = Net<Mlp<{.in = 64, .hidden = 96, .out = classes, .layers = 3, .classifier = true}>,
                   UpTo<1>, Policies...>;

const std::vector<int> lengths{7, 12, 1, 5};
HostBatch labels() {
  HostBatch batch = sequences_of(lengths);
  batch.ids.resize(2);
  for (int s = 0; s < int(lengths.size()); ++s) {
    for (int row = 0; row < lengths[std::size_t(s)]; ++row)
      batch.ids[0].push_back((row * 7 + s * 5 + 3) % words);
    batch.ids[1].push_back(s % classes);
  }
  return batch;
}
HostBatch texts() { return token_batch(lengths, words, 3); }
HostBatch digits() {
  HostBatch batch = sequences_of({1, 1, 1, 1});
  batch.ids.resize(1);
  batch.values.resize(1);
  for (int k = 0; k < 4 * 64; ++k) batch.values[0].push_back(float(k * 37 % 101) / 50 - 1);
  for (int s = 0; s < 4; ++s) batch.ids[0].push_back(s % classes);
  return batch;
}

Numbers predictions(TrainerCore& trainer, const HostBatch& batch) {
  const Prediction found = trainer.predict(batch);
  return {found.values.begin(), found.values.end()};
}
double largest_difference(const Numbers& a, const Numbers& b) {
  REQUIRE(a.size() == b.size());
  double apart = 0, most = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    apart = std::max(apart, std::abs(a[k] - b[k]));
    most = std::max(most, std::abs(a[k]));
  }
  return apart / most;
}

/// A predictor without Quantize gives the trainer's bits, of files and of parameters that are set.
template <class R>
void check_plain(const HostBatch& batch) {
  Trainer<R> trainer({.seed = 1, .threads = 2});
  randomise(trainer, 5, .2);
  const TemporaryFolder folder;
  trainer.save(folder / "saved");
  Predictor<R> predictor({.threads = 2});
  predictor.load_weights(folder / "saved");
  CHECK(predictions(predictor, batch) == predictions(trainer, batch));
  // A trainer's evaluation has more rows at once, whose sums may have another order.
  CHECK(predictor.evaluate(batch).sum ==
        doctest::Approx(trainer.evaluate(batch).sum).epsilon(1e-5));
  const Memory &less = predictor.plan().memory, &all = trainer.plan().memory;
  CHECK(less.gradients == 0);
  CHECK(less.optimizer == 0);
  CHECK(less.total < all.total / 2);
}
TEST_CASE("a predictor predicts with the bits of its trainer, without gradients and state") {
  check_plain<Labels<>>(labels());
  check_plain<Texts<Bf16>>(texts());
  check_plain<Digits<>>(digits());
  check_plain<Texts<Zero<{.stage = 3, .ranks = 2}>>>(texts());
}

/// A predictor in int8 beside a trainer with the weights that it stores: what they differ in is that
/// activations are rounded.
template <class R>
void check_int8(const HostBatch& batch, double tolerance) {
  Trainer<R> trainer({.seed = 1, .threads = 2});
  Predictor<R> predictor({.threads = 2});
  randomise(trainer, 5, .2);
  int in_int8 = 0;
  for (const Parameter& p : predictor.parameters()) {
    predictor.set_parameter(p.name, trainer.parameter(p.name));
    trainer.set_parameter(p.name, predictor.parameter(p.name));
    in_int8 += bool(p.int8);
  }
  CHECK(in_int8 > 2);
  const double apart =
      largest_difference(predictions(trainer, batch), predictions(predictor, batch));
  CHECK(apart > 0);
  CHECK(apart < tolerance);
  const Loss plain = trainer.evaluate(batch), rounded = predictor.evaluate(batch);
  CHECK(rounded.count == plain.count);
  CHECK(rounded.sum != plain.sum);
  CHECK(std::abs(rounded.mean() / plain.mean() - 1) < tolerance);
}
// Activations are rounded to multiples of 1/127 of the largest of a group: a product errs by less than
// a hundredth of the largest results.
TEST_CASE("predictions and losses in int8 are near those of the weights that are stored") {
  check_int8<Labels<Quantize<>>>(labels(), .05);
  check_int8<Texts<Quantize<>>>(texts(), .05);
  check_int8<Texts<Quantize<>, Bf16>>(texts(), .08);
  check_int8<Digits<Quantize<>>>(digits(), .05);
}

TEST_CASE("the loss in int8 is that of the predictions at each position") {
  using R = Texts<Quantize<>>;
  Trainer<R> trainer({.seed = 1, .threads = 1});
  Predictor<R> predictor({.threads = 1});
  randomise(trainer, 5, .2);
  for (const Parameter& p : predictor.parameters())
    predictor.set_parameter(p.name, trainer.parameter(p.name));
  const HostBatch batch = texts();
  double sum = 0;
  std::size_t row = 0;
  predictor.predict_rows(batch, [&](const Prediction& part) {
    for (int r = 0; r < part.rows; ++r, ++row) {
      const float* logits = part.values.data() + std::int64_t(r) * part.columns;
      double total = 0;
      for (int k = 0; k < words; ++k) total += std::exp(double(logits[k]));
      sum += std::log(total) - double(logits[batch.ids[1][row]]);
    }
  });
  CHECK(predictor.evaluate(batch).sum == doctest::Approx(sum).epsilon(1e-5));
}

TEST_CASE("weights of a predictor in int8 take 34 bytes for 32 numbers") {
  const Memory& planned = PredictorPlan<Digits<Quantize<>>>::memory;
  const std::int64_t matrices = kernel::int8_bytes(96, 64, 32) + kernel::int8_bytes(96, 96, 32) +
                                kernel::int8_bytes(classes, 96, 32);
  const std::int64_t vectors = 4 * (96 + 96 + classes);
  CHECK(planned.parameters >= matrices + vectors);
  CHECK(planned.parameters <= matrices + vectors + 6 * 64);
}

}  // namespace sinter::detail::testing::predictor_tests
