// SPDX-License-Identifier: Apache-2.0
#include "sinter/batching/length_grouped.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "sinter/data/permutation.hpp"

namespace sinter::detail {

Arrangement group_by_length(std::span<const ExampleLength> lengths, int sequences,
                            std::uint64_t key) {
  const std::size_t count = lengths.size(), batch = std::size_t(sequences);
  const Permutation shuffle(count, key);
  struct Shuffled {
    int rows;
    std::uint32_t place, number;  // equal ones stay in their places
    bool operator<(const Shuffled& other) const {
      return rows != other.rows ? rows > other.rows : place < other.place;
    }
  };
  std::vector<Shuffled> shuffled;
  shuffled.reserve(count);
  for (std::uint32_t place = 0; place < count; ++place) {
    const auto number = std::uint32_t(shuffle(place));
    shuffled.push_back({lengths[number].rows(), place, number});
  }
  const std::size_t megabatch = std::clamp<std::size_t>(count / (4 * batch), 1, 50) * batch;
  std::size_t longest = 0;  // where in the order the longest example is, which begins a megabatch
  for (std::size_t begin = 0; begin < count; begin += megabatch) {
    const auto first = shuffled.begin() + std::ptrdiff_t(begin);
    std::sort(first, shuffled.begin() + std::ptrdiff_t(std::min(count, begin + megabatch)));
    if (first->rows > shuffled[longest].rows) longest = begin;
  }
  std::swap(shuffled[0], shuffled[longest]);
  Arrangement made;
  made.order.reserve(count);
  for (const Shuffled& one : shuffled) made.order.push_back(one.number);
  for (std::size_t end = batch; end < count; end += batch) made.ends.push_back(std::uint32_t(end));
  made.ends.push_back(std::uint32_t(count));
  return made;
}

}  // namespace sinter::detail
