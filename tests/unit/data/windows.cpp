// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/windows.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "unit/data/support.hpp"

namespace sinter::detail::testing::windows_tests {

using Tokens = std::vector<std::int32_t>;

static_assert(DataSource<SequentialWindows> && DataSource<ShuffledWindows> &&
              DataSource<EvaluationWindows>);

/// Token i is i: so a batch says which places of the text it shows.
Tokens places(int count) {
  Tokens tokens(static_cast<std::size_t>(count));
  std::iota(tokens.begin(), tokens.end(), 0);
  return tokens;
}

/// Sequence s of a batch, after checking that it is a window: consecutive tokens, targets one
/// ahead. Returns its first token.
std::int32_t window(const HostBatch& batch, int s, int context, bool whole = true) {
  const int first = batch.starts[s], length = batch.starts[s + 1] - first;
  CHECK(length >= 1);
  CHECK(length <= context);
  if (whole) CHECK(length == context);
  for (int i = 0; i < length; ++i) {
    REQUIRE(batch.ids[0][first + i] == batch.ids[0][first] + i);
    REQUIRE(batch.ids[1][first + i] == batch.ids[0][first] + i + 1);
  }
  return batch.ids[0][first];
}

/// The first tokens of all windows in `batches` batches.
template <class Source>
Tokens firsts(Source& source, int batches, int context) {
  HostBatch batch;
  Tokens all;
  for (int b = 0; b < batches; ++b) {
    REQUIRE(source.next(batch));
    REQUIRE(batch.ids.size() == 2);
    REQUIRE(int(batch.ids[0].size()) == batch.rows());
    REQUIRE(int(batch.ids[1].size()) == batch.rows());
    for (int s = 0; s < batch.sequences(); ++s) all.push_back(window(batch, s, context));
  }
  return all;
}

TEST_CASE("windows: how many are whole") {
  CHECK(whole_windows(0, 4) == 0);
  CHECK(whole_windows(4, 4) == 0);
  CHECK(whole_windows(5, 4) == 1);
  CHECK(whole_windows(8, 4) == 1);
  CHECK(whole_windows(9, 4) == 2);
}

/// The number of windows of each batch up to the end.
template <class Source>
std::vector<int> sizes_to_the_end(Source source) {
  std::vector<int> sizes;
  for (HostBatch batch; source.next(batch);) sizes.push_back(batch.sequences());
  return sizes;
}

TEST_CASE("windows end after epochs and after windows, and what an epoch leaves out is said") {
  const int context = 8;
  const Tokens text = places(20 * context + 5);
  SequentialWindows in_order(text, {.context = context, .sequences = 6});
  CHECK(in_order.end_at({.epochs = 2}) ==
        "an epoch is 18 windows of 8 tokens, and leaves out 20 that fill no window");
  CHECK(sizes_to_the_end(in_order) == std::vector<int>(6, 6));
  in_order.end_at({.items = 20});
  CHECK(sizes_to_the_end(in_order) == std::vector<int>{6, 6, 6, 2});
  const auto shapes = [](std::uint64_t) { return BatchShape{2, 8}; };
  SequentialWindows changing(text, {.context = context, .sequences = 6}, shapes);
  CHECK(contains(refusal([&] { changing.end_at({.epochs = 1}); }), "cannot end exactly"));

  ShuffledWindows shuffled(text, {.context = context, .sequences = 6}, 3);
  const std::int64_t first = shuffled.windows();
  CHECK(contains(shuffled.end_at({.epochs = 3}), std::to_string(first) + " windows of 8 tokens"));
  std::uint64_t windows = 0;
  for (int size : sizes_to_the_end(shuffled)) windows += std::uint64_t(size);
  CHECK(windows == shuffled.state().end);
  ShuffledWindows endless(text, {.context = context, .sequences = 6}, 3);
  HostBatch batch, other;
  while (shuffled.next(batch)) {
    REQUIRE(endless.next(other));
    if (batch.sequences() == 6) CHECK(batch.ids == other.ids);
  }
  CHECK(shuffled.state().epoch == 3);
  CHECK(shuffled.state().position == 0);
}

TEST_CASE("sequential windows: row r of micro-batch m in step s is window s·global + m·micro + r") {
  const int context = 8, global = 6, micro = 2;
  const Tokens text = places(20 * context + 5);  // 20 whole windows, 3 steps of 6, 2 left over
  SequentialWindows source(text, {.context = context, .sequences = global});
  CHECK(source.batches_per_epoch() == 3);
  HostBatch batch;
  for (int step = 0; step < 8; ++step) {
    REQUIRE(source.next(batch));
    REQUIRE(batch.sequences() == global);
    for (int m = 0; m < global / micro; ++m)
      for (int r = 0; r < micro; ++r)
        CHECK(window(batch, m * micro + r, context) ==
              (step % 3 * global + m * micro + r) * context);
  }
  CHECK(source.state().epoch == 2);
  CHECK(source.state().position == 12);
}

TEST_CASE("sequential windows: a text that just fills one or two batches, and one token less") {
  const Tokens text = places(3 * 4 + 1);
  SequentialWindows source(text, {.context = 4, .sequences = 3});
  CHECK(firsts(source, 2, 4) == Tokens{0, 4, 8, 0, 4, 8});
  const Tokens twice = places(6 * 4 + 1);
  SequentialWindows two_batches(twice, {.context = 4, .sequences = 3});
  CHECK(firsts(two_batches, 3, 4) == Tokens{0, 4, 8, 12, 16, 20, 0, 4, 8});
  const std::span<const std::int32_t> shorter = std::span(text).first(12);
  const auto text_of_error =
      refusal([&] { SequentialWindows(shorter, {.context = 4, .sequences = 3}); });
  CHECK_MESSAGE(contains(text_of_error, "12 tokens"), text_of_error);
  CHECK_MESSAGE(contains(text_of_error, "needs 13"), text_of_error);
}

TEST_CASE("shuffled windows: each window of the epoch's phase exactly once, batches cross epochs") {
  for (int context : {1, 7, 16}) {
    const Tokens text = places(50 * context + context / 2 + 1);
    ShuffledWindows source(text, {.context = context, .sequences = 1}, 11);
    std::vector<Tokens> epochs;
    Tokens in_one_stream;
    std::set<std::int64_t> phases;
    for (int epoch = 0; epoch < 12; ++epoch) {
      const auto phase = source.phase(), windows = source.windows();
      CHECK(source.state().epoch == std::uint64_t(epoch));
      CHECK(phase >= 0);
      CHECK(phase < context);
      CHECK(windows == (std::int64_t(text.size()) - 1 - phase) / context);
      phases.insert(phase);
      Tokens seen = firsts(source, int(windows), context);
      in_one_stream.insert(in_one_stream.end(), seen.begin(), seen.end());
      epochs.push_back(seen);
      std::sort(seen.begin(), seen.end());
      for (std::int64_t w = 0; w < windows; ++w) REQUIRE(seen[w] == phase + w * context);
      CHECK(seen != epochs.back());  // in another order than they lie
    }
    if (context > 1) CHECK(phases.size() > std::size_t(context) / 3);
    CHECK(epochs[0] != epochs[1]);

    ShuffledWindows crossing(text, {.context = context, .sequences = 7}, 11);
    const int batches = int(in_one_stream.size()) / 7;
    const Tokens crossed = firsts(crossing, batches, context);
    CHECK(std::equal(crossed.begin(), crossed.end(), in_one_stream.begin()));
  }
}

TEST_CASE("shuffled windows: the seed decides, and nothing else does") {
  const Tokens text = places(1000);
  const WindowShape shape{.context = 16, .sequences = 5};
  ShuffledWindows a(text, shape, 1), again(text, shape, 1), b(text, shape, 2);
  const Tokens first = firsts(a, 40, 16);
  CHECK(first == firsts(again, 40, 16));
  CHECK(first != firsts(b, 40, 16));
  // From an implementation of the same definition in Python. A later version that draws differently
  // must rename the order.
  CHECK(std::vector(first.begin(), first.begin() + 8) ==
        Tokens{380, 636, 204, 892, 604, 556, 252, 140});
}

TEST_CASE("shuffled windows: texts of one window and a little more") {
  const int context = 5;
  for (int size = context + 1; size <= 3 * context; ++size) {
    const Tokens text = places(size);
    ShuffledWindows source(text, {.context = context, .sequences = 4}, 3);
    std::set<std::int32_t> starts;
    for (auto first : firsts(source, 40, context)) starts.insert(first);
    CHECK(*starts.rbegin() + context < size);
    CHECK(int(starts.size()) == size - context);  // all places where a window fits are reached
  }
  const Tokens text = places(context);
  const auto error = refusal([&] { ShuffledWindows(text, {.context = 5, .sequences = 1}, 0); });
  CHECK_MESSAGE(contains(error, "it has 5 tokens"), error);
  CHECK_MESSAGE(contains(error, "needs 6"), error);
}

TEST_CASE_TEMPLATE("windows: restoring any position equals going on", Source, SequentialWindows,
                   ShuffledWindows) {
  const Tokens text = places(137);
  const WindowShape shape{.context = 6, .sequences = 4};
  auto make = [&](std::uint64_t seed) {
    if constexpr (std::is_same_v<Source, ShuffledWindows>)
      return Source(text, shape, seed);
    else
      return (void)seed, Source(text, shape);
  };
  Source source = make(9);
  HostBatch expected, got;
  for (int batch = 0; batch < 25; ++batch) {
    const auto fields = source.state().to_fields();
    Source resumed = make(8);  // the saved seed wins
    firsts(resumed, 3, 6);
    resumed.restore(SamplerState::from_fields(fields));
    CHECK(resumed.state() == source.state());
    Source ahead = source;
    for (int i = 0; i < 12; ++i) {
      ahead.next(expected);
      resumed.next(got);
      REQUIRE(expected.ids == got.ids);
      REQUIRE(expected.starts == got.starts);
      REQUIRE(ahead.state() == resumed.state());
    }
    source.next(expected);
  }
}

TEST_CASE("shuffled windows: another batch size goes on with the same windows") {
  const Tokens text = places(500);
  ShuffledWindows five(text, {.context = 6, .sequences = 5}, 1);
  ShuffledWindows three(text, {.context = 6, .sequences = 3}, 1);
  firsts(five, 4, 6);
  three.restore(five.state());
  CHECK(firsts(five, 30, 6) == firsts(three, 50, 6));
}

TEST_CASE("windows: a state of other data, context, order or of a damaged file is refused") {
  const Tokens text = places(200);
  Tokens changed = text;
  changed[100] = 0;
  const WindowShape shape{.context = 6, .sequences = 4};
  ShuffledWindows source(text, shape, 1);
  firsts(source, 3, 6);
  const auto before = source.state();
  auto refused = [&](const SamplerState& state) {
    const auto text_of_error = refusal([&] { source.restore(state); });
    CHECK(source.state() == before);
    return text_of_error;
  };
  CHECK(contains(refused(ShuffledWindows(changed, shape, 1).state()), "hash"));
  const std::span<const std::int32_t> shorter = std::span(text).first(199);
  CHECK(contains(refused(ShuffledWindows(shorter, shape, 1).state()), "was 199 and is 200"));
  CHECK(contains(refused(ShuffledWindows(text, {.context = 7, .sequences = 4}, 1).state()),
                 "context was 7 and is 6"));
  CHECK(contains(refused(SequentialWindows(text, shape).state()), "order was sequential"));
  SamplerState damaged = before;
  damaged.position = std::uint64_t(source.windows());
  CHECK(contains(refused(damaged), "impossible"));
  damaged.position = ~std::uint64_t{0};
  CHECK(contains(refused(damaged), "impossible"));
  CHECK(contains(refusal([&] {
                   SequentialWindows sequential(text, shape);
                   auto state = sequential.state();
                   state.position = 1000;
                   sequential.restore(state);
                 }),
                 "impossible"));

  ShuffledWindows untouched(text, shape, 1);
  firsts(untouched, 3, 6);
  CHECK(firsts(source, 20, 6) == firsts(untouched, 20, 6));
}

TEST_CASE("evaluation windows: each token but the first is predicted exactly once, in order") {
  for (int context : {1, 4, 5, 64})
    for (int size = 2; size <= 70; ++size) {
      const Tokens text = places(size);
      EvaluationWindows source(text, {.context = context, .sequences = 3});
      HostBatch batch;
      Tokens predicted;
      std::int64_t windows = 0;
      while (source.next(batch)) {
        const bool last = predicted.size() + std::size_t(batch.rows()) == text.size() - 1;
        if (!last) CHECK(batch.sequences() == 3);
        for (int s = 0; s < batch.sequences(); ++s)
          window(batch, s, context, !last || s + 1 < batch.sequences());
        predicted.insert(predicted.end(), batch.ids[1].begin(), batch.ids[1].end());
        windows += batch.sequences();
      }
      REQUIRE(predicted == Tokens(text.begin() + 1, text.end()));
      CHECK(source.predicted() == size - 1);
      CHECK(source.windows() == windows);
      CHECK(batch.rows() == 0);
      CHECK_FALSE(source.next(batch));
      source.restart();
      CHECK(source.next(batch));
    }
}

TEST_CASE("evaluation windows: restore, and a text with nothing to predict") {
  const Tokens text = places(43);
  const WindowShape shape{.context = 4, .sequences = 2};
  EvaluationWindows source(text, shape), other(text, shape);
  HostBatch a, b;
  source.next(a), source.next(a);
  other.restore(source.state());
  while (source.next(a)) {
    REQUIRE(other.next(b));
    CHECK(a.ids == b.ids);
    CHECK(a.starts == b.starts);
  }
  CHECK_FALSE(other.next(b));
  const std::vector<unsigned char> one{'x'};
  const auto error = refusal([&] { EvaluationWindows(one, {.context = 4, .sequences = 2}); });
  CHECK_MESSAGE(contains(error, "it has 1 bytes"), error);
  CHECK_MESSAGE(contains(error, "needs 2"), error);
}

TEST_CASE("windows: shapes that make no sense are refused") {
  const Tokens text = places(100);
  for (WindowShape shape : {WindowShape{0, 1}, {1, 0}, {-4, 2}, {4, -2}, {1 << 20, 1 << 12}}) {
    CHECK_FALSE(refusal([&] { SequentialWindows(text, shape); }).empty());
    CHECK_FALSE(refusal([&] { ShuffledWindows(text, shape, 0); }).empty());
    CHECK_FALSE(refusal([&] { EvaluationWindows(text, shape); }).empty());
  }
}

TEST_CASE("windows: a batch that is filled again allocates nothing") {
  const Tokens text = places(300);
  ShuffledWindows source(text, {.context = 8, .sequences = 4}, 1);
  HostBatch batch;
  source.next(batch);
  const auto *starts = batch.starts.data(), *tokens = batch.ids[0].data();
  for (int i = 0; i < 20; ++i) source.next(batch);
  CHECK(batch.starts.data() == starts);
  CHECK(batch.ids[0].data() == tokens);
}

}  // namespace sinter::detail::testing::windows_tests
