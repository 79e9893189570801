// SPDX-License-Identifier: Apache-2.0
// Attention against its definition in a wider type, for the tests of its kernels.
#pragma once
#include <functional>
#include <map>
#include <tuple>

#include "sinter/kernels/attention.hpp"
#include "support/sanitized.hpp"
#include "unit/kernels/support.hpp"

namespace sinter::detail::testing {

using kernel::AttentionSpan;
using kernel::Dropout;
using Starts = std::vector<std::int32_t>;

/// factor(row, head, position of the key): 1 / (1 - p) where kept, 0 where dropped, 1 without
/// dropout.
using Factor = std::function<long double(int, int, int)>;
inline long double everywhere_one(int, int, int) { return 1; }
/// What dropout with this mask makes of it: rows × width, a column for each key that a head sees.
inline Factor dropped_out(std::vector<int> kept, int width, int depth, Dropout dropout) {
  return [=, kept = std::move(kept)](int r, int h, int k) {
    return kept[r * width + h * depth + k] / (1 - (long double)dropout.probability);
  };
}

/// L in the header's bounds, for a sequence of `length` rows.
inline int rows_seen(AttentionSpan span, int length) {
  return span.window > 0 && span.window < length ? span.window : length;
}

/// The definition, and what the header's bounds are multiples of.
template <class T, class W = Wider<T>>
struct Reference {
  std::vector<W> y, y_bound, log_sum, log_bound, dqkv, bound;

  /// Of self-attention. `more` is what τ grows by, in all but log_sum.
  Reference(const std::vector<T>& qkv, const std::vector<T>& dy, const Starts& starts, int heads,
            int width, AttentionSpan span, const Factor& factor, W more = 0)
      : Reference(qkv.size(), dy.size(), heads, width) {
    for (std::size_t s = 0; s + 1 < starts.size(); ++s)
      for (int h = 0; h < heads; ++h) {
        const int begin = starts[s], end = starts[s + 1];
        const W relative = score_error(qkv, begin, end, begin, end, h, heads, width) +
                           std::sqrt(W(rows_seen(span, end - begin))) / 4;
        for (int r = begin; r < end; ++r) {
          const int first = span.window > 0 ? std::max(begin, r - span.window + 1) : begin;
          row(qkv, dy, r, h, begin, first, span.causal ? r + 1 : end, relative + more, heads, width,
              factor);
          log_bound[r * heads + h] -= more;
        }
      }
  }
  /// Of cross-attention: qkv has all rows of queries, whose k and v are not read, and behind them
  /// all rows of keys, whose q is not read.
  Reference(const std::vector<T>& qkv, const std::vector<T>& dy, const Starts& queries,
            const Starts& keys, int heads, int width, const Factor& factor, W more = 0)
      : Reference(qkv.size(), dy.size(), heads, width) {
    for (std::size_t s = 0; s + 1 < queries.size(); ++s)
      for (int h = 0; h < heads; ++h) {
        const int first = queries[s], last = queries[s + 1];
        const int begin = queries.back() + keys[s], end = queries.back() + keys[s + 1];
        const W relative = score_error(qkv, first, last, begin, end, h, heads, width) +
                           std::sqrt(W(std::max(last - first, end - begin))) / 4;
        for (int r = first; r < last; ++r) {
          row(qkv, dy, r, h, begin, begin, end, relative + more, heads, width, factor);
          log_bound[r * heads + h] -= more;
        }
      }
  }

 private:
  Reference(std::size_t size, std::size_t results, int heads, int width)
      : y(results),
        y_bound(results),
        log_sum(results / width * heads),
        log_bound(log_sum.size()),
        dqkv(size),
        bound(size) {}

  /// In ε: of the scores of a head, of queries [first, last) and keys [begin, end).
  static W score_error(const std::vector<T>& qkv, int first, int last, int begin, int end, int h,
                       int heads, int width) {
    const int depth = width / heads;
    W most = 0;
    for (int r = first; r < last; ++r)
      for (int k = begin; k < end; ++k) {
        W size = 0;
        for (int d = h * depth; d < (h + 1) * depth; ++d)
          size += std::abs(W(qkv[std::size_t(r) * 3 * width + d]) *
                           qkv[(std::size_t(k) * 3 + 1) * width + d]);
        most = std::max(most, size);
      }
    return 4 + (1 + std::sqrt(W(depth)) / 4) * most / std::sqrt(W(depth));
  }

