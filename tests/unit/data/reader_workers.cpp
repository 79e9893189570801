// SPDX-License-Identifier: Apache-2.0
// Several workers prepare batches: the same batches in the same order as the source alone gives.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "sinter/batching/length_grouped.hpp"
#include "sinter/batching/packed.hpp"
#include "sinter/batching/padded.hpp"
#include "sinter/data/any_source.hpp"
#include "sinter/data/arrays.hpp"
#include "sinter/data/example_source.hpp"
#include "sinter/data/reader.hpp"
#include "sinter/data/windows.hpp"
#include "sinter/error.hpp"
#include "support/numbered_examples.hpp"

namespace sinter::detail::testing::reader_workers_tests {

using namespace std::chrono_literals;

constexpr int worker_counts[] = {0, 1, 2, 4};

/// What a test may know and steer of a source that lives in the reader.
struct Control {
  std::atomic<int> drawn{0}, filled{0}, at_once{0}, max_at_once{0};
  std::atomic<int> wanted_at_once{0};  // fill() waits for so many of them, for a while
};

/// Batch n holds the one token n. Ends or fails at a number; each other batch takes longer.
struct Divided {
  std::shared_ptr<Control> control = std::make_shared<Control>();
  int ends_at = -1, draw_fails_at = -1, fill_fails_at = -1;
  std::chrono::microseconds takes = 0us;
  SamplerState now{};
  BatchDraw drawn{};

