// SPDX-License-Identifier: Apache-2.0
// A part of a batch has the rows that the whole batch has there, whatever the source, and the parts of all
// ranks have each sequence once.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>

#include "sinter/batching/padded.hpp"
#include "sinter/data/arrays.hpp"
#include "sinter/data/example_source.hpp"
#include "sinter/data/examples.hpp"
#include "sinter/data/labelled_set.hpp"
#include "sinter/data/paired_examples.hpp"
#include "sinter/data/reader.hpp"
#include "sinter/data/windows.hpp"
#include "sinter/objective/masked_lm.hpp"

namespace sinter::detail::testing::batch_parts_tests {

/// Which axis the entries of ids and values are on: 0 and 1 have rows, 2 has sequences.
struct Axes {
  std::vector<int> ids, values;
};

template <class T>
void check_slices(const std::vector<std::vector<T>>& part, const std::vector<std::vector<T>>& whole,
                  const std::vector<int>& on, const HostBatch& batch) {
  REQUIRE(part.size() == on.size());
  REQUIRE(whole.size() == on.size());
  for (std::size_t k = 0; k < on.size(); ++k) {
    const HostBatch::Rows held = batch.held_rows(on[k]);
    const auto rows = std::ptrdiff_t(batch.rows_of(on[k]));
    const auto width = std::ptrdiff_t(whole[k].size()) / rows;
    REQUIRE(std::ssize(whole[k]) == rows * width);
    CHECK(part[k] == std::vector<T>(whole[k].begin() + held.begin * width,
                                    whole[k].begin() + held.end * width));
  }
}

/// How many predictions a whole batch has: its last ids are targets, or if it has none, its last values.
std::int64_t predictions_of(const HostBatch& whole) {
  if (whole.ids.empty()) return std::ssize(whole.values.back());
  return std::ranges::count_if(whole.ids.back(), [](std::int32_t id) { return id >= 0; });
}

enum class Predictions { known, unknown };

/// Compares the parts of all batches of a source, of 30 at most, with the whole ones. Whoever has a part knows
/// how much the whole batch predicts, or does not.
void check_parts(const auto& make, const Axes& on, Predictions predictions = Predictions::known) {
  for (int ranks = 2; ranks <= 5; ++ranks)
    for (int rank = 0; rank < ranks; ++rank) {
      CAPTURE(ranks);
      CAPTURE(rank);
      const BatchPart part{rank, ranks};
      AnySource wholes = make(), parts = make();
      REQUIRE(parts.divides());
      BackgroundReader reader(make(), {.depth = 3, .workers = 2, .part = part});
      HostBatch whole, got, read;
      BatchDraw draw;
      int batches = 0;
      for (; batches < 30 && wholes.next(whole); ++batches) {
        REQUIRE(pull(parts, got, draw, part));
        CHECK(got.part == part);
        CHECK(got.starts == whole.starts);
        CHECK(got.second_starts == whole.second_starts);
        CHECK(got.second_lengths == whole.second_lengths);
        CHECK(got.keys == whole.keys);
        CHECK(got.examples == whole.examples);
        CHECK(parts.state() == wholes.state());
        check_slices(got.ids, whole.ids, on.ids, got);
        check_slices(got.values, whole.values, on.values, got);
        CHECK(got.predictions.has_value() == (predictions == Predictions::known));
        if (got.predictions) CHECK(got.predictions == predictions_of(whole));
        REQUIRE(reader.next(read));
        CHECK(read.part == part);
        CHECK(read.ids == got.ids);
        CHECK(read.values == got.values);
      }
      CHECK(batches > 2);
      if (batches == 30) continue;
      CHECK_FALSE(pull(parts, got, draw, part));
      CHECK(got.sequences() == 0);
    }
}

const std::vector<unsigned char> text = [] {
  std::vector<unsigned char> bytes(200);
  for (std::size_t k = 0; k < bytes.size(); ++k)
    bytes[k] = static_cast<unsigned char>(k * 37 % 251);
  return bytes;
}();
const std::vector<float> numbers = [] {
  std::vector<float> values(3 * 17);
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = float(k);
  return values;
}();
const std::vector<float> targets(numbers.begin(), numbers.begin() + 2 * 17);
const std::vector<std::int32_t> classes = [] {
  std::vector<std::int32_t> values(17);
  for (int k = 0; k < 17; ++k) values[std::size_t(k)] = k % 4 - 1;
  return values;
}();

std::string word(std::mt19937_64& random, int most) {
  return std::string(1 + random() % std::uint64_t(most), char('a' + random() % 26));
}

/// The same examples without an append_empty() of their own.
class Slow final : public ExampleList {
  const ExampleList& list;

