// SPDX-License-Identifier: Apache-2.0
// predict_rows(): every row of a sequence as predict() predicts it where the sequence ends there.
#include <doctest/doctest.h>

#include "sinter/error.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/optimizer/sgd.hpp"
#include "sinter/precision/bf16.hpp"
#include "sinter/precision/fp64.hpp"
#include "support/axes_models.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing::row_prediction_tests {

constexpr int context = 300, vocabulary = 9000, micro = 4;
using Tiny = Gpt2<{.layers = 2,
                   .heads = 2,
                   .width = 16,
                   .vocabulary = vocabulary,
                   .positions = context,
                   .dropout = 0.5}>;
template <class... Policies>
using Net = Made<Tiny, UpTo<context, vocabulary>, Sgd<>, Batch<{.global = micro, .micro = micro}>,
                 Policies...>;
const TrainerSettings settings{.seed = 3, .threads = 2};

struct Rows {
  int parts = 0, rows = 0, columns = 0;
  std::vector<float> values;
};
Rows rows_of(TrainerCore& trainer, const HostBatch& batch) {
  Rows all;
  trainer.predict_rows(batch, [&](const Prediction& part) {
    ++all.parts;
    all.rows += part.rows;
    all.columns = part.columns;
    all.values.insert(all.values.end(), part.values.begin(), part.values.end());
  });
  return all;
}

/// What predict() gives for the sequence of a batch up to a row.
std::vector<float> at_row(TrainerCore& trainer, const HostBatch& batch, int sequence, int row) {
  HostBatch prefix = sequences_of({row + 1 - batch.starts[std::size_t(sequence)]});
  if (!batch.second_starts.empty()) {
    const int first = batch.second_starts[std::size_t(sequence)],
              last = batch.second_starts[std::size_t(sequence) + 1];
    prefix.second_starts = {0, last - first};
    prefix.ids.emplace_back(batch.ids[0].begin() + first, batch.ids[0].begin() + last);
  }
  const std::vector<std::int32_t>& ids = batch.ids.back();
  prefix.ids.emplace_back(ids.begin() + batch.starts[std::size_t(sequence)], ids.begin() + row + 1);
  return trainer.predict(prefix).values;
}

/// Each row is compared with a prediction of its own; where the device is emulated, which takes
/// minutes, one in so many.
constexpr int each = DefaultDevice::on_host ? 1 : 17;

/// The largest difference of a row to the prediction for its prefix, and the largest prediction.
struct Compared {
  double difference = 0, largest = 0;
};
template <class R>
Compared compare(const HostBatch& batch, int columns) {
  Trainer<R> trainer(settings);
  randomise(trainer, 7);
  poison(trainer);
  const Rows all = rows_of(trainer, batch);
  REQUIRE((all.rows == batch.rows() && all.columns == columns));
  CHECK(all.parts > (batch.sequences() + micro - 1) / micro);  // not all rows at once
  Compared worst;
  for (int s = 0; s < batch.sequences(); ++s)
    for (int r = batch.starts[std::size_t(s)]; r < batch.starts[std::size_t(s) + 1]; r += each) {
      const std::vector<float> want = at_row(trainer, batch, s, r);
      for (int k = 0; k < columns; ++k) {
        const double found = all.values[std::size_t(r * columns + k)];
        worst.difference = std::max(worst.difference, std::abs(found - want[std::size_t(k)]));
        worst.largest = std::max(worst.largest, std::abs(double(want[std::size_t(k)])));
      }
    }
  const Rows again = rows_of(trainer, batch);  // behind other predictions
  CHECK(again.values == all.values);
  return worst;
}
template <class R>
Compared compare(const std::vector<int>& lengths) {
  HostBatch batch = sequences_of(lengths);
  add_ids(batch, vocabulary, 11);
  return compare<R>(batch, vocabulary);
}
const std::vector<int> lengths{7, context, 1, 280, 33, 5};

TEST_CASE("each row is predicted as the last one of its prefix is") {
  // In double precision both round to the same float, or to neighbours.
  const Compared fine = compare<Net<Fp64>>(lengths);
  CHECK(fine.largest > 1);
  CHECK(fine.difference <= fine.largest * 0x1p-23);
  // What is left in single precision: sums of at most 64 terms, in another order.
  const Compared single = compare<Net<>>(lengths);
  MESSAGE("fp32: ", single.difference / single.largest);
  CHECK(single.difference <= single.largest * 64 * 0x1p-24);
}

TEST_CASE("half precision predicts rows, too") {
  const Compared half = compare<Net<Bf16>>(lengths);
  MESSAGE("bf16: ", half.difference / half.largest);
  CHECK(half.difference <= half.largest * 8 * 0x1p-8);
}

