// SPDX-License-Identifier: Apache-2.0
// A label for each sequence, and rows on two axes: checked, cut into micro-batches and over ranks,
// padded, and learnt.
#include <doctest/doctest.h>

#include "sinter/batch/pad_rows.hpp"
#include "sinter/data/any_source.hpp"
#include "sinter/data/reader.hpp"
#include "sinter/error.hpp"
#include "sinter/optimizer/sgd.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/precision/fp64.hpp"
#include "sinter/recipe/plan.hpp"
#include "support/axes_models.hpp"
#include "support/finite_differences.hpp"
#include "support/message_of.hpp"
#include "support/recipes.hpp"

namespace sinter::detail::testing::axes_tests {

template <class Model, int Micro, class... Policies>
using Net = Made<Model, TwoContexts, Fp64, Batch<{.global = 8, .micro = Micro}>, Policies...>;

const TrainerSettings settings{.seed = 5, .threads = 2};
const std::vector<int> lengths{3, 5, 1, 4, 2, 5, 5, 1}, second{9, 1, 4, 8, 2, 9, 9, 3};

HostBatch labels() { return classified_batch(lengths, 1, 0.2); }
HostBatch both() { return two_axes_batch(lengths, second, 1, 0.2); }

struct Step {
  Loss loss;
  NamedNumbers gradients;
};
template <class R>
Step step_of(const HostBatch& batch) {
  Trainer<R> trainer(settings);
  randomise(trainer, 7);
  return {applied(trainer, batch).loss, gradients_of(trainer)};
}
void check_same(const Step& a, const Step& b) {
  CHECK(a.loss.count == b.loss.count);
  CHECK(a.loss.sum == doctest::Approx(b.loss.sum).epsilon(1e-13));
  for (const auto& [name, gradient] : b.gradients) {
    CAPTURE(name);
    CHECK(relative_difference(a.gradients.at(name), gradient) < 1e-12);
  }
}

template <class R>
std::string refusal(const HostBatch& batch) {
  Trainer<R> trainer(settings);
  return refusal_of<ArgumentError>([&] { (void)trainer.step(batch); });
}
/// Gives one batch, again and again.
struct Same {
  HostBatch batch;
  bool next(HostBatch& to) {
    to = batch;
    return true;
  }
  SamplerState state() const { return {}; }
  void restore(const SamplerState&) {}
};

TEST_CASE("gradients are right with a label for each sequence, and on two axes") {
  expect_right_gradients<Net<SequenceClassifier<.4f>, 2>>(classified_batch({3, 5, 1, 4}, 1));
  expect_right_gradients<Net<TwoAxes<.4f>, 2>>(two_axes_batch({3, 5, 1}, {9, 2, 6}, 1));
  if (!DefaultDevice::on_host) return;  // thousands of trainers take minutes where it is emulated
  expect_right_gradients<Net<SequenceClassifier<>, 2>>(classified_batch({3, 5, 1, 4}, 1));
  expect_right_gradients<Net<TwoAxes<>, 2>>(two_axes_batch({3, 5, 1}, {9, 2, 6}, 1));
  expect_right_gradients<Net<AcrossAxes<>, 2>>(two_axes_batch({3, 5, 1}, {9, 2, 6}, 1));
  expect_right_gradients<Net<AcrossAxes<.4f>, 2>>(two_axes_batch({3, 5, 1}, {9, 2, 6}, 1));
}

TEST_CASE("all axes are cut alike into micro-batches and over ranks, dropout included") {
  const Step whole = step_of<Net<SequenceClassifier<.4f>, 8>>(labels());
  check_same(step_of<Net<SequenceClassifier<.4f>, 1>>(labels()), whole);
  check_same(step_of<Net<SequenceClassifier<.4f>, 4>>(labels()), whole);
  if (has_thread_ranks)
    check_same(step_of<Net<SequenceClassifier<.4f>, 2, Ddp<{.ranks = 2}>>>(labels()), whole);
  const Step of_both = step_of<Net<TwoAxes<.4f>, 8>>(both());
  check_same(step_of<Net<TwoAxes<.4f>, 1>>(both()), of_both);
  check_same(step_of<Net<TwoAxes<.4f>, 4>>(both()), of_both);
  if (has_thread_ranks)
    check_same(step_of<Net<TwoAxes<.4f>, 2, Ddp<{.ranks = 2}>>>(both()), of_both);
  CHECK(step_of<Net<TwoAxes<>, 8>>(both()).loss.sum != of_both.loss.sum);
  using Attention = AttendAcross<.4f>;  // whose dropout is the only one
  const Step across = step_of<Net<TwoAxes<0.f, Attention>, 8>>(both());
  check_same(step_of<Net<TwoAxes<0.f, Attention>, 1>>(both()), across);
  check_same(step_of<Net<TwoAxes<0.f, Attention>, 4>>(both()), across);
  if (has_thread_ranks)
    check_same(step_of<Net<TwoAxes<0.f, Attention>, 2, Ddp<{.ranks = 2}>>>(both()), across);
  CHECK(step_of<Net<AcrossAxes<>, 8>>(both()).loss.sum != across.loss.sum);
}

TEST_CASE("a batch without starts of its own on axis 1 has those of axis 0") {
  HostBatch batch = two_axes_batch(lengths, lengths, 3);
  const Step own = step_of<Net<TwoAxes<>, 4>>(batch);
  batch.second_starts.clear();
  check_same(step_of<Net<TwoAxes<>, 4>>(batch), own);
}

TEST_CASE("the loss is the mean over labels, in evaluation as well, of any number of sequences") {
  Trainer<Net<SequenceClassifier<>, 2>> trainer(settings);
  randomise(trainer, 7);
  std::vector<int> many;
  for (int s = 0; s < 100; ++s) many.push_back(1 + s % 5);
  const HostBatch batch = classified_batch(many, 4, 0.3);
  const auto labelled = std::ranges::count_if(batch.ids[1], [](int id) { return id >= 0; });
  const Loss loss = trainer.evaluate(batch);
  CHECK(loss.count == labelled);
  const Prediction logits = trainer.predict(batch);
  REQUIRE((logits.rows == 100 && logits.columns == axes_classes));
  double sum = 0;
  for (int s = 0; s < 100; ++s) {
    if (batch.ids[1][s] < 0) continue;
    const float* row = logits.values.data() + s * axes_classes;
    double all = 0;
    for (int k = 0; k < axes_classes; ++k) all += std::exp(double(row[k]));
    sum += std::log(all) - double(row[batch.ids[1][s]]);
  }
  CHECK(loss.sum == doctest::Approx(sum).epsilon(1e-5));
}

TEST_CASE("padding to a multiple of rows leaves labels of sequences as they are") {
  using Padded = Net<SequenceClassifier<>, 4, PadRows<{.multiple = 5}>>;
  check_same(step_of<Padded>(labels()), step_of<Net<SequenceClassifier<>, 4>>(labels()));
}

TEST_CASE("a batch that does not fit its axes is refused with what is wrong") {
  using OneLabel = Net<SequenceClassifier<>, 4>;
  using Two = Net<TwoAxes<>, 4>;
  HostBatch batch = labels();
  batch.ids[1].pop_back();
  CHECK(contains(refusal<OneLabel>(batch), "input 1 has 7 numbers, but 8 sequences need 8."));
  batch = labels();
  batch.ids[1].resize(batch.ids[0].size(), 0);
  CHECK(contains(refusal<OneLabel>(batch), "input 1 has 26 numbers, but 8 sequences need 8."));
  batch = labels();
  batch.second_starts = batch.starts;
  CHECK(contains(refusal<OneLabel>(batch), "second_starts, and the model has no input on axis 1"));
  batch = both();
  batch.second_starts.pop_back();
  CHECK(contains(refusal<Two>(batch), "8 sequences on axis 0 and 7 on axis 1"));
  batch = both();
  batch.ids[1].pop_back();
  CHECK(contains(refusal<Two>(batch), "input 1 has 44 numbers, but 45 rows need 45."));
  batch = two_axes_batch({2, 2}, {3, 10}, 1);
  CHECK(contains(refusal<Two>(batch),
                 "sequence 1 has 10 rows on axis 1; the recipe's context allows 1 "
                 "to 9."));
  batch = two_axes_batch({2, 6}, {3, 9}, 1);
  CHECK(
      contains(refusal<Two>(batch), "sequence 1 has 6 rows; the recipe's context allows 1 to 5."));
  batch = both();
  batch.second_starts[0] = 1;
  CHECK(contains(refusal<Two>(batch), "second_starts[0] must be 0"));
  batch = both();
  batch.second_lengths.assign(7, 1);
  CHECK(contains(refusal<Two>(batch), "8 sequences in second_starts and 7 in second_lengths"));
  for (int length : {0, 10}) {
    batch.second_lengths.assign(8, length);
    CHECK(contains(refusal<Two>(batch), std::to_string(length) + " of them are no padding"));
  }
}

/// A model whose layer does not know of padding.
struct Unaware {
  using slot = sinter::slot::model;
  static constexpr int W = 4;
  struct Mix : AddMeanOfRows<W> {
    static constexpr bool skips_padding = false;
  };
  struct Head {
    static constexpr Value<1> trace(auto& g, Ids source, Ids said, Ids targets) {
      auto x = g("said", Embedding<axes_vocabulary, W>{}, said),
           y = g("source", Embedding<axes_vocabulary, W>{}, source);
      return g("loss", LinearCrossEntropy<axes_vocabulary, W>{}, g("mix", Mix{}, x, y), targets);
    }
  };
  static constexpr void trace(auto& g) {
    auto said = g.tokens(0), source = g.tokens(1), targets = g.targets(0);
    g.result(g.unit("head", Head{}, source, said, targets));
  }
};

TEST_CASE("a batch with padding on axis 1 is refused by a model that would see it") {
  auto refused = []<class Device>(Device) {  // its layer reads single elements
    if constexpr (Device::on_host) {
      HostBatch batch = both();
      batch.second_lengths.assign(8, 1);
      CHECK(contains(refusal<Net<Unaware, 4>>(batch), "without stating skips_padding"));
    }
  };
  refused(DefaultDevice());
}

TEST_CASE("a reader hands out both axes, and models learn from them") {
  auto learn = [](auto& trainer, const HostBatch& batch) {
    BackgroundReader reader(AnySource(Same{batch}), 2);
    HostBatch read;
    double first = 0, last = 0;
    for (int step = 0; step < 300; ++step) {
      REQUIRE(reader.next(read));
      REQUIRE(read.second_starts == batch.second_starts);
      last = applied(trainer, read).loss.mean();
      if (step == 0) first = last;
    }
    CHECK(first > 0.9);
    CHECK(last < 0.2);
  };
  Trainer<Net<SequenceClassifier<>, 4, AdamW<{.lr = 0.05}>>> classifier(settings);
  learn(classifier, classified_batch(lengths, 1));
  Trainer<Net<TwoAxes<>, 4, AdamW<{.lr = 0.05}>>> two(settings);
  // A class for each sequence, which nothing on axis 0 tells.
  HostBatch batch = two_axes_batch(lengths, second, 1);
  std::fill(batch.ids[0].begin(), batch.ids[0].end(), 0);
  for (int s = 0; s < batch.sequences(); ++s)
    std::fill(batch.ids[2].begin() + batch.starts[s], batch.ids[2].begin() + batch.starts[s + 1],
              s % axes_classes);
  learn(two, batch);
  Trainer<Net<AcrossAxes<>, 4, AdamW<{.lr = 0.05}>>> across(settings);
  learn(across, batch);
}

}  // namespace sinter::detail::testing::axes_tests