  /// Of a row that sees the keys of rows [first, last) of the sequence that starts at `begin`.
  void row(const std::vector<T>& qkv, const std::vector<T>& dy, int r, int h, int begin, int first,
           int last, W relative, int heads, int width, const Factor& factor) {
    const int depth = width / heads;
    const W scale = 1 / std::sqrt(W(depth));
    auto at = [&](int row_of, int part, int d) {
      return std::size_t(row_of) * 3 * width + part * width + h * depth + d;
    };
    std::vector<W> p(last - first), dp(last - first), dp_size(last - first);
    W most = -INFINITY, sum = 0, mean = 0, mean_size = 0;
    for (int k = first; k < last; ++k) {
      for (int d = 0; d < depth; ++d) p[k - first] += scale * qkv[at(r, 0, d)] * qkv[at(k, 1, d)];
      most = std::max(most, p[k - first]);
    }
    for (W& score : p) sum += score = std::exp(score - most);
    log_sum[r * heads + h] = most + std::log(sum);
    log_bound[r * heads + h] = relative + std::abs(most + std::log(sum));
    for (int k = first; k < last; ++k) {
      const W kept = factor(r, h, k - begin);
      p[k - first] /= sum;
      for (int d = 0; d < depth; ++d) {
        const W value = kept * p[k - first] * qkv[at(k, 2, d)],
                slope = dy[r * width + h * depth + d];
        y[r * width + h * depth + d] += value;
        y_bound[r * width + h * depth + d] += relative * std::abs(value);
        dp[k - first] += kept * slope * qkv[at(k, 2, d)];
        dp_size[k - first] += std::abs(kept * slope * qkv[at(k, 2, d)]);
        dqkv[at(k, 2, d)] += kept * p[k - first] * slope;
        bound[at(k, 2, d)] += 3 * relative * std::abs(kept * p[k - first] * slope);
      }
      mean += p[k - first] * dp[k - first], mean_size += p[k - first] * dp_size[k - first];
    }
    for (int k = first; k < last; ++k) {
      const W slope = scale * p[k - first] * (dp[k - first] - mean);
      const W size = 3 * relative * scale * p[k - first] * (dp_size[k - first] + mean_size);
      for (int d = 0; d < depth; ++d) {
        dqkv[at(r, 0, d)] += slope * qkv[at(k, 1, d)];
        dqkv[at(k, 1, d)] += slope * qkv[at(r, 0, d)];
        bound[at(r, 0, d)] += size * std::abs(qkv[at(k, 1, d)]);
        bound[at(k, 1, d)] += size * std::abs(qkv[at(r, 0, d)]);
      }
    }
  }
};

/// Where the columns of rows lie whose heads share keys and values: of column c of qkv with a head
/// of keys and values for each of queries.
struct Shared {
  int heads, key_heads, depth;
  int columns() const { return (heads + 2 * key_heads) * depth; }
  int column_of(int c) const {
    const int width = heads * depth, part = c / width, head = c % width / depth;
    if (part == 0) return c;
    return width + (part - 1) * key_heads * depth + head * key_heads / heads * depth + c % depth;
  }
  /// Rows in which each head of queries has its own copy.
  template <class T>
  std::vector<T> repeated(const std::vector<T>& qkv, int rows) const {
    std::vector<T> all(std::size_t(rows) * 3 * heads * depth);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const int c = int(i % (3 * heads * depth)), r = int(i / (3 * heads * depth));
      all[i] = qkv[std::size_t(r) * columns() + column_of(c)];
    }
    return all;
  }
  /// Sums over copies.
  template <class W>
  std::vector<W> summed(const std::vector<W>& all, int rows) const {
    std::vector<W> sums(std::size_t(rows) * columns());
    for (std::size_t i = 0; i < all.size(); ++i) {
      const int c = int(i % (3 * heads * depth)), r = int(i / (3 * heads * depth));
      sums[std::size_t(r) * columns() + column_of(c)] += all[i];
    }
    return sums;
  }
};

/// The mask, seen through values that are one for one key and zero for others, and equal scores.
/// Sequences may be as long as a head is wide.
template <class T>
std::vector<int> mask(const Starts& starts, int heads, int depth, Dropout dropout) {
  const int rows = starts.back(), width = heads * depth;
  std::vector<T> qkv(rows * 3 * width), y(rows * width), log_sum(rows * heads);
  for (std::size_t s = 0; s + 1 < starts.size(); ++s)
    for (int r = starts[s]; r < starts[s + 1]; ++r)
      for (int h = 0; h < heads; ++h) qkv[(r * 3 + 2) * width + h * depth + r - starts[s]] = 1;
  Stream stream(1);
  kernel::attention_forward(stream, tensor(qkv, rows, 3 * width), tensor(y, rows, width),
                            tensor(log_sum, rows, heads), sequences_of(starts), AttentionSpan{},
                            dropout);
  std::vector<int> kept(rows * width);
  for (int i = 0; i < rows * width; ++i) kept[i] = y[i] != 0;
  return kept;
}