/// Sequences of at most `context` rows on axis 0 and fewer on axis 1.
struct LongReplies {
  using slot = slot::data;
  static constexpr int context = row_prediction_tests::context, second_context = 20,
                       vocabulary = axes_vocabulary;
};
template <class Model, class... Policies>
using Pair = Made<Model, LongReplies, Sgd<>, Batch<{.global = micro, .micro = micro}>, Policies...>;

TEST_CASE("each row of a decoder is predicted with all of its source") {
  const HostBatch batch = source_batch(lengths, {20, 3, 9, 1, 14, 6}, 11);
  const Compared fine = compare<Pair<TinySeq2Seq, Fp64>>(batch, axes_vocabulary);
  CHECK(fine.largest > 1);
  CHECK(fine.difference <= fine.largest * 0x1p-23);
  const Compared single = compare<Pair<TinySeq2Seq>>(batch, axes_vocabulary);
  MESSAGE("fp32: ", single.difference / single.largest);
  CHECK(single.difference <= single.largest * 64 * 0x1p-24);
}

TEST_CASE("a source with sequences as long as the decoder's needs no starts of its own") {
  HostBatch batch = source_batch({4, 7}, {4, 7}, 3);
  Trainer<Pair<TinySeq2Seq>> trainer(settings);
  const Rows all = rows_of(trainer, batch);
  batch.second_starts.clear();
  CHECK(rows_of(trainer, batch).values == all.values);
}

TEST_CASE("predicting rows between steps changes nothing") {
  const HostBatch batch = token_batch({9, context, 2, 17}, vocabulary, 5);
  Trainer<Net<>> plain(settings), asked(settings);
  for (int step = 0; step < 2; ++step) {
    const std::vector<float> before = rows_of(asked, batch).values;
    CHECK(applied(plain, batch).loss.sum == applied(asked, batch).loss.sum);
    CHECK(rows_of(asked, batch).values != before);  // it has learnt
  }
  CHECK(parameters_of(plain) == parameters_of(asked));
}

/// Checks that a model of two sequences predicts, but not at each position.
void check_refused(TrainerCore& trainer, const HostBatch& batch, const std::string& because) {
  std::string why;
  try {
    rows_of(trainer, batch);
  } catch (const ArgumentError& error) {
    why = error.what();
  }
  CAPTURE(why);
  CHECK(why.find("cannot predict at each position") != why.npos);
  CHECK(why.find(because) != why.npos);
  CHECK(trainer.predict(batch).rows == 2);
}

TEST_CASE("a model that pools otherwise, or too early, says so") {
  Trainer<Made<SequenceClassifier<>, TwoContexts, Sgd<>, Batch<{.global = 4, .micro = 4}>>> trainer(
      settings);
  check_refused(trainer, classified_batch({3, 2}, 1, 0), "one row for each sequence already");
}

struct PredictMixed {
  static constexpr int W = axes_width;
  static constexpr Value<1> trace(auto& g, Value<W> x, Value<W> source, Ids targets) {
    auto mixed = AttendOnce::trace(g, x, source);
    auto logits = g("logits", Linear<W, axes_vocabulary>{}, mixed);
    return g("loss", CrossEntropy<axes_vocabulary>{}, logits, targets);
  }
};
struct LastOfMixed {
  static constexpr int W = axes_width;
  static constexpr Value<axes_vocabulary> trace(auto& g, Value<W> x, Value<W> source) {
    auto mixed = AttendOnce::trace(g, x, source);
    return g("logits", Linear<W, axes_vocabulary>{}, g("last", LastRow<W>{}, mixed));
  }
};
/// A model whose prediction has a last unit that takes rows, and reads a source, too.
struct LateSource {
  using slot = slot::model;
  static constexpr void trace(auto& g) {
    auto source = g.unit("source", EmbedRows<0.f>{}, g.tokens(1));
    auto x = g.unit("embed", EmbedRows<0.f>{}, g.tokens(0));
    g.result(g.unit("head", PredictMixed{}, x, source, g.targets(0)));
  }
  static constexpr void predict(auto& g) {
    auto source = g.unit("source", EmbedRows<0.f>{}, g.tokens(1));
    auto x = g.unit("embed", EmbedRows<0.f>{}, g.tokens(0));
    g.result(g.unit("head", LastOfMixed{}, x, source));
  }
};

TEST_CASE("a model whose last unit reads a source, too, says so") {
  Trainer<Pair<LateSource>> trainer(settings);
  check_refused(trainer, source_batch({3, 2}, {1, 4}, 1),
                "does more with the rows of a sequence than take the last one");
}

}  // namespace sinter::detail::testing::row_prediction_tests