 public:
  explicit Slow(const ExampleList& l) : list(l) {}
  std::int64_t size() const override { return list.size(); }
  std::int64_t records() const override { return list.records(); }
  std::int64_t examples_of(std::int64_t count) const override { return list.examples_of(count); }
  int inputs() const override { return list.inputs(); }
  int max_rows() const override { return list.max_rows(); }
  int max_second_rows() const override { return list.max_second_rows(); }
  ExampleLength length(std::int64_t number) const override { return list.length(number); }
  int rows(std::int64_t number) const override { return list.rows(number); }
  void append(HostBatch& batch, std::int64_t number, int most, int padded) const override {
    list.append(batch, number, most, padded);
  }
  void append_second_padding(HostBatch& batch, int rows) const override {
    list.append_second_padding(batch, rows);
  }
  std::vector<SpecialToken> special() const override { return list.special(); }
  std::uint64_t hash() const override { return list.hash(); }
};

void check_examples(const ExampleList& list, const Axes& on) {
  const ExampleRange range{1, list.size() - 1};
  const auto shapes = [](std::uint64_t before) { return BatchShape{3 + int(before % 3), 9}; };
  for (const Batching& batching :
       {Batching{}, Batching{.pads = true}, Batching{.pads = true, .padded_together = 2}}) {
    check_parts(
        [&] {
          return AnySource(ExampleBatches(list, range, {.sequences = 5, .batching = batching}));
        },
        on);
    check_parts(
        [&] {
          return AnySource(ExampleBatches(
              list, range, {.sequences = 5, .shapes = shapes, .batching = batching}));
        },
        on);
  }
  check_parts([&] { return AnySource(EvaluationExamples(list, range, 4)); }, on);
}

TEST_CASE("parts of a batch divide its sequences, in their order and as evenly as can be") {
  for (int ranks = 1; ranks <= 7; ++ranks)
    for (int sequences = 0; sequences <= 20; ++sequences) {
      int next = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const BatchPart part{rank, ranks};
        CHECK(part.begin(sequences) == next);
        next = part.end(sequences);
        const int size = next - part.begin(sequences);
        CHECK(size >= sequences / ranks);
        CHECK(size <= (sequences + ranks - 1) / ranks);
      }
      CHECK(next == sequences);
    }
}

TEST_CASE("parts of windows are slices of whole batches") {
  const Axes on{{0, 0}, {}};
  const auto shapes = [](std::uint64_t before) {
    return BatchShape{1 + int(before % 5), 3 + int(before % 4)};
  };
  for (const int sequences : {1, 3, 7}) {
    const WindowShape shape{7, sequences};
    check_parts([&] { return AnySource(SequentialWindows(text, shape)); }, on);
    check_parts([&] { return AnySource(ShuffledWindows(text, shape, 5)); }, on);
    check_parts([&] { return AnySource(EvaluationWindows(text, shape)); }, on);
  }
  check_parts([&] { return AnySource(ShuffledWindows(text, {7, 6}, 5, shapes)); }, on);
}

TEST_CASE("parts of arrays are slices of whole batches") {
  for (const int sequences : {1, 4, 6})
    for (const bool with_classes : {false, true}) {
      const ArrayRows rows =
          with_classes ? ArrayRows(numbers, 3, classes) : ArrayRows(numbers, 3, targets, 2);
      const Axes on = with_classes ? Axes{{0}, {0}} : Axes{{}, {0, 0}};
      check_parts([&] { return AnySource(ArrayData(rows, {.sequences = sequences})); }, on);
      check_parts([&] { return AnySource(EvaluationArrays(rows, sequences)); }, on);
    }
}

TEST_CASE("parts of examples are slices of whole batches, and count all of their predictions") {
  std::mt19937_64 random(3);
  ExampleSet set(byte_tokenizer(), {.context = 9, .label = 7});
  PairedExamples paired(byte_tokenizer(), {.text = 9, .label = 7});
  LabelledSet labelled(byte_tokenizer(), {.context = 12, .pairs = true, .types = true}, 3);
  for (int k = 0; k < 21; ++k) {
    const std::string first = word(random, 14), second = word(random, 10);
    k % 4 == 3 ? set.add_text(first) : set.add_pair(first, second);
    const std::string turns[]{first, second};
    paired.add_dialogue(turns);
    const std::string_view both[]{first, second};
    labelled.add(both, k % 3);
  }
  check_examples(set, {{0, 0}, {}});
  check_examples(paired, {{1, 0, 0}, {}});
  check_examples(labelled, {{0, 0, 2}, {}});
  check_examples(Slow(set), {{0, 0}, {}});
  check_examples(Slow(paired), {{1, 0, 0}, {}});
}

TEST_CASE("an objective hides the same of a part as of the whole") {
  const Objective masked = masked_lm({.mask = 256}, {256, {}});
  const auto make = [&] {
    return AnySource(PreparedSource(AnySource(ShuffledWindows(text, {7, 5}, 1)), masked));
  };
  check_parts(make, {{0, 0}, {}}, Predictions::unknown);
}

TEST_CASE("an objective that does not say that it prepares parts is given whole batches") {
  Objective own;
  own.prepare = [](HostBatch& batch) { REQUIRE(batch.part.is_whole()); };
  AnySource source(PreparedSource(AnySource(ShuffledWindows(text, {7, 5}, 1)), own));
  CHECK_FALSE(source.divides());
  HostBatch batch;
  BatchDraw draw;
  REQUIRE(pull(source, batch, draw, BatchPart{1, 2}));
  CHECK(batch.part.is_whole());
  CHECK(batch.ids[0].size() == 35);
}

TEST_CASE("memory that has held a part holds a whole batch afterwards") {
  ArrayData arrays({numbers, 3, targets, 2}, {.sequences = 6});
  ShuffledWindows windows(text, {7, 5}, 1);
  HostBatch batch;
  BatchDraw draw;
  REQUIRE(pull(windows, batch, draw, BatchPart{0, 2}));
  REQUIRE(windows.next(batch));
  CHECK(batch.part.is_whole());
  CHECK(batch.ids[0].size() == 35);
  REQUIRE(pull(arrays, batch, draw, BatchPart{1, 3}));
  CHECK(batch.values[1].size() == 4);
  CHECK(batch.predictions == 12);
  REQUIRE(arrays.next(batch));
  CHECK(batch.part.is_whole());
  CHECK(batch.values[1].size() == 12);
}

}  // namespace sinter::detail::testing::batch_parts_tests
