// SPDX-License-Identifier: Apache-2.0
// Attention of rows that continue texts, against its definition over the whole texts.
#include "sinter/kernels/cached_attention.hpp"

#include "unit/kernels/attention.hpp"

namespace sinter::detail::testing {
namespace {

using kernel::Cache;
using Ids = std::vector<std::int32_t>;

int whole_blocks(int rows) {
  return (rows + kernel::cache_block - 1) / kernel::cache_block * kernel::cache_block;
}

/// What texts look like to a call: their new rows, and what lies before them.
struct Call {
  Ids starts{0}, before, slots, sources;

  kernel::Sequences sequences() const {
    kernel::Sequences all = sequences_of(starts);
    all.before = before.data();
    return all;
  }
};

/// Texts of random rows, which calls read piece by piece.
template <class T>
struct Case {
  int heads, key_heads, depth, window, chunk;
  std::vector<int> lengths;
  int width = heads * depth, row = width + 2 * key_heads * depth;
  std::vector<std::vector<T>> texts;  // rows of q, k and v
  std::vector<std::vector<T>> y;      // that calls gave
  std::vector<T> memory;
  int rows = 0;  // of a slot

  Case(int h, int k, int d, int w, int c, std::vector<int> l)
      : heads(h), key_heads(k), depth(d), window(w), chunk(c), lengths(std::move(l)) {
    for (std::size_t t = 0; t < lengths.size(); ++t) {
      texts.push_back(normal_values<T>(std::int64_t(lengths[t]) * row, 10 + t));
      y.emplace_back();
      rows = std::max(rows, lengths[t]);
    }
    if (window > 0) rows = std::min(rows, window + chunk - 1);
    rows = whole_blocks(rows);
    // What no text has written must not matter.
    memory.assign(std::size_t(rows) * 2 * key_heads * depth * (lengths.size() + 1),
                  T(std::numeric_limits<float>::quiet_NaN()));
  }
  Cache<T> cache(const Call& call) {
    return {memory.data(),
            rows,
            2 * key_heads * depth,
            call.slots.data(),
            call.sources.empty() ? nullptr : call.sources.data(),
            call.sources.empty() ? 0 : int(call.sources.size() / call.slots.size())};
  }
  /// Reads pieces of random lengths of all texts, several in each call, in slots in another order.
  void read_all(Stream& stream) {
    std::mt19937 engine(1);
    std::vector<int> done(lengths.size(), 0);
    for (auto& text : y) text.clear();
    while (done != lengths) {
      Call call;
      std::vector<T> qkv;
      std::vector<std::pair<int, int>> pieces;
      for (int t = 0; t < int(lengths.size()); ++t) {
        const int left = lengths[std::size_t(t)] - done[std::size_t(t)];
        const int count = std::min(left, int(engine() % std::uint32_t(chunk + 1)));
        if (count == 0 && left == 0) continue;
        const auto& text = texts[std::size_t(t)];
        const auto from = text.begin() + std::ptrdiff_t(done[std::size_t(t)]) * row;
        qkv.insert(qkv.end(), from, from + std::ptrdiff_t(count) * row);
        call.starts.push_back(call.starts.back() + count);
        call.before.push_back(done[std::size_t(t)]);
        call.slots.push_back(int(lengths.size()) - t);
        pieces.emplace_back(t, count);
      }
      std::vector<T> result(std::size_t(call.starts.back()) * width);
      kernel::cached_attention<T>(stream, tensor(qkv, call.starts.back(), row),
                                  tensor(result, call.starts.back(), width), cache(call),
                                  call.sequences(), heads, window);
      auto from = result.begin();
      for (const auto& [t, count] : pieces) {
        y[std::size_t(t)].insert(y[std::size_t(t)].end(), from,
                                 from + std::ptrdiff_t(count) * width);
        from += std::ptrdiff_t(count) * width;
        done[std::size_t(t)] += count;
      }
    }
  }
};

/// The rows of a text as the definition reads them: each head of queries with keys of its own.
template <class T>
std::vector<T> with_all_keys(const Case<T>& c, const std::vector<T>& text) {
  std::vector<T> all;
  const int sharing = c.heads / c.key_heads;
  for (std::size_t at = 0; at < text.size(); at += std::size_t(c.row)) {
    all.insert(all.end(), text.begin() + std::ptrdiff_t(at),
               text.begin() + std::ptrdiff_t(at) + c.width);
    for (int part = 0; part < 2; ++part)
      for (int h = 0; h < c.heads; ++h) {
        const auto from = text.begin() + std::ptrdiff_t(at) + c.width +
                          (part * c.key_heads + h / sharing) * c.depth;
        all.insert(all.end(), from, from + c.depth);
      }
  }
  return all;
}

template <class T>
void check(Case<T> c) {
  if (is_sample && sizeof(T) == 8) return;
  CAPTURE(c.heads);
  CAPTURE(c.depth);
  CAPTURE(c.window);
  same_on_all_threads([&](Stream& s) {
    c.read_all(s);
    std::vector<T> all;
    for (const std::vector<T>& y : c.y) all.insert(all.end(), y.begin(), y.end());
    return all;
  });
  for (std::size_t t = 0; t < c.texts.size(); ++t) {
    const std::vector<T> dy(std::size_t(c.lengths[t]) * std::size_t(c.width));
    const Reference<T> want(with_all_keys(c, c.texts[t]), dy, {0, c.lengths[t]}, c.heads, c.width,
                            {.causal = true, .window = c.window}, everywhere_one);
    CHECK(share_of_bound(c.y[t], want.y, want.y_bound, 1) <= 1);
  }
}

TEST_CASE_TEMPLATE("rows that continue texts see them whole, or their window", T, float, double) {
  on_every_instruction_set([] {
    check<T>({1, 1, 1, 0, 1, {1}});
    check<T>({2, 1, 16, 0, 5, {40, 3, 17}});
    check<T>({4, 2, 24, 7, 4, {50, 9}});
    check<T>({3, 3, 5, 16, 1, {20, 33, 1, 2}});
    check<T>({2, 2, 37, 33, 9, {90, 64}});
  });
}
TEST_CASE_TEMPLATE("long texts, and the widest heads", T, float, double) {
  check<T>({1, 1, 20, 0, 300, {700, 129}});
  check<T>({1, 1, kernel::max_head_width, 0, 10, {20}});
}

TEST_CASE_TEMPLATE("narrow elements are those of float, rounded", T, BFloat16, Float16) {
  Case<T> c(4, 2, 24, 0, 6, {40, 3, 70});
  Case<float> wide(4, 2, 24, 0, 6, {40, 3, 70});
  for (std::size_t t = 0; t < c.texts.size(); ++t)
    wide.texts[t].assign(c.texts[t].begin(), c.texts[t].end());
  Stream stream(2);
  c.read_all(stream);
  wide.read_all(stream);
  for (std::size_t t = 0; t < c.y.size(); ++t)
    for (std::size_t i = 0; i < c.y[t].size(); ++i)
      CHECK(float(c.y[t][i]) == float(T(wide.y[t][i])));
}

// Row p of hypothesis s lies in slot (s + p) mod 3.
TEST_CASE("earlier rows are read where they lie") {
  Case<float> c(2, 1, 16, 0, 1, {40, 40, 40}), apart = c;
  Stream stream(2);
  apart.read_all(stream);
  for (int p = 0; p < 40; ++p) {
    Call call;
    std::vector<float> qkv, result(std::size_t(3 * c.width));
    for (int s = 0; s < 3; ++s) {
      const auto from = c.texts[std::size_t(s)].begin() + std::ptrdiff_t(p) * c.row;
      qkv.insert(qkv.end(), from, from + c.row);
      call.starts.push_back(s + 1);
      call.before.push_back(p);
      call.slots.push_back((s + p) % 3);
      for (int k = 0; k < 40; ++k) call.sources.push_back((s + k) % 3);
    }
    kernel::cached_attention<float>(stream, tensor(qkv, 3, c.row), tensor(result, 3, c.width),
                                    c.cache(call), call.sequences(), c.heads, 0);
    for (int s = 0; s < 3; ++s)
      for (int i = 0; i < c.width; ++i)
        CHECK(result[std::size_t(s * c.width + i)] ==
              apart.y[std::size_t(s)][std::size_t(p * c.width + i)]);
  }
}

/// Queries of two texts in turns, whose keys come with the first ones.
template <class T>
void check_cross(int heads, int depth, const Ids& keys, int queries) {
  if (is_sample && sizeof(T) == 8) return;
  const int width = heads * depth, texts = int(keys.size()) - 1;
  const auto kv = normal_values<T>(std::int64_t(keys.back()) * 2 * width, 3);
  const auto q = normal_values<T>(std::int64_t(queries) * texts * width, 4);
  int rows = 0;
  for (int t = 0; t < texts; ++t)
    rows = std::max(rows, keys[std::size_t(t) + 1] - keys[std::size_t(t)]);
  rows = whole_blocks(rows);
  std::vector<T> memory(std::size_t(rows) * 2 * width * texts);
  Stream stream(2);
  for (int t = 0; t < texts; ++t) {
    const int length = keys[std::size_t(t) + 1] - keys[std::size_t(t)];
    const Ids slot{texts - 1 - t};
    std::vector<T> y;
    for (int r = 0; r < queries; ++r) {
      const bool first = r == 0;
      const Ids starts{0, first ? length : 0}, before{first ? 0 : length}, own{0, 1}, zero{0};
      kernel::Sequences of_keys = sequences_of(starts), of_queries = sequences_of(own);
      of_keys.before = before.data();
      of_queries.before = zero.data();
      std::vector<T> result(std::size_t(width), T(7));
      const std::vector<T> one(q.begin() + (std::ptrdiff_t(t) * queries + r) * width,
                               q.begin() + (std::ptrdiff_t(t) * queries + r + 1) * width);
      const std::vector<T> rows_of_text(
          kv.begin() + std::ptrdiff_t(keys[std::size_t(t)]) * 2 * width, kv.end());
      kernel::cached_cross_attention<T>(
          stream, tensor(one, 1, width), tensor(rows_of_text, first ? length : 0, 2 * width),
          tensor(result, 1, width), {memory.data(), rows, 2 * width, slot.data()}, of_queries,
          of_keys, heads);
      y.insert(y.end(), result.begin(), result.end());
    }
    // The definition has all rows of queries, and behind them all rows of keys.
    std::vector<T> both(std::size_t(queries + length) * 3 * std::size_t(width));
    for (int r = 0; r < queries; ++r)
      std::copy_n(q.begin() + (std::ptrdiff_t(t) * queries + r) * width, width,
                  both.begin() + std::ptrdiff_t(r) * 3 * width);
    for (int k = 0; k < length; ++k)
      std::copy_n(kv.begin() + std::ptrdiff_t(keys[std::size_t(t)] + k) * 2 * width, 2 * width,
                  both.begin() + (std::ptrdiff_t(queries + k) * 3 + 1) * width);
    const std::vector<T> dy(std::size_t(queries) * width);
    const Reference<T> want(both, dy, {0, queries}, {0, length}, heads, width, everywhere_one);
    CHECK(share_of_bound(y, want.y, want.y_bound, 1) <= 1);
  }
}

TEST_CASE_TEMPLATE("queries that continue a text see all of the other side", T, float, double) {
  on_every_instruction_set([] {
    check_cross<T>(1, 1, {0, 1}, 1);
    check_cross<T>(2, 16, {0, 40, 43}, 5);
    check_cross<T>(3, 7, {0, 16, 17, 200}, 3);
  });
}

}  // namespace
}  // namespace sinter::detail::testing
