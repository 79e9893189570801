// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/arrays.hpp"
#include "sinter/data/any_source.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "unit/data/support.hpp"

namespace sinter::detail::testing::arrays_tests {

static_assert(DataSource<ArrayData> && DataSource<EvaluationArrays>);
static_assert(EndingSource<ArrayData> && NeverEnds<ArrayData> && !NeverEnds<EvaluationArrays>);

using Floats = std::vector<float>;
using Classes = std::vector<std::int32_t>;
// Arrays that stay, and views of them, can be read; temporary ones are gone before the first batch.
static_assert(
    std::is_constructible_v<ArrayData, Floats&, int, std::span<const float>, int, ArrayOptions>);
static_assert(!std::is_constructible_v<ArrayData, Floats, int, Floats&, int, ArrayOptions>);
static_assert(!std::is_constructible_v<ArrayData, const Floats&, int, Floats, int, ArrayOptions>);
static_assert(std::is_constructible_v<EvaluationArrays, Floats&, int, const Floats&, int, int>);
static_assert(!std::is_constructible_v<EvaluationArrays, Floats&, int, Floats, int, int>);
static_assert(std::is_constructible_v<ArrayRows, Floats&, int, Classes&>);
static_assert(!std::is_constructible_v<ArrayRows, Floats&, int, Classes>);
static_assert(!std::is_constructible_v<ArrayRows, Floats, int, Floats, int>);

/// Row r has inputs (10 r, 10 r + 1, 10 r + 2) and targets (-r, -r - 0.5).
struct Example {
  std::vector<float> inputs, targets;
  explicit Example(int rows) {
    for (int r = 0; r < rows; ++r) {
      for (int i = 0; i < 3; ++i) inputs.push_back(float(10 * r + i));
      for (int i = 0; i < 2; ++i) targets.push_back(-float(r) - 0.5f * float(i));
    }
  }
  ArrayData source(ArrayOptions options) const { return {inputs, 3, targets, 2, options}; }
};

/// The rows in a batch, after checking that inputs and targets belong together.
std::vector<int> rows(const HostBatch& batch) {
  std::vector<int> all;
  REQUIRE(batch.values.size() == 2);
  REQUIRE(batch.sequences() == batch.rows());
  REQUIRE(batch.values[0].size() == 3 * std::size_t(batch.rows()));
  REQUIRE(batch.values[1].size() == 2 * std::size_t(batch.rows()));
  for (int s = 0; s < batch.rows(); ++s) {
    REQUIRE(batch.starts[s + 1] == s + 1);
    const int row = int(batch.values[0][3 * s]) / 10;
    for (int i = 0; i < 3; ++i) CHECK(batch.values[0][3 * s + i] == float(10 * row + i));
    for (int i = 0; i < 2; ++i) CHECK(batch.values[1][2 * s + i] == -float(row) - 0.5f * float(i));
    all.push_back(row);
  }
  return all;
}

std::vector<int> take(ArrayData& source, int batches) {
  HostBatch batch;
  std::vector<int> all;
  for (int b = 0; b < batches; ++b) {
    REQUIRE(source.next(batch));
    for (int row : rows(batch)) all.push_back(row);
  }
  return all;
}

TEST_CASE("arrays: shuffled, each row once per epoch, batches cross epochs") {
  const Example data(23);
  auto source = data.source({.sequences = 5, .seed = 4});
  const auto all = take(source, 23);  // 5 epochs
  CHECK(source.state().epoch == 5);
  CHECK(source.state().position == 0);
  std::vector<std::vector<int>> epochs;
  for (int e = 0; e < 5; ++e) {
    epochs.emplace_back(all.begin() + 23 * e, all.begin() + 23 * (e + 1));
    auto sorted = epochs.back();
    std::sort(sorted.begin(), sorted.end());
    for (int r = 0; r < 23; ++r) CHECK(sorted[r] == r);
  }
  CHECK(epochs[0] != epochs[1]);
  auto again = data.source({.sequences = 5, .seed = 4});
  auto other = data.source({.sequences = 5, .seed = 5});
  CHECK(take(again, 23) == all);
  CHECK(take(other, 23) != all);
}

TEST_CASE("arrays: a source that is told to end gives the batches before, and a short last one") {
  const Example data(23);
  for (const SourceEnd end : {SourceEnd{.epochs = 2}, SourceEnd{.items = 46}}) {
    auto source = data.source({.sequences = 5, .seed = 4}), endless = source;
    CHECK(source.end_at(end) == "");
    CHECK(take(source, 9) == take(endless, 9));
    auto resumed = data.source({.sequences = 5, .seed = 9});
    resumed.restore(SamplerState::from_fields(source.state().to_fields()));
    HostBatch batch;
    for (ArrayData* one : {&source, &resumed}) {
      REQUIRE(one->next(batch));
      CHECK(batch.sequences() == 1);
      CHECK(one->state().epoch == 2);
      CHECK_FALSE(one->next(batch));
      CHECK(batch.sequences() == 0);
      CHECK_FALSE(one->next(batch));
    }
  }
  AnySource any(data.source({.sequences = 5}));
  CHECK(any.never_ends());
  CHECK(contains(refusal([&] { (void)any.batches_left(); }), "no end"));
  any.end_at({.epochs = 2});
  CHECK_FALSE(any.never_ends());
  CHECK(any.batches_left() == 10);
  CHECK(any.state().items == 0);
  AnySource finite(EvaluationArrays(data.inputs, 3, data.targets, 2, 8));
  CHECK(contains(refusal([&] { finite.end_at({.epochs = 2}); }), "cannot be told where to end"));
}

TEST_CASE("arrays: sequential, and a batch larger than the data") {
  const Example data(3);
  auto source = data.source({.sequences = 7, .order = Order::sequential});
  CHECK(take(source, 2) == std::vector<int>{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1});
}

TEST_CASE("arrays: restoring any position equals going on") {
  const Example data(11);
  for (Order order : {Order::shuffled, Order::sequential}) {
    auto source = data.source({.sequences = 4, .order = order, .seed = 1});
    for (int b = 0; b < 12; ++b) {
      auto resumed = data.source({.sequences = 4, .order = order, .seed = 2});
      take(resumed, 2);
      resumed.restore(SamplerState::from_fields(source.state().to_fields()));
      auto ahead = source;
      CHECK(take(ahead, 9) == take(resumed, 9));
      CHECK(ahead.state() == resumed.state());
      take(source, 1);
    }
  }
}

TEST_CASE("arrays: states of other data are refused") {
  const Example data(11), longer(12);
  Example changed(11);
  changed.targets[3] += 1;
  const ArrayOptions options{.sequences = 4};
  auto source = data.source(options);
  const auto before = source.state();
  auto refused = [&](SamplerState state) { return refusal([&] { source.restore(state); }); };
  CHECK(contains(refused(longer.source(options).state()), "was 12 and is 11"));
  CHECK(contains(refused(changed.source(options).state()), "hash"));
  CHECK(contains(refused(data.source({.sequences = 4, .order = Order::sequential}).state()),
                 "order was sequential rows"));
  auto damaged = before;
  damaged.position = 11;
  CHECK(contains(refused(damaged), "impossible"));
  CHECK(source.state() == before);
  // The same numbers, cut into other widths.
  const std::vector<float> six(6), other_cut(6);
  ArrayData a(six, 2, other_cut, 2, options), b(six, 2, std::span(other_cut).first(3), 1, options);
  CHECK_FALSE(refusal([&] { a.restore(b.state()); }).empty());
}

TEST_CASE("arrays: rows with classes") {
  const std::vector<float> inputs{1, 2, 3, 4, 5, 6};
  const std::vector<std::int32_t> classes{4, -1, 7}, others{4, -1, 6};
  ArrayData source(ArrayRows(inputs, 2, classes), {.sequences = 4, .order = Order::sequential});
  HostBatch batch;
  REQUIRE(source.next(batch));
  CHECK(batch.values == std::vector<std::vector<float>>{{1, 2, 3, 4, 5, 6, 1, 2}});
  CHECK(batch.ids == std::vector<std::vector<std::int32_t>>{{4, -1, 7, 4}});
  CHECK(batch.sequences() == 4);
  EvaluationArrays all(ArrayRows(inputs, 2, classes), 2);
  REQUIRE(all.next(batch));
  REQUIRE(all.next(batch));
  CHECK(batch.ids == std::vector<std::vector<std::int32_t>>{{7}});
  CHECK(batch.values == std::vector<std::vector<float>>{{5, 6}});
  CHECK(!all.next(batch));
  ArrayData other(ArrayRows(inputs, 2, others), {.sequences = 4, .order = Order::sequential});
  CHECK(contains(refusal([&] { other.restore(source.state()); }), "hash"));
  CHECK(contains(refusal([&] { ArrayRows(inputs, 3, classes); }), "2 rows of inputs"));
}

TEST_CASE("arrays: sizes that do not fit are refused with both numbers") {
  const std::vector<float> six(6), four(4), none;
  auto text = refusal([&] { ArrayData(six, 4, four, 1, {.sequences = 1}); });
  CHECK_MESSAGE(contains(text, "inputs have 6 numbers"), text);
  CHECK_MESSAGE(contains(text, "width 4"), text);
  text = refusal([&] { ArrayData(six, 2, four, 1, {.sequences = 1}); });
  CHECK_MESSAGE(contains(text, "3 rows of inputs"), text);
  CHECK_MESSAGE(contains(text, "4 rows of targets"), text);
  CHECK(contains(refusal([&] { ArrayData(six, 0, four, 1, {.sequences = 1}); }), "is 0"));
  CHECK(contains(refusal([&] { ArrayData(six, 2, four, -1, {.sequences = 1}); }), "is -1"));
  CHECK(contains(refusal([&] { ArrayData(none, 1, none, 1, {.sequences = 1}); }), "empty"));
  CHECK(contains(refusal([&] { ArrayData(six, 1, six, 1, {.sequences = 0}); }), "not 0"));
  CHECK(contains(refusal([&] { EvaluationArrays(six, 1, six, 1, -2); }), "not -2"));
}

TEST_CASE("arrays: evaluation takes each row once, in order, the last batch smaller") {
  const Example data(11);
  EvaluationArrays source(data.inputs, 3, data.targets, 2, 4);
  HostBatch batch;
  for (int pass = 0; pass < 2; ++pass) {
    std::vector<int> all, sizes;
    while (source.next(batch)) {
      sizes.push_back(batch.rows());
      for (int row : rows(batch)) all.push_back(row);
    }
    CHECK(sizes == std::vector<int>{4, 4, 3});
    std::vector<int> expected(11);
    std::iota(expected.begin(), expected.end(), 0);
    CHECK(all == expected);
    CHECK(batch.rows() == 0);
    source.restart();
  }
  source.next(batch);
  EvaluationArrays other(data.inputs, 3, data.targets, 2, 4);
  other.restore(source.state());
  other.next(batch);
  CHECK(rows(batch) == std::vector<int>{4, 5, 6, 7});
}

TEST_CASE("arrays: a batch that held tokens before is taken over") {
  const Example data(5);
  auto source = data.source({.sequences = 2, .order = Order::sequential});
  HostBatch batch;
  batch.starts = {0, 3};
  batch.ids = {{1, 2, 3}, {2, 3, 4}};
  source.next(batch);
  CHECK(batch.ids.empty());
  CHECK(rows(batch) == std::vector<int>{0, 1});
}

}  // namespace sinter::detail::testing::arrays_tests
