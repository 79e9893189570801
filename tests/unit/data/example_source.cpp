// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/example_source.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "sinter/data/any_source.hpp"
#include "support/batchings.hpp"
#include "support/numbered_examples.hpp"
#include "unit/data/support.hpp"

namespace sinter::detail::testing::example_source_tests {

static_assert(DataSource<ExampleBatches> && DataSource<EvaluationExamples>);

bool same(const HostBatch& a, const HostBatch& b) { return a.starts == b.starts && a.ids == b.ids; }

/// What one source is tried with.
struct Trial {
  ExampleSet set;
  ExampleRange range;
  ExampleBatchOptions options;
};

/// Runs `check` with all batchings on many spreads of lengths, seeds and sizes.
void each_trial(auto check) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 40; ++round) {
    const int count = 1 + int(random() % (round % 8 == 0 ? 3000 : 200));
    const int sequences = 1 + int(random() % 70),
              least = 1 + int(random() % std::uint64_t(sequences));
    const ExampleSet set = numbered_examples(count, random);
    const std::int64_t first = std::int64_t(random() % std::uint64_t(count));
    for (const Batching& batching : all_batchings(sequences)) {
      CAPTURE(round);
      CAPTURE(batching.order);
      CAPTURE(batching.pads);
      check(
          Trial{set,
                {first, count - first},
                {.sequences = sequences, .least = least, .seed = random(), .batching = batching}});
    }
  }
}

TEST_CASE("each epoch has each example exactly once, however batches are made") {
  each_trial([](const Trial& trial) {
    const auto& [set, range, options] = trial;
    ExampleBatches source(set, range, options);
    std::vector<std::int64_t> order;
    HostBatch batch;
    while (std::int64_t(order.size()) < 3 * range.count) {
      REQUIRE(source.next(batch));
      REQUIRE(batch.sequences() >= options.least);
      REQUIRE(batch.sequences() <= options.sequences);
      const std::vector<std::int64_t> numbers = numbers_of(batch);
      order.insert(order.end(), numbers.begin(), numbers.end());
      REQUIRE(source.state().items == order.size());
      REQUIRE(source.state().epoch == order.size() / std::size_t(range.count));
      REQUIRE(source.state().position == order.size() % std::size_t(range.count));
    }
    std::vector<std::int64_t> all(static_cast<std::size_t>(range.count));
    std::iota(all.begin(), all.end(), range.first);
    for (int epoch = 0; epoch < 3; ++epoch) {
      const auto first = order.begin() + epoch * range.count;
      std::vector<std::int64_t> sorted(first, first + range.count);
      std::sort(sorted.begin(), sorted.end());
      REQUIRE(sorted == all);
    }
    if (range.count > 30)
      CHECK(!std::equal(order.begin(), order.begin() + range.count, order.begin() + range.count));
  });
}

TEST_CASE("a source that is told to end gives the batches before, and cuts the last") {
  each_trial([](const Trial& trial) {
    const auto& [set, range, options] = trial;
    ExampleBatches endless(set, range, options), epochs = endless, some = endless;
    epochs.end_at({.epochs = 2});
    some.end_at({.items = std::uint64_t(range.count) + 1});
    for (ExampleBatches* source : {&epochs, &some}) {
      endless.restore(ExampleBatches(set, range, options).state());
      AnySource counted(*source);
      const std::int64_t batches = counted.batches_left();
      HostBatch batch, whole;
      std::uint64_t items = 0;
      std::int64_t taken = 0;
      while (source->next(batch)) {
        endless.next(whole);
        ++taken;
        items += std::uint64_t(batch.sequences());
        if (items < source->state().end) REQUIRE(same(batch, whole));
        std::vector<std::int64_t> numbers = numbers_of(whole);
        numbers.resize(std::size_t(batch.sequences()));
        REQUIRE(numbers_of(batch) == numbers);
      }
      REQUIRE(items == source->state().end);
      REQUIRE(taken == batches);
    }
    REQUIRE(epochs.state().end == 2 * std::uint64_t(range.count));
    REQUIRE(epochs.state().epoch == 2);
  });
}

