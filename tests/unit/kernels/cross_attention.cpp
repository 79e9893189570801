// SPDX-License-Identifier: Apache-2.0
// Attention of the rows of one set of sequences to those of another.
#include "unit/kernels/cross_attention.hpp"

#include "unit/kernels/narrow.hpp"

namespace sinter::detail::testing {
namespace {

/// The mask at (row, head, key), as mask() finds it. Sequences of keys may be as long as a head is
/// wide.
template <class T>
std::vector<int> cross_mask(const Starts& queries, const Starts& keys, int heads, int depth,
                            Dropout dropout) {
  Cross<T> c(queries, keys, heads, depth, dropout);
  std::fill(c.q.begin(), c.q.end(), T(0));
  std::fill(c.kv.begin(), c.kv.end(), T(0));
  for (std::size_t s = 0; s + 1 < keys.size(); ++s)
    for (int k = keys[s]; k < keys[s + 1]; ++k)
      for (int h = 0; h < heads; ++h)
        c.kv[std::size_t(2 * k + 1) * c.width + h * depth + k - keys[s]] = 1;
  Stream stream(1);
  c.forward(stream);
  std::vector<int> kept(c.y.size());
  for (std::size_t i = 0; i < kept.size(); ++i) kept[i] = c.y[i] != 0;
  return kept;
}

/// Checks a gradient within the header's bound, and what was added to it. The bound grows by √L / 2
/// of what was there, for the rows of each sequence.
template <class T>
void check_gradient(const std::vector<T>& got, const std::vector<T>& before, Put put,
                    const std::vector<Wider<T>>& want, std::vector<Wider<T>> bound,
                    const Cross<T>& c, const Starts& rows, int columns) {
  for (std::size_t s = 0; put == Put::add && s + 1 < rows.size(); ++s) {
    const int most = std::max(c.queries[s + 1] - c.queries[s], c.keys[s + 1] - c.keys[s]);
    for (int i = rows[s] * columns; i < rows[s + 1] * columns; ++i)
      bound[i] += std::sqrt(Wider<T>(most)) / 2 * std::abs(before[i]);
  }
  CHECK(share_of_bound(got, want, bound, 1, put == Put::add ? Added<T>{&before} : Added<T>{}) <= 1);
}

/// Both directions against the definition, within the header's bounds; and gradients that nobody
/// wants change nothing of the others.
template <class T>
void check(const Starts& queries, const Starts& keys, int heads, int depth, Dropout dropout = {}) {
  if (is_sample && sizeof(T) == 8) return;
  Cross<T> c(queries, keys, heads, depth, dropout);
  const int width = c.width, query_rows = queries.back(), key_rows = keys.back();
  CAPTURE(query_rows);
  CAPTURE(key_rows);
  CAPTURE(heads);
  CAPTURE(depth);
  CAPTURE(dropout.probability);
  Factor factor = everywhere_one;
  if (dropout.probability > 0)
    factor =
        dropped_out(cross_mask<T>(queries, keys, heads, depth, dropout), width, depth, dropout);
  const Reference<T> want(in_one(c), c.dy, queries, keys, heads, width, factor);
  same_on_all_threads([&](Stream& s) {
    c.forward(s);
    return c.y;
  });
  CHECK(share_of_bound(c.y, want.y, want.y_bound, 1) <= 1);
  CHECK(share_of_bound(c.log_sum, want.log_sum, want.log_bound, 1) <= 1);
  auto of_queries = [&](const std::vector<Wider<T>>& all) {
    return part_of(all, 0, query_rows, 0, width, width);
  };
  auto of_keys = [&](const std::vector<Wider<T>>& all) {
    return part_of(all, query_rows, key_rows, width, 2 * width, width);
  };
  for (Put q : {Put::assign, Put::add})
    for (Put kv : {Put::assign, Put::add}) {
      CAPTURE(int(q));
      CAPTURE(int(kv));
      const Cross<T> got = c.after_backward(q, kv);
      check_gradient(got.dq, c.dq, q, of_queries(want.dqkv), of_queries(want.bound), c, queries,
                     width);
      check_gradient(got.dkv, c.dkv, kv, of_keys(want.dqkv), of_keys(want.bound), c, keys,
                     2 * width);
      const Cross<T> only_q = c.after_backward(q, Put::nothing);
      CHECK((same_bits(only_q.dq, got.dq) && same_bits(only_q.dkv, c.dkv)));
      const Cross<T> only_kv = c.after_backward(Put::nothing, kv);
      CHECK((same_bits(only_kv.dkv, got.dkv) && same_bits(only_kv.dq, c.dq)));
    }
  const Cross<T> neither = c.after_backward(Put::nothing, Put::nothing);
  CHECK((same_bits(neither.dq, c.dq) && same_bits(neither.dkv, c.dkv)));
}

TEST_CASE_TEMPLATE("cross-attention equals its definition, both directions", T, float, double) {
  on_every_instruction_set([] {
    check<T>({0}, {0}, 2, 16);
    check<T>({0, 1}, {0, 1}, 1, 1);
    check<T>({0, 1}, {0, 40}, 2, 5);
    check<T>({0, 40}, {0, 1}, 2, 5);
    check<T>({0, 17}, {0, 3}, 3, 17);
    check<T>({0, 64, 70}, {0, 64, 200}, 4, 16);
    check<T>({0, 97, 110}, {0, 30, 160}, 1, 48);
    check<T>({0, 7}, {0, 70}, 1, 128);
    check<T>({0, 1, 34, 99, 100}, {0, 65, 66, 70, 105}, 2, 24);
  });
}

TEST_CASE_TEMPLATE("cross-attention over long sequences equals its definition", T, float, double) {
  check<T>({0, 600}, {0, 300}, 1, 20);
  check<T>({0, 300, 310}, {0, 600, 1300}, 2, 20);
  check<T>({0, 40}, {0, 10}, 1, kernel::max_head_width);
}

TEST_CASE_TEMPLATE("cross-attention with dropout follows its mask, both directions", T, float,
                   double) {
  on_every_instruction_set([] {
    check<T>({0, 20}, {0, 48}, 2, 48, {0.25f, 7, 0});
    check<T>({0, 33, 34, 140}, {0, 1, 70, 100}, 2, 70, {0.1f, 8, 1000});
  });
}

TEST_CASE("the mask is that of self-attention at the same row, head and position of the key") {
  const int heads = 2, depth = 40;
  const Dropout dropout{0.3f, 5, 20};
  const Starts queries{0, 40, 64, 100}, keys{0, 10, 50, 70};
  const auto self = mask<float>(queries, heads, depth, dropout);
  const auto cross = cross_mask<float>(queries, keys, heads, depth, dropout);
  for (int s = 0; s < 3; ++s)
    for (int r = queries[s]; r < queries[s + 1]; ++r)
      for (int h = 0; h < heads; ++h) {
        const int seen = std::min(queries[s + 1] - queries[s], keys[s + 1] - keys[s]);
        const auto* at = self.data() + (r * heads + h) * depth;
        REQUIRE(std::equal(at, at + seen, cross.data() + (r * heads + h) * depth));
      }
  // A micro-batch that begins with the third sequence has its part of the whole.
  const auto last = cross_mask<float>({0, 36}, {0, 20}, heads, depth, {0.3f, 5, 20 + 64});
  CHECK(std::equal(last.begin(), last.end(), cross.begin() + 64 * heads * depth));
}

TEST_CASE_TEMPLATE("cross-attention of rows to themselves has the bits of full self-attention", T,
                   float, double, BFloat16, Float16) {
  on_every_instruction_set([] {
    const Starts starts{0, 1, 78, 228};
    const int heads = 4, n = starts.back();
    for (float probability : {0.f, .3f})
      for (Put put : {Put::assign, Put::add}) {
        CAPTURE(probability);
        CAPTURE(int(put));
        Cross<T> c(starts, starts, heads, 20, {probability, 7, 3});
        auto in_rows = [&](const std::vector<T>& q, const std::vector<T>& kv) {
          std::vector<T> rows;
          for (int r = 0; r < n; ++r) {
            rows.insert(rows.end(), q.begin() + r * c.width, q.begin() + (r + 1) * c.width);
            rows.insert(rows.end(), kv.begin() + r * 2 * c.width,
                        kv.begin() + (r + 1) * 2 * c.width);
          }
          return rows;
        };
        const std::vector<T> qkv = in_rows(c.q, c.kv);
        std::vector<T> y(c.y.size()), dqkv = in_rows(c.dq, c.dkv);
        auto log_sum = c.log_sum, scratch = c.scratch;
        Stream stream(2);
        kernel::attention_forward(stream, tensor(qkv, n, 3 * c.width), tensor(y, n, c.width),
                                  tensor(log_sum, n, heads), sequences_of(starts), AttentionSpan{},
                                  c.dropout);
        kernel::attention_backward(
            stream, tensor(qkv, n, 3 * c.width), tensor(y, n, c.width), tensor(c.dy, n, c.width),
            tensor(log_sum, n, heads), tensor(dqkv, n, 3 * c.width, put == Put::add),
            sequences_of(starts), AttentionSpan{}, scratch.data(), c.dropout);
        c.forward(stream);
        c.backward(stream, put, put);
        CHECK(same_bits(c.y, y));
        CHECK(same_bits(c.log_sum, log_sum));
        CHECK(same_bits(in_rows(c.dq, c.dkv), dqkv));
      }
  });
}

TEST_CASE_TEMPLATE("cross-attention of narrow elements is that of fp32, rounded", H, BFloat16,
                   Float16) {
  on_every_instruction_set([] {
    for (float probability : {0.f, .3f}) {
      CAPTURE(probability);
      Cross<H> c({0, 5, 82, 100}, {0, 150, 151, 228}, 4, 20, {probability, 7, 3});
      Cross<float> same(c.queries, c.keys, c.heads, 20, c.dropout);
      same.q = wide(c.q), same.kv = wide(c.kv), same.dy = wide(c.dy);
      Stream stream(2);
      c.forward(stream), same.forward(stream);
      CHECK(same_bits(c.y, narrow<H>(same.y)));
      CHECK(same_bits(c.log_sum, same.log_sum));
      same.y = wide(c.y), same.dq = wide(c.dq), same.dkv = wide(c.dkv);
      const Cross<H> assigned = c.after_backward(Put::assign, Put::assign);
      const Cross<float> wanted = same.after_backward(Put::assign, Put::assign);
      CHECK(same_bits(assigned.dq, narrow<H>(wanted.dq)));
      CHECK(same_bits(assigned.dkv, narrow<H>(wanted.dkv)));
      const Cross<H> added = c.after_backward(Put::add, Put::add);
      const Cross<float> sums = same.after_backward(Put::add, Put::add);
      CHECK(nearly(added.dq, sums.dq));
      CHECK(nearly(added.dkv, sums.dkv));
      CHECK(same_bits(c.after_backward(Put::assign, Put::nothing).dq, assigned.dq));
      CHECK(same_bits(c.after_backward(Put::nothing, Put::assign).dkv, assigned.dkv));
    }
  });
}

TEST_CASE_TEMPLATE("queries see the keys of their own sequence alone, and all of them", T, float,
                   double) {
  on_every_instruction_set([] {
    Cross<T> c({0, 30, 60, 75}, {0, 90, 91, 131}, 2, 16);
    const int width = c.width;
    Stream stream(2);
    c.forward(stream);
    const auto y = c.y;
    for (int key : {91, 130}) {
      CAPTURE(key);
      Cross<T> spoilt = c;
      for (int h = 0; h < 2; ++h) spoilt.kv[std::size_t(key) * 2 * width + h * 16] = T(NAN);
      spoilt.forward(stream);
      CHECK(std::equal(y.begin(), y.begin() + 60 * width, spoilt.y.begin()));
      for (int i = 60 * width; i < 75 * width; ++i) REQUIRE(std::isnan(spoilt.y[i]));
    }
  });
}

/// The rows of each sequence without padding: about half, at least one.
Starts shorter(const Starts& starts) {
  Starts lengths;
  for (std::size_t s = 0; s + 1 < starts.size(); ++s)
    lengths.push_back(s % 3 == 2 ? starts[s + 1] - starts[s] : (starts[s + 1] - starts[s] + 1) / 2);
  return lengths;
}

/// The numbers of keys and values in rows that are no padding.
template <class T>
std::vector<T> without_padding(const std::vector<T>& kv, const Cross<T>& c) {
  std::vector<T> own;
  for (std::size_t s = 0; s < c.lengths.size(); ++s) {
    const auto first = kv.begin() + std::ptrdiff_t(c.keys[s]) * 2 * c.width;
    own.insert(own.end(), first, first + std::ptrdiff_t(c.lengths[s]) * 2 * c.width);
  }
  return own;
}

/// Calls visit(i) for each number of keys and values in padding.
template <class T>
void each_of_padding(const Cross<T>& c, const auto& visit) {
  for (std::size_t s = 0; s < c.lengths.size(); ++s)
    for (int row = c.keys[s] + c.lengths[s]; row < c.keys[s + 1]; ++row)
      for (int k = 0; k < 2 * c.width; ++k) visit(std::size_t(row) * 2 * c.width + k);
}

TEST_CASE_TEMPLATE("padding behind keys changes no bit, whatever it holds, and has no gradient", T,
                   float, double, BFloat16, Float16) {
  on_every_instruction_set([] {
    for (int depth : {16, 20})
      for (float probability : {0.f, .3f})
        for (Put put : {Put::assign, Put::add}) {
          CAPTURE(depth);
          CAPTURE(probability);
          CAPTURE(int(put));
          Cross<T> c({0, 1, 78, 110, 150}, {0, 8, 88, 89, 219}, 2, depth, {probability, 7, 3});
          c.lengths = shorter(c.keys);
          Starts keys{0};
          for (int length : c.lengths) keys.push_back(keys.back() + length);
          Cross<T> plain(c.queries, keys, 2, depth, c.dropout);
          plain.kv = without_padding(c.kv, c), plain.dkv = without_padding(c.dkv, c);
          each_of_padding(c, [&](std::size_t i) { c.kv[i] = T(NAN); });
          Stream stream(2);
          c.forward(stream), plain.forward(stream);
          CHECK(same_bits(c.y, plain.y));
          CHECK(same_bits(c.log_sum, plain.log_sum));
          const Cross<T> got = c.after_backward(put, put), want = plain.after_backward(put, put);
          CHECK(same_bits(got.dq, want.dq));
          CHECK(same_bits(without_padding(got.dkv, c), want.dkv));
          each_of_padding(c, [&](std::size_t i) {
            REQUIRE(float(got.dkv[i]) == (put == Put::add ? float(c.dkv[i]) : 0.f));
          });
        }
  });
}

/// Self-attention over rows that hold q and kv of a case in which both have the same sequences.
template <class T>
struct SelfOf {
  std::vector<T> y, dqkv;