  bool next(HostBatch& batch) {
    if (!draw(drawn)) return batch.clear(), false;
    fill(drawn, batch);
    return true;
  }
  bool draw(BatchDraw& draw) {
    const auto number = int(now.position);
    if (number == ends_at) return false;
    if (number == draw_fails_at) throw FileError("no draw");
    draw.items.assign(1, std::int64_t(now.position++));
    ++control->drawn;
    return true;
  }
  void fill(const BatchDraw& draw, HostBatch& batch) const {
    const int others = ++control->at_once;
    for (int most = control->max_at_once; most < others;)
      if (control->max_at_once.compare_exchange_weak(most, others)) break;
    const auto until = std::chrono::steady_clock::now() + 20s;
    while (control->max_at_once < control->wanted_at_once &&
           std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(100us);
    const auto number = int(draw.items.at(0));
    if (takes > 0us && number % 2 == 0) std::this_thread::sleep_for(takes);
    --control->at_once;
    if (number == fill_fails_at) throw FileError("no fill");
    batch.clear();
    batch.ids.assign(1, {number});
    batch.starts.push_back(1);
    ++control->filled;
  }
  SamplerState state() const { return now; }
  void restore(const SamplerState& saved) { now = saved; }
};

/// The same, but next() is all it has; it is not to be used by two threads at once.
struct Undivided {
  Divided source;
  bool next(HostBatch& batch) { return source.next(batch); }
  SamplerState state() const { return source.now; }
  void restore(const SamplerState& saved) { source.now = saved; }
};

static_assert(DividedSource<Divided> && !DividedSource<Undivided>);
static_assert(DividedSource<ShuffledWindows> && DividedSource<SequentialWindows> &&
              DividedSource<ExampleBatches> && DividedSource<ArrayData>);

int number(const HostBatch& batch) { return batch.ids.at(0).at(0); }

void require_same(const HostBatch& a, const HostBatch& b) {
  REQUIRE(a.starts == b.starts);
  REQUIRE(a.ids == b.ids);
  REQUIRE(a.values == b.values);
  REQUIRE(a.examples == b.examples);
}

/// Reads with any number of workers as `make()` alone does, with restores at random in between.
void check_against_alone(auto make) {
  std::vector<HostBatch> batches(40);
  std::vector<SamplerState> states;
  auto alone = make();
  for (HostBatch& batch : batches) {
    states.push_back(alone.state());
    REQUIRE(pull(alone, batch));
  }
  std::mt19937 random(3);
  for (int workers : worker_counts)
    for (int depth : {1, 3, 8}) {
      CAPTURE(workers);
      CAPTURE(depth);
      BackgroundReader reader(AnySource(make()), {.depth = depth, .workers = workers});
      HostBatch got;
      for (int part = 0; part < 5; ++part) {
        const std::size_t begin = part == 0 ? 0 : random() % 30, end = begin + random() % 10 + 1;
        if (part > 0) reader.restore(states[begin]);
        for (std::size_t b = begin; b < end; ++b) {
          REQUIRE(reader.state() == states[b]);
          REQUIRE(reader.next(got));
          require_same(batches[b], got);
        }
      }
    }
}

TEST_CASE("any number of workers gives the batches and states of the source alone") {
  std::vector<std::int32_t> text(500);
  std::iota(text.begin(), text.end(), 0);
  const WindowShape shape{.context = 7, .sequences = 5};
  auto grows = [](std::uint64_t items) { return BatchShape{1 + int(items % 5), 3}; };
  check_against_alone([&] { return ShuffledWindows(text, shape, 3); });
  check_against_alone([&] { return ShuffledWindows(text, shape, 3, grows); });
  check_against_alone([&] { return SequentialWindows(text, shape); });

  std::mt19937_64 random(7);
  const ExampleSet set = numbered_examples(100, random);
  for (const Batching& batching :
       {Packed::batching(16), Padded::batching(16), LengthGrouped::batching(16)})
    check_against_alone([&] {
      return ExampleBatches(set, {0, 90}, {.sequences = 16, .seed = 5, .batching = batching});
    });

  const std::vector<float> numbers(60, 0.5f);
  std::vector<std::int32_t> classes(30);
  std::iota(classes.begin(), classes.end(), 0);
  check_against_alone(
      [&] { return ArrayData(ArrayRows(numbers, 2, classes), {.sequences = 7, .seed = 1}); });
  check_against_alone([] { return Divided{}; });
  check_against_alone([] { return Undivided{}; });
}

TEST_CASE("batches that are ready out of order are handed out in order") {
  for (int workers : worker_counts) {
    Divided source;
    source.takes = 500us;
    BackgroundReader reader(source, {.depth = 6, .workers = workers});
    HostBatch batch;
    for (int n = 0; n < 100; ++n) {
      REQUIRE(reader.next(batch));
      REQUIRE(number(batch) == n);
      REQUIRE(reader.state().position == std::uint64_t(n) + 1);
    }
  }
}

TEST_CASE("workers prepare batches at the same time, where the source divides") {
  Divided source;
  source.control->wanted_at_once = 3;
  {
    BackgroundReader reader(source, {.depth = 4, .workers = 3});
    HostBatch batch;
    CHECK(reader.next(batch));
  }
  CHECK(source.control->max_at_once == 3);

  Undivided other;
  other.source.takes = 100us;
  BackgroundReader reader(other, {.depth = 4, .workers = 3});
  HostBatch batch;
  for (int n = 0; n < 50; ++n) {
    REQUIRE(reader.next(batch));
    REQUIRE(number(batch) == n);
  }
  CHECK(other.source.control->max_at_once == 1);
}

TEST_CASE("an error in any worker arrives after the batches before it, until a restore") {
  for (int workers : worker_counts)
    for (bool in_fill : {false, true})
      for (int at : {0, 1, 5}) {
        CAPTURE(workers);
        CAPTURE(in_fill);
        CAPTURE(at);
        Divided source;
        source.takes = 300us;
        (in_fill ? source.fill_fails_at : source.draw_fails_at) = at;
        BackgroundReader reader(source, {.depth = 8, .workers = workers});
        HostBatch batch;
        for (int n = 0; n < at; ++n) {
          REQUIRE(reader.next(batch));
          REQUIRE(number(batch) == n);
        }
        for (int again = 0; again < 3; ++again) {
          CHECK_THROWS_WITH_AS(reader.next(batch), in_fill ? "no fill" : "no draw", FileError);
          if (at > 0) CHECK(number(batch) == at - 1);
          CHECK(reader.state().position == std::uint64_t(at));
        }
        reader.restore({.position = std::uint64_t(at) + 1});
        for (int n = at + 1; n < at + 20; ++n) {
          REQUIRE(reader.next(batch));
          REQUIRE(number(batch) == n);
        }
      }
}

TEST_CASE("the end comes after the last batch, with any number of workers") {
  for (int workers : worker_counts) {
    Divided source;
    source.takes = 300us;
    source.ends_at = 5;
    BackgroundReader reader(source, {.depth = 8, .workers = workers});
    HostBatch batch;
    for (int n = 0; n < 5; ++n) {
      REQUIRE(reader.next(batch));
      REQUIRE(number(batch) == n);
    }
    for (int again = 0; again < 2; ++again) {
      CHECK_FALSE(reader.next(batch));
      CHECK(batch.rows() == 0);
    }
    reader.restore({.position = 3});
    CHECK(reader.next(batch));
    CHECK(number(batch) == 3);
  }
}

TEST_CASE("without workers nothing is read ahead, and preparing is waiting") {
  Divided source;
  source.takes = 20ms;
  BackgroundReader reader(source, {.depth = 8, .workers = 0});
  CHECK(source.control->drawn == 0);
  HostBatch batch;
  for (int n = 1; n <= 3; ++n) {
    reader.next(batch);
    CHECK(source.control->drawn == n);
  }
  CHECK(reader.waited_seconds() > 0.04);
}

TEST_CASE("destruction with several workers is prompt") {
  for (int workers : worker_counts)
    for (int round = 0; round < 30; ++round) {
      Divided source;
      source.takes = std::chrono::microseconds(round * 20);
      if (round % 3 == 0) source.fill_fails_at = 2;
      BackgroundReader reader(source, {.depth = 1 + round % 6, .workers = workers});
      HostBatch batch;
      if (round % 2 == 0) reader.next(batch);
    }
}

TEST_CASE("fewer than no workers are refused") {
  CHECK_THROWS_AS(BackgroundReader(Divided{}, {.depth = 4, .workers = -1}), ArgumentError);
}

}  // namespace sinter::detail::testing::reader_workers_tests