TEST_CASE("a source goes on, after a restore, with the very batches that followed") {
  each_trial([](const Trial& trial) {
    const auto& [set, range, options] = trial;
    ExampleBatches source(set, range, options);
    ExampleBatchOptions other = options;
    other.seed = options.seed + 1;  // the state brings the seed
    HostBatch batch, again;
    for (std::uint64_t skipped = options.seed % 9; skipped > 0; --skipped) source.next(batch);
    ExampleBatches resumed(set, range, other);
    resumed.restore(SamplerState::from_fields(source.state().to_fields()));
    for (int k = 0; k < 12; ++k) {
      source.next(batch);
      resumed.next(again);
      REQUIRE(same(batch, again));
      REQUIRE(source.state() == resumed.state());
    }
  });
}

TEST_CASE("Padded has Packed's batches, each sequence as long as the longest to a multiple of 8") {
  each_trial([](const Trial& trial) {
    const auto& [set, range, options] = trial;
    ExampleBatchOptions packed = options, padded = options;
    packed.batching = Packed::batching(options.sequences);
    padded.batching = Padded::batching(options.sequences);
    ExampleBatches plain(set, range, packed), wide(set, range, padded);
    HostBatch a, b;
    for (int k = 0; k < 5; ++k) {
      plain.next(a);
      wide.next(b);
      REQUIRE(numbers_of(a) == numbers_of(b));
      int longest = 0;
      for (int s = 0; s < a.sequences(); ++s)
        longest = std::max(longest, a.starts[std::size_t(s) + 1] - a.starts[std::size_t(s)]);
      REQUIRE(b.rows() == b.sequences() * ((longest + 7) / 8 * 8));
      for (int s = 0; s < a.sequences(); ++s) {
        const auto from = a.starts[std::size_t(s)], to = a.starts[std::size_t(s) + 1];
        const auto at = b.starts[std::size_t(s)], end = b.starts[std::size_t(s) + 1];
        for (int row = at; row < end; ++row) {
          const bool real = row - at < to - from;
          REQUIRE(b.ids[0][std::size_t(row)] ==
                  (real ? a.ids[0][std::size_t(from + row - at)] : 0));
          REQUIRE(b.ids[1][std::size_t(row)] ==
                  (real ? a.ids[1][std::size_t(from + row - at)] : -1));
        }
      }
    }
  });
}

TEST_CASE("neighbours that are padded together are as long as the longest of them") {
  each_trial([](const Trial& trial) {
    const auto& [set, range, options] = trial;
    const int together = options.batching.padded_together;
    if (!options.batching.pads || together == 0) return;
    ExampleBatches source(set, range, options);
    HostBatch batch;
    for (int k = 0; k < 5; ++k) {
      source.next(batch);
      const std::vector<std::int64_t> numbers = numbers_of(batch);
      for (int first = 0; first < batch.sequences(); first += together) {
        const int last = std::min(first + together, batch.sequences());
        int longest = 0;
        for (int s = first; s < last; ++s)
          longest = std::max(longest, set.length(numbers[std::size_t(s)]).rows());
        for (int s = first; s < last; ++s)
          REQUIRE(batch.starts[std::size_t(s) + 1] - batch.starts[std::size_t(s)] ==
                  (longest + 7) / 8 * 8);
      }
    }
  });
}

TEST_CASE("the share of padding is that of the batches of an epoch") {
  std::mt19937_64 random(3);
  ExampleSet set = numbered_examples(640, random);
  std::int64_t real = 0;
  for (std::int64_t k = 0; k < set.size(); ++k) real += set.length(k).rows();
  for (const Batching& batching : all_batchings(16)) {
    ExampleBatches source(set, {0, 640}, {.sequences = 16, .batching = batching});
    const double said = source.padding();
    HostBatch batch;
    std::int64_t rows = 0;
    while (source.state().epoch == 0) {
      source.next(batch);
      rows += batch.rows();
    }
    CHECK(said == doctest::Approx(1 - double(real) / double(rows)));
  }
}

TEST_CASE("batches grow and are cut as the recipe's shapes say") {
  ExampleSet set(numbered_tokenizer(), {.context = 40, .label = 24});
  for (int k = 0; k < 100; ++k) add_numbered(set, k % 40, 2 + k % 20);
  const BatchShapes shapes = [](std::uint64_t items) {
    return items < 20 ? BatchShape{4, 10} : BatchShape{16, 64};
  };
  for (const Batching& batching : all_batchings(16)) {
    ExampleBatches source(set, {0, 100}, {.sequences = 16, .shapes = shapes, .batching = batching});
    HostBatch batch;
    for (int k = 0; k < 30; ++k) {
      const BatchShape shape = shapes(source.state().items);
      source.next(batch);
      REQUIRE(batch.sequences() <= shape.sequences);
      for (int s = 0; s < batch.sequences(); ++s)
        REQUIRE(batch.starts[std::size_t(s) + 1] - batch.starts[std::size_t(s)] <= shape.length);
      REQUIRE(std::ranges::any_of(batch.ids[1], [](int id) { return id >= 0; }));
    }
  }
}

