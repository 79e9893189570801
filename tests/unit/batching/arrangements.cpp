// SPDX-License-Identifier: Apache-2.0
// Grouping by length and dynamic batches, against what Hugging Face and ParlAI do.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <tuple>

#include "sinter/batching/dynamic_batch.hpp"
#include "sinter/batching/length_grouped.hpp"
#include "sinter/data/permutation.hpp"

using namespace sinter;
using namespace sinter::detail;

namespace {

std::vector<ExampleLength> lengths_of(std::size_t count, std::mt19937_64& random) {
  std::vector<ExampleLength> lengths;
  const std::uint64_t longest = 1 + random() % 300;
  while (lengths.size() < count)
    lengths.push_back({std::int32_t(random() % longest), std::int32_t(1 + random() % 80)});
  return lengths;
}

/// The steps of DynamicBatchWorld.parley (ParlAI, parlai/core/worlds.py), on lists as it has them.
std::vector<std::vector<std::uint32_t>> as_parlai(const std::vector<ExampleLength>& lengths,
                                                  std::int64_t max_words, std::size_t max_batch,
                                                  std::uint64_t key) {
  const Permutation shuffle(lengths.size(), key);
  std::vector<std::uint32_t> buffer;
  std::vector<std::vector<std::uint32_t>> batches;
  auto ceil = [](int n) { return (n + 7) / 8 * 8; };
  auto sum = [&](std::uint32_t k) { return ceil(lengths[k].context) + ceil(lengths[k].label); };
  for (std::uint64_t next = 0;;) {
    while (buffer.size() < 1021 && next < lengths.size())
      buffer.push_back(std::uint32_t(shuffle(next++)));
    if (buffer.empty()) return batches;
    auto score = [&](std::uint32_t k) {
      return std::tuple(ceil(lengths[k].context), ceil(lengths[k].label),
                        kernel::mix_bits(key ^ kernel::mix(k)));
    };
    std::ranges::sort(buffer, {}, score);
    std::vector<std::uint32_t> indices = buffer, batch;
    std::size_t at =
        Permutation::draw(kernel::mix_bits(key + kernel::mix(batches.size())), indices.size());
    while (at < indices.size() - 1 && sum(indices[at]) == sum(indices[at + 1])) ++at;
    int width = 0;
    while (!indices.empty()) {
      const std::uint32_t index = indices[at];
      const int new_width = std::max(width, sum(index));
      const std::size_t new_size = batch.size() + 1;
      const bool fits = std::int64_t(new_size) * new_width <= max_words && new_size <= max_batch;
      if (!fits && !batch.empty()) break;  // there, a first one that does not fit is an error
      width = new_width;
      batch.push_back(index);
      indices.erase(indices.begin() + std::ptrdiff_t(at));
      at = at > 0 ? at - 1 : 0;
    }
    while (batch.size() > 4 && batch.size() % 4 != 0) batch.pop_back();
    for (std::uint32_t index : batch) std::erase(buffer, index);
    batches.push_back(batch);
  }
}

}  // namespace

TEST_CASE("dynamic batches are those that ParlAI makes of the same buffer and draws, sorted") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 60; ++round) {
    const auto lengths = lengths_of(1 + random() % (round % 6 ? 300 : 4000), random);
    const int tokens = 1 + int(random() % 20000), most = 1 + int(random() % 1021);
    const std::uint64_t key = random();
    const Arrangement made = batch_dynamically(lengths, tokens, most, key);
    const auto expected = as_parlai(lengths, tokens, std::size_t(most), key);
    REQUIRE(made.ends.size() == expected.size());
    std::size_t at = 0;
    auto max_rows_first = [&](std::uint32_t k) {
      return std::tuple(-lengths[k].rows(), (lengths[k].context + 7) / 8,
                        (lengths[k].label + 7) / 8, kernel::mix_bits(key ^ kernel::mix(k)));
    };
    for (std::size_t b = 0; b < expected.size(); ++b) {
      std::vector<std::uint32_t> batch = expected[b];
      std::ranges::sort(batch, {}, max_rows_first);
      for (std::uint32_t number : batch) REQUIRE(made.order[at++] == number);
      REQUIRE(made.ends[b] == at);
    }
    REQUIRE(at == lengths.size());
  }
}

TEST_CASE("dynamic batches keep to the budget, the number and multiples of 4") {
  std::mt19937_64 random(2);
  const auto lengths = lengths_of(5000, random);
  const int tokens = 4096;
  auto check = [&](const Arrangement& made, std::size_t most) {
    std::size_t begin = 0;
    for (std::uint32_t end : made.ends) {
      const std::size_t size = end - begin;
      REQUIRE(size >= 1);
      REQUIRE(size <= most);
      REQUIRE((size <= 4 || size % 4 == 0));
      int width = 0;
      for (; begin < end; ++begin) {
        const ExampleLength& one = lengths[made.order[begin]];
        width = std::max(width, (one.context + 7) / 8 * 8 + (one.label + 7) / 8 * 8);
      }
      REQUIRE((size == 1 || std::int64_t(size) * width <= tokens));
    }
  };
  check(batch_dynamically(lengths, tokens, 1021, 3), 1021);
  check(batch_dynamically(lengths, tokens, 12, 3), 12);
}

TEST_CASE("groups by length are megabatches, the longest first, as Hugging Face makes them") {
  std::mt19937_64 random(3);
  for (int round = 0; round < 60; ++round) {
    const auto lengths = lengths_of(1 + random() % 3000, random);
    const std::size_t count = lengths.size(), batch = 1 + random() % 40;
    const std::uint64_t key = random();
    // transformers, trainer_pt_utils.py
    std::size_t multiple = std::min<std::size_t>(count / (batch * 4), 50);
    if (multiple == 0) multiple = 1;
    const Permutation shuffle(count, key);
    std::vector<std::vector<std::uint32_t>> megabatches;
    for (std::size_t k = 0; k < count; ++k) {
      if (k % (multiple * batch) == 0) megabatches.emplace_back();
      megabatches.back().push_back(std::uint32_t(shuffle(k)));
    }
    std::size_t longest = 0;
    auto rows = [&](std::uint32_t k) { return lengths[k].context + lengths[k].label; };
    for (std::size_t m = 0; m < megabatches.size(); ++m) {
      std::map<int, std::vector<std::uint32_t>, std::greater<>>
          by_length;  // Python's sort is stable
      for (std::uint32_t k : megabatches[m]) by_length[rows(k)].push_back(k);
      megabatches[m].clear();
      for (const auto& [_, equal] : by_length)
        megabatches[m].insert(megabatches[m].end(), equal.begin(), equal.end());
      if (rows(megabatches[m][0]) > rows(megabatches[longest][0])) longest = m;
    }
    std::swap(megabatches[0][0], megabatches[longest][0]);
    std::vector<std::uint32_t> expected;
    for (const auto& one : megabatches) expected.insert(expected.end(), one.begin(), one.end());

    const Arrangement made = group_by_length(lengths, int(batch), key);
    CHECK(made.order == expected);
    REQUIRE(made.ends.size() == (count + batch - 1) / batch);
    for (std::size_t b = 0; b < made.ends.size(); ++b)
      REQUIRE(made.ends[b] == std::min(count, (b + 1) * batch));
  }
}
