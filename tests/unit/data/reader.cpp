// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/reader.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "sinter/data/windows.hpp"
#include "sinter/error.hpp"

using namespace sinter;
using namespace sinter::detail;

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// What a test may know and steer of a source that lives in the reader.
struct Control {
  std::atomic<int> filled{0};
  std::atomic<bool> open{true};  // closed: next() waits
};

/// Batch n holds the one token n; ends or fails at a number.
struct Counting {
  std::shared_ptr<Control> control = std::make_shared<Control>();
  int ends_at = -1, fails_at = -1;
  std::chrono::microseconds takes = 0us;
  SamplerState now{};

  bool next(HostBatch& batch) {
    while (!control->open) std::this_thread::sleep_for(100us);
    if (takes > 0us) std::this_thread::sleep_for(takes);
    if (int(now.position) == fails_at) throw FileError("the disk is gone");
    batch.clear();
    if (int(now.position) == ends_at) return false;
    batch.ids.resize(1);
    batch.ids[0].assign(1, std::int32_t(now.position++));
    batch.starts.push_back(1);
    ++control->filled;
    return true;
  }
  SamplerState state() const { return now; }
  void restore(const SamplerState& saved) {
    if (saved.data_hash != now.data_hash) throw ArgumentError("other data");
    now = saved;
  }
};

static_assert(DataSource<BackgroundReader>);

int number(const HostBatch& batch) { return batch.ids.at(0).at(0); }

bool eventually(auto condition) {
  for (const auto end = Clock::now() + 20s; Clock::now() < end; std::this_thread::sleep_for(1ms))
    if (condition()) return true;
  return false;
}

}  // namespace

TEST_CASE("reader: the same batches and states as the source alone") {
  std::vector<std::int32_t> text(500);
  std::iota(text.begin(), text.end(), 0);
  ShuffledWindows alone(text, {.context = 7, .sequences = 5}, 3);
  BackgroundReader reader(alone, 3);
  CHECK(reader.state() == alone.state());
  HostBatch expected, got;
  for (int b = 0; b < 100; ++b) {
    REQUIRE(alone.next(expected));
    REQUIRE(reader.next(got));
    REQUIRE(expected.ids == got.ids);
    REQUIRE(expected.starts == got.starts);
    REQUIRE(reader.state() == alone.state());
  }
}

TEST_CASE(
    "reader: reads as far ahead as it may and no farther; the state is of what was handed out") {
  Counting source;
  auto control = source.control;
  BackgroundReader reader(source, 4);
  CHECK(eventually([&] { return control->filled == 4; }));
  std::this_thread::sleep_for(20ms);
  CHECK(control->filled == 4);
  CHECK(reader.state().position == 0);
  HostBatch batch;
  reader.next(batch);
  CHECK(number(batch) == 0);
  CHECK(reader.state().position == 1);
  CHECK(eventually([&] { return control->filled == 5; }));
  CHECK(reader.state().position == 1);
}

TEST_CASE("reader: batches are swapped, their memory goes round") {
  BackgroundReader reader(Counting{}, 2);
  HostBatch batch;
  std::vector<const std::int32_t*> memory;
  for (int i = 0; i < 30; ++i) {
    reader.next(batch);
    CHECK(number(batch) == i);
    memory.push_back(batch.ids[0].data());
  }
  // Two in the queue and one outside: after each has its memory, no fourth appears.
  const std::vector<const std::int32_t*> three(memory.begin() + 3, memory.begin() + 6);
  for (std::size_t i = 6; i < memory.size(); ++i)
    CHECK(std::count(three.begin(), three.end(), memory[i]) == 1);
}

TEST_CASE("reader: the end of the source is its end, again and again") {
  Counting source;
  source.ends_at = 6;
  BackgroundReader reader(source);
  HostBatch batch;
  for (int i = 0; i < 6; ++i) {
    REQUIRE(reader.next(batch));
    CHECK(number(batch) == i);
  }
  for (int i = 0; i < 3; ++i) {
    CHECK_FALSE(reader.next(batch));
    CHECK(batch.rows() == 0);
    CHECK(reader.state().position == 6);
  }
  reader.restore({.position = 4});
  CHECK(reader.next(batch));
  CHECK(number(batch) == 4);
}