  SelfOf(const Cross<T>& c, Sequences sequences, AttentionSpan span) : y(c.y.size()) {
    const int n = c.queries.back(), width = c.width;
    std::vector<T> qkv;
    for (int r = 0; r < n; ++r) {
      qkv.insert(qkv.end(), c.q.begin() + r * width, c.q.begin() + (r + 1) * width);
      qkv.insert(qkv.end(), c.kv.begin() + r * 2 * width, c.kv.begin() + (r + 1) * 2 * width);
    }
    dqkv.assign(qkv.size(), T(NAN));
    auto log_sum = c.log_sum, scratch = c.scratch;
    Stream stream(2);
    kernel::attention_forward(stream, tensor(qkv, n, 3 * width), tensor(y, n, width),
                              tensor(log_sum, n, c.heads), sequences, span, c.dropout);
    kernel::attention_backward(stream, tensor(qkv, n, 3 * width), tensor(y, n, width),
                               tensor(c.dy, n, width), tensor(log_sum, n, c.heads),
                               tensor(dqkv, n, 3 * width), sequences, span, scratch.data(),
                               c.dropout);
  }
};

TEST_CASE_TEMPLATE("full self-attention leaves padding out, and causal attention needs not", T,
                   float, double, BFloat16, Float16) {
  on_every_instruction_set([] {
    Cross<T> c({0, 1, 78, 228}, {0, 1, 78, 228}, 4, 16, {.3f, 7, 3});
    c.lengths = shorter(c.keys);
    c.lengths[2] = 70;
    const SelfOf<T> full(c, c.of_keys(), {});
    Stream stream(2);
    c.forward(stream);
    c.backward(stream, Put::assign, Put::assign);
    CHECK(same_bits(full.y, c.y));
    for (int r = 0; r < 228; ++r) {
      const auto* row = full.dqkv.data() + r * 3 * c.width;
      REQUIRE(std::memcmp(row, c.dq.data() + r * c.width, c.width * sizeof(T)) == 0);
      REQUIRE(std::memcmp(row + c.width, c.dkv.data() + r * 2 * c.width, 2 * c.width * sizeof(T)) ==
              0);
    }
    const AttentionSpan causal{.causal = true};
    const SelfOf<T> some(c, c.of_keys(), causal), none(c, sequences_of(c.keys), causal);
    CHECK(same_bits(some.y, none.y));
    CHECK(same_bits(some.dqkv, none.dqkv));
  });
}

}  // namespace
}  // namespace sinter::detail::testing
