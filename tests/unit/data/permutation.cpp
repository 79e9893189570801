// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/permutation.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace sinter::detail::testing::permutation_tests {

std::vector<std::uint64_t> order(std::uint64_t count, std::uint64_t key) {
  Permutation permutation(count, key);
  std::vector<std::uint64_t> all(count);
  for (std::uint64_t i = 0; i < count; ++i) all[i] = permutation(i);
  return all;
}

bool is_bijection(std::uint64_t count, std::uint64_t key) {
  Permutation permutation(count, key);
  std::vector<char> seen(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto item = permutation(i);
    if (item >= count || seen[item]) return false;
    seen[item] = true;
  }
  return true;
}

static_assert(Permutation(37, 1)(0) < 37, "usable when compiling");

/// Sum of (seen - expected)² / expected.
double chi_square(const std::vector<double>& seen, double expected) {
  double sum = 0;
  for (double s : seen) sum += (s - expected) * (s - expected) / expected;
  return sum;
}

TEST_CASE("permutation: every item exactly once, for all small and some large counts") {
  for (std::uint64_t count = 1; count <= 600; ++count) CHECK(is_bijection(count, count * 7919));
  for (std::uint64_t count : {1023, 1024, 1025, 65535, 65536, 65537, 1000003})
    CHECK(is_bijection(count, 5));
}

TEST_CASE("permutation: stays in range and is one to one near 2^40") {
  const std::uint64_t count = (std::uint64_t{1} << 40) - 87;
  Permutation permutation(count, 9);
  std::vector<std::uint64_t> some;
  for (std::uint64_t i = 0; i < 1000; ++i) some.push_back(permutation(i * 1000000007 % count));
  CHECK(*std::max_element(some.begin(), some.end()) < count);
  std::sort(some.begin(), some.end());
  CHECK(std::adjacent_find(some.begin(), some.end()) == some.end());
}

TEST_CASE("permutation: these numbers never change, or old checkpoints would be misread") {
  // From an implementation of the same definition in another language (Python's integers).
  CHECK(kernel::mix_bits(1) == 0x5692161d100b05e5);
  CHECK(Permutation::epoch_key(42, 3) == 0xaa57873bce9452a9);
  CHECK(Permutation::draw(7, 1000) == 527);
  CHECK(order(10, 1) == std::vector<std::uint64_t>{7, 3, 9, 4, 5, 1, 0, 6, 2, 8});
  Permutation large(1000000, 0x123456789abcdef);
  CHECK(large(0) == 391113);
  CHECK(large(1) == 379004);
  CHECK(large(999999) == 810888);
}

TEST_CASE("permutation: other keys, seeds and epochs give other orders") {
  CHECK(order(100, 1) != order(100, 2));
  CHECK(order(100, Permutation::epoch_key(1, 0)) != order(100, Permutation::epoch_key(2, 0)));
  CHECK(order(100, Permutation::epoch_key(1, 0)) != order(100, Permutation::epoch_key(1, 1)));
  CHECK(order(100, Permutation::epoch_key(0, 1)) != order(100, Permutation::epoch_key(1, 0)));
}

TEST_CASE("permutation: all 24 orders of 4 items are about equally frequent") {
  std::map<std::vector<std::uint64_t>, double> frequency;
  for (int epoch = 0; epoch < 24000; ++epoch)
    ++frequency[order(4, Permutation::epoch_key(1, std::uint64_t(epoch)))];
  REQUIRE(frequency.size() == 24);
  std::vector<double> seen;
  for (const auto& [key, count] : frequency) seen.push_back(count);
  CHECK(chi_square(seen, 1000) < 49.7);  // 23 degrees of freedom: exceeded once in 1000
}

TEST_CASE("permutation: each item is about equally often at each place, neighbours part") {
  const int items = 300, epochs = 3000;
  std::vector<double> first(items), last(items);
  double kept_neighbours = 0, inversions = 0;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    const auto all = order(items, Permutation::epoch_key(7, std::uint64_t(epoch)));
    ++first[all.front()], ++last[all.back()];
    for (int i = 0; i + 1 < items; ++i) {
      kept_neighbours += all[i] + 1 == all[i + 1];
      inversions += all[i] > all[i + 1];
    }
  }
  // 299 degrees of freedom: exceeded once in 1000.
  CHECK(chi_square(first, epochs / double(items)) < 379);
  CHECK(chi_square(last, epochs / double(items)) < 379);
  // Of 299 pairs, one stays on average (variance about 1) and half are inverted.
  CHECK(std::abs(kept_neighbours / epochs - 299.0 / 300) < 4 / std::sqrt(epochs));
  CHECK(std::abs(inversions / epochs - 149.5) < 4 * std::sqrt(301.0 / 12 / epochs));
}

TEST_CASE("permutation: draws fill their range evenly") {
  std::vector<double> seen(16);
  for (std::uint64_t key = 0; key < 16000; ++key) {
    const auto number = Permutation::draw(Permutation::epoch_key(3, key), 16);
    REQUIRE(number < 16);
    ++seen[number];
  }
  CHECK(chi_square(seen, 1000) < 37.7);  // 15 degrees of freedom
  CHECK(Permutation::draw(123, 1) == 0);
}

}  // namespace sinter::detail::testing::permutation_tests