/// What self-attention is by its definition, of the values that a check makes for this case. All
/// instruction sets are compared with one, and so with the mask that the first of them drew.
template <class T>
const Reference<T>& reference_of(const std::vector<T>& qkv, const std::vector<T>& dy,
                                 const Starts& starts, const Shared& shared, AttentionSpan span,
                                 Dropout dropout, Wider<T> more = 0) {
  using Case =
      std::tuple<Starts, int, int, int, bool, int, float, std::uint64_t, std::int64_t, Wider<T>>;
  static std::map<Case, Reference<T>> known;
  const Case key{starts,      shared.heads,        shared.key_heads, shared.depth,      span.causal,
                 span.window, dropout.probability, dropout.key,      dropout.first_row, more};
  if (const auto found = known.find(key); found != known.end()) return found->second;
  const int rows = starts.back(), width = shared.heads * shared.depth;
  Factor factor = everywhere_one;
  if (dropout.probability > 0)
    factor = dropped_out(mask<T>(starts, shared.heads, shared.depth, dropout), width, shared.depth,
                         dropout);
  Reference<T> want(shared.repeated(qkv, rows), dy, starts, shared.heads, width, span, factor,
                    more);
  want.dqkv = shared.summed(want.dqkv, rows);
  want.bound = shared.summed(want.bound, rows);
  return known.emplace(key, std::move(want)).first->second;
}

/// Both directions against the definition, within the header's bounds.
template <class T>
void check(const Starts& starts, int heads, int depth, AttentionSpan span, Dropout dropout = {},
           int key_heads = 0) {
  if (is_sample && sizeof(T) == 8) return;
  const int sequences = int(starts.size()) - 1, rows = starts.back(), width = heads * depth;
  const Shared shared{heads, key_heads ? key_heads : heads, depth};
  const int columns = shared.columns();
  CAPTURE(rows);
  CAPTURE(sequences);
  CAPTURE(heads);
  CAPTURE(depth);
  CAPTURE(span.causal);
  CAPTURE(span.window);
  CAPTURE(dropout.probability);
  CAPTURE(key_heads);
  const auto qkv = normal_values<T>(rows * columns, 1, 1.5);
  const auto dy = normal_values<T>(rows * width, 2);
  const auto before = normal_values<T>(qkv.size(), 3);
  const Reference<T>& want = reference_of(qkv, dy, starts, shared, span, dropout);
  std::vector<T> log_sum(rows * heads);
  const auto y = same_on_all_threads([&](Stream& s) {
    std::vector<T> out(rows * width, T(NAN));
    kernel::attention_forward(s, tensor(qkv, rows, columns), tensor(out, rows, width),
                              tensor(log_sum, rows, heads), sequences_of(starts), span, dropout);
    return out;
  });
  CHECK(share_of_bound(y, want.y, want.y_bound, 1) <= 1);
  CHECK(share_of_bound(log_sum, want.log_sum, want.log_bound, 1) <= 1);
  for (bool add : {false, true}) {
    CAPTURE(add);
    const auto dqkv = same_on_all_threads([&](Stream& s) {
      auto out = before;
      if (!add) std::fill(out.begin(), out.end(), T(NAN));
      kernel::attention_backward(s, tensor(qkv, rows, columns), tensor(y, rows, width),
                                 tensor(dy, rows, width), tensor(log_sum, rows, heads),
                                 tensor(out, rows, columns, add), sequences_of(starts), span,
                                 static_cast<T*>(nullptr), dropout);
      return out;
    });
    auto bound = want.bound;
    for (int s = 0; add && s < sequences; ++s)  // sums grow where they lie
      for (std::int64_t i = std::int64_t(starts[s]) * columns; i < starts[s + 1] * columns; ++i)
        bound[i] += std::sqrt(Wider<T>(rows_seen(span, starts[s + 1] - starts[s]))) / 2 *
                    std::abs(before[i]);
    CHECK(share_of_bound(dqkv, want.dqkv, bound, 1, add ? Added<T>{&before} : Added<T>{}) <= 1);
  }
}

}  // namespace sinter::detail::testing
