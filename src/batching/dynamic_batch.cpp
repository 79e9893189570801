// SPDX-License-Identifier: Apache-2.0
#include "sinter/batching/dynamic_batch.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

#include "sinter/data/permutation.hpp"

namespace sinter::detail {
namespace {

/// An example of the buffer.
struct Waiting {
  int context, label;  // multiples of 8
  std::uint64_t tie;   // a random number
  std::uint32_t number;

  int cost() const { return context + label; }
  auto key() const { return std::tuple(context, label, tie, number); }
};

/// The examples among which a batch is chosen, sorted.
class Buffer {
  std::span<const ExampleLength> lengths;
  Permutation shuffle;
  std::uint64_t key;
  std::uint64_t next = 0;  // in the shuffled epoch
  std::vector<Waiting> waiting;

 public:
  Buffer(std::span<const ExampleLength> l, std::uint64_t k)
      : lengths(l), shuffle(l.size(), k), key(k) {}

  /// Fills the buffer up. Returns whether anything is in it.
  bool fill() {
    const auto key_of = [](const Waiting& one) { return one.key(); };
    while (waiting.size() < std::size_t(dynamic_buffer) && next < shuffle.size()) {
      const auto number = std::uint32_t(shuffle(next++));
      const Waiting one{padded_to_8(lengths[number].context), padded_to_8(lengths[number].label),
                        kernel::mix_bits(key ^ kernel::mix(number)), number};
      waiting.insert(std::ranges::upper_bound(waiting, one.key(), {}, key_of), one);
    }
    return !waiting.empty();
  }

  /// Takes a batch out, whose place is drawn by `draw`.
  std::vector<Waiting> take(std::int64_t tokens, std::size_t most, std::uint64_t draw) {
    std::size_t at = Permutation::draw(draw, waiting.size());
    while (at + 1 < waiting.size() && waiting[at].cost() == waiting[at + 1].cost()) ++at;
    std::vector<std::size_t> places;  // of the chosen: down from `at`, and then up from it
    int width = 0;
    for (std::size_t begin = at + 1, end = at + 1; begin > 0 || end < waiting.size();) {
      const std::size_t place = begin > 0 ? begin - 1 : end;
      const int wider = std::max(width, waiting[place].cost());
      const bool fits = std::int64_t{wider} * std::int64_t(places.size() + 1) <= tokens;
      if (!places.empty() && (!fits || places.size() == most)) break;
      width = wider;
      places.push_back(place);
      begin > 0 ? --begin : ++end;
    }
    if (places.size() > 4) places.resize(places.size() / 4 * 4);
    std::vector<Waiting> batch;
    for (std::size_t place : places) batch.push_back(waiting[place]);
    const auto [least, last] = std::ranges::minmax_element(places);  // they are neighbours
    waiting.erase(waiting.begin() + std::ptrdiff_t(*least),
                  waiting.begin() + std::ptrdiff_t(*last) + 1);
    return batch;
  }
};

}  // namespace

Arrangement batch_dynamically(std::span<const ExampleLength> lengths, int tokens, int most,
                              std::uint64_t key) {
  Arrangement made;
  made.order.reserve(lengths.size());
  Buffer buffer(lengths, key);
  while (buffer.fill()) {
    const std::uint64_t draw = kernel::mix_bits(key + kernel::mix(made.ends.size()));
    std::vector<Waiting> batch = buffer.take(tokens, std::size_t(most), draw);
    const auto max_rows_first = [&](const Waiting& one) {
      return std::tuple(-lengths[one.number].rows(), one.key());
    };
    std::ranges::sort(batch, {}, max_rows_first);
    for (const Waiting& one : batch) made.order.push_back(one.number);
    made.ends.push_back(std::uint32_t(made.order.size()));
  }
  return made;
}

}  // namespace sinter::detail