TEST_CASE("reader: an exception of the source arrives at next, after what came before it") {
  Counting source;
  source.fails_at = 2;
  BackgroundReader reader(source);
  HostBatch batch;
  CHECK(reader.next(batch));
  CHECK(reader.next(batch));
  for (int i = 0; i < 3; ++i) {
    CHECK_THROWS_WITH_AS(reader.next(batch), "the disk is gone", FileError);
    CHECK(number(batch) == 1);
    CHECK(reader.state().position == 2);
  }
  reader.restore({.position = 3});
  CHECK(reader.next(batch));
  CHECK(number(batch) == 3);
}

TEST_CASE("reader: restore drops what was read ahead; a refused one changes nothing") {
  BackgroundReader reader{Counting{}};
  HostBatch batch;
  for (int i = 0; i < 5; ++i) reader.next(batch);
  const auto saved = reader.state();
  for (int i = 0; i < 5; ++i) reader.next(batch);
  CHECK(number(batch) == 9);
  CHECK_THROWS_AS(reader.restore({.position = 1, .data_hash = 5}), ArgumentError);
  CHECK(reader.state().position == 10);
  reader.next(batch);
  CHECK(number(batch) == 10);
  reader.restore(saved);
  CHECK(reader.state() == saved);
  for (int i = 5; i < 30; ++i) {
    reader.next(batch);
    CHECK(number(batch) == i);
  }
}

TEST_CASE("reader: time spent waiting is counted") {
  Counting source;
  auto control = source.control;
  control->open = false;
  BackgroundReader reader(source, 2);
  const auto begin = Clock::now();
  std::thread opener([&] {
    std::this_thread::sleep_for(150ms);
    control->open = true;
  });
  HostBatch batch;
  CHECK(reader.next(batch));
  CHECK(number(batch) == 0);
  const double passed = std::chrono::duration<double>(Clock::now() - begin).count();
  CHECK(reader.waited_seconds() > 0.01);
  CHECK(reader.waited_seconds() <= passed);
  opener.join();
}

TEST_CASE("reader: what is ready is not waited for") {
  Counting source;
  auto control = source.control;
  BackgroundReader reader(source, 2);
  HostBatch batch;
  for (int i = 0; i < 20; ++i) {
    // Once batch i + 1 is filled, batch i is in the queue.
    REQUIRE(eventually([&] { return control->filled == i + 2; }));
    reader.next(batch);
    CHECK(number(batch) == i);
  }
  CHECK(reader.waited_seconds() == 0);
}

TEST_CASE("reader: destruction at any moment is prompt") {
  for (int taken = 0; taken < 4; ++taken) {  // full queue, waiting for a free slot
    BackgroundReader reader(Counting{}, 1);
    HostBatch batch;
    for (int i = 0; i < taken; ++i) reader.next(batch);
  }
  for (int i = 0; i < 50; ++i) BackgroundReader at_once(Counting{});

  Counting slow;  // in the middle of a batch: that one is waited for, no other
  slow.takes = 50ms;
  const auto begin = Clock::now();
  {
    BackgroundReader reader(slow, 100);
    std::this_thread::sleep_for(5ms);
  }
  CHECK(Clock::now() - begin < 3s);  // all 100 would take 5

  Counting failing;
  failing.fails_at = 0;
  for (int i = 0; i < 20; ++i) BackgroundReader unheard(failing);
}

TEST_CASE("reader: a depth below 1 is refused") {
  CHECK_THROWS_AS(BackgroundReader(Counting{}, 0), ArgumentError);
  CHECK_THROWS_AS(BackgroundReader(Counting{}, -3), ArgumentError);
}
