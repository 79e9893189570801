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

namespace sinter::testing {
namespace {

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
  prefix.ids.emplace_back(batch.ids[0].begin() + batch.starts[std::size_t(sequence)],
                          batch.ids[0].begin() + row + 1);
  return trainer.predict(prefix).values;
}

/// The largest difference of a row to the prediction for its prefix, and the largest prediction.
struct Compared {
  double difference = 0, largest = 0;
};
template <class R>
Compared compare(const std::vector<int>& lengths) {
  Trainer<R> trainer(settings);
  randomise(trainer, 7);
  HostBatch batch = sequences_of(lengths);
  add_ids(batch, vocabulary, 11);
  poison(trainer);
  const Rows all = rows_of(trainer, batch);
  REQUIRE((all.rows == batch.rows() && all.columns == vocabulary));
  CHECK(all.parts > (int(lengths.size()) + micro - 1) / micro);  // not all rows at once
  Compared worst;
  for (int s = 0; s < batch.sequences(); ++s)
    for (int r = batch.starts[std::size_t(s)]; r < batch.starts[std::size_t(s) + 1]; ++r) {
      const std::vector<float> want = at_row(trainer, batch, s, r);
      for (int k = 0; k < vocabulary; ++k) {
        const double found = all.values[std::size_t(r * vocabulary + k)];
        worst.difference = std::max(worst.difference, std::abs(found - want[std::size_t(k)]));
        worst.largest = std::max(worst.largest, std::abs(double(want[std::size_t(k)])));
      }
    }
  const Rows again = rows_of(trainer, batch);  // behind other predictions
  CHECK(again.values == all.values);
  return worst;
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

TEST_CASE("a model that pools otherwise, or too early, says so") {
  Trainer<Made<SequenceClassifier<>, TwoContexts, Sgd<>, Batch<{.global = 4, .micro = 4}>>> trainer(
      settings);
  const HostBatch batch = classified_batch({3, 2}, 1, 0);
  std::string why;
  try {
    rows_of(trainer, batch);
  } catch (const ArgumentError& error) {
    why = error.what();
  }
  CHECK(why.find("cannot predict at each position") != why.npos);
  CHECK(why.find("one row for each sequence already") != why.npos);
  CHECK(trainer.predict(batch).rows == 2);
}

}  // namespace
}  // namespace sinter::testing