TEST_CASE("sequential examples come as they lie, and what shuffles refuses to") {
  std::mt19937_64 random(5);
  const ExampleSet set = numbered_examples(10, random);
  ExampleBatches source(set, {2, 8}, {.sequences = 3, .order = Order::sequential});
  CHECK(source.state().order == "sequential examples");
  HostBatch batch;
  source.next(batch);
  CHECK(numbers_of(batch) == std::vector<std::int64_t>{2, 3, 4});
  source.next(batch);
  source.next(batch);
  CHECK(numbers_of(batch) == std::vector<std::int64_t>{8, 9, 2});
  for (int k : {2, 3})
    CHECK(refusal([&] {
            ExampleBatches(set, {0, 10},
                           {.sequences = 3,
                            .order = Order::sequential,
                            .batching = all_batchings(3)[std::size_t(k)]});
          }).find("--order sequential") != std::string::npos);
}

TEST_CASE("a state of other data, of another batching or beyond the end is refused") {
  std::mt19937_64 random(5);
  const ExampleSet set = numbered_examples(50, random), other = numbered_examples(50, random);
  const ExampleRange all{0, 50};
  ExampleBatches source(set, all, {.sequences = 4});
  const SamplerState begin = source.state();
  auto refuses = [&](const SamplerState& state, const std::string& says) {
    CHECK(refusal([&] { source.restore(state); }).find(says) != std::string::npos);
    CHECK(source.state() == begin);
  };
  refuses(ExampleBatches(other, all, {.sequences = 4}).state(), "the hash");
  refuses(ExampleBatches(set, {0, 49}, {.sequences = 4}).state(), "their size");
  std::set<std::string> orders;
  for (int sequences : {4, 5})
    for (const Batching& batching : all_batchings(sequences))
      orders.insert(
          ExampleBatches(set, all, {.sequences = sequences, .batching = batching}).state().order);
  CHECK(orders.size() == 1 + 2 * 3);  // those of Packed and Padded are the same, and fit any batch
  for (const std::string& order : orders) CHECK(order.starts_with("shuffled"));
  SamplerState beyond = begin;
  beyond.position = 50;
  refuses(beyond, "example 50, is impossible");
  beyond.order = *orders.rbegin();
  if (beyond.order != begin.order) refuses(beyond, "the order");
}

TEST_CASE("evaluation gives each example once, in order, and begins again") {
  std::mt19937_64 random(5);
  const ExampleSet set = numbered_examples(10, random);
  EvaluationExamples source(set, {1, 9}, 4);
  const SamplerState begin = source.state();
  for (int pass = 0; pass < 2; ++pass) {
    HostBatch batch;
    std::vector<std::int64_t> order;
    while (source.next(batch))
      for (std::int64_t number : numbers_of(batch)) order.push_back(number);
    CHECK(batch.rows() == 0);
    CHECK(order == std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9});
    source.restore(begin);
  }
}

TEST_CASE("the mode full needs steps that take the whole buffer") {
  CHECK(refusal([] { DynamicBatch<>::batching({}, 1020); }).find("1021 examples") !=
        std::string::npos);
  CHECK(DynamicBatch<>::batching({}, 4096).order.find("up to 1021 examples") != std::string::npos);
}

TEST_CASE("no examples, no sequences and batches of too many rows are refused") {
  std::mt19937_64 random(5);
  const ExampleSet set = numbered_examples(10, random);
  CHECK(refusal([&] { ExampleBatches(set, {0, 0}, {.sequences = 1}); }) != "");
  CHECK(refusal([&] { ExampleBatches(set, {5, 6}, {.sequences = 1}); }) != "");
  CHECK(refusal([&] { ExampleBatches(set, {0, 5}, {.sequences = 0}); }) != "");
  CHECK(refusal([&] { ExampleBatches(set, {0, 5}, {.sequences = 2, .least = 3}); }) != "");
  CHECK(refusal([&] { ExampleBatches(set, {0, 5}, {.sequences = 1 << 26}); }).find("2^31") !=
        std::string::npos);
}

}  // namespace sinter::detail::testing::example_source_tests
