// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kernels/cpu/attention_call.hpp"
#include "kernels/cpu/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attention_backward.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/attention-inl.hpp"

#ifndef SINTER_ATTENTION_BACKWARD_TABLE
#define SINTER_ATTENTION_BACKWARD_TABLE
namespace sinter::kernel {
namespace {
/// What each instruction set provides.
template <class T>
struct AttentionBackwardTable {
  void (*backward)(const Attention<T>&, Head keys);  // and all heads of queries that share them
};
}  // namespace
}  // namespace sinter::kernel
#endif

HWY_BEFORE_NAMESPACE();
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

/// c[i][j] = Σ_p a(i, p) b[p][j], or += : the columns of c may not fill whole vectors, those of b
/// are padded.
template <Into into, class T>
HWY_INLINE void multiply_narrow(int rows, Strided<T> a, const T* b, std::int64_t b_step, int p,
                                T* c, std::int64_t c_row, int columns) {
  const Tag<T> d;
  const int lanes = int(hn::Lanes(d));
  int j = 0;
  for (; j + 2 * lanes <= columns; j += 2 * lanes)
    multiply<into, 2>(d, rows, a, b + j, b_step, p, c + j, c_row);
  for (; j + lanes <= columns; j += lanes)
    multiply<into, 1>(d, rows, a, b + j, b_step, p, c + j, c_row);
  if (j == columns) return;
  HWY_ALIGN T rest[key_block * hn::MaxLanes(d)];
  multiply<Into::assign, 1>(d, rows, a, b + j, b_step, p, rest, lanes);
  for (int i = 0; i < rows; ++i)
    for (int e = j; e < columns; ++e)
      c[i * c_row + e] = rest[i * lanes + e - j] + (into == Into::add ? c[i * c_row + e] : T(0));
}

/// c (keys × depth) = p (keys × queries) · rows (queries × depth), over the `count` queries of a
/// strip that see each key; added to c in the first `open` rows.
template <class T>
HWY_INLINE void sum_over_queries(int open, int both, int n, const T* p, const T* rows,
                                 std::int64_t row, int count, T* c, std::int64_t c_row, int depth) {
  constexpr int half = strip<T> / 2;
  const int borders[] = {0, std::min(open, both), both, std::max(open, both), n};
  for (int i = 0; i < 4; ++i) {
    const int first = borders[i], keys = borders[i + 1] - first, skip = i < 2 ? 0 : half;
    if (keys == 0) continue;
    const Strided<T> factors = Strided<T>{p, strip<T>, 1}.from(first, skip);
    const T* from = rows + skip * row;
    T* to = c + first * c_row;
    if (first < open) {
      multiply_narrow<Into::add>(keys, factors, from, row, count - skip, to, c_row, depth);
    } else {
      multiply_narrow<Into::assign>(keys, factors, from, row, count - skip, to, c_row, depth);
    }
  }
}

/// What the backward pass needs of a strip, packed.
template <class T>
struct BackwardStrip {
  HWY_ALIGN T log_sum[strip<T>], delta[strip<T>];
  HWY_ALIGN T p[key_block * strip<T>], ds[key_block * strip<T>];
  // depth × strip, or strip × padded depth
  T *queries, *slopes, *dqueries, *query_rows, *slope_rows;
  HWY_ALIGN T memory[5 * (max_head_width + hn::MaxLanes(Tag<T>())) * strip<T>];

  template <class E>
  void load(const Attention<E>& a, Head h, const Strip<T>& s, int padded) {
    const int depth = a.depth();
    const std::int64_t row = a.q_row, width = a.width, at = h.queries.start + s.first;
    const E* q = a.q + at * row + h.head * depth;
    const E* dy = a.dy + at * width + h.head * depth;
    const E* y = a.y + at * width + h.head * depth;
    T** parts[] = {&queries, &slopes, &dqueries, &query_rows, &slope_rows};
    T* next = memory;
    for (T** part : parts) *part = next, next += std::int64_t(padded) * strip<T>;
    if (s.count < strip<T>) std::fill_n(memory, 2 * padded * strip<T>, T(0));
    std::fill_n(log_sum, strip<T>, T(0));
    std::fill_n(delta, strip<T>, T(0));
    // In a loop of their own: rows of dy and y are far apart, and the shorter the work on each is,
    // the more of them a processor waits for at once.
    for (int i = 0; i < s.count; ++i) {
      log_sum[i] = T(log2_e) * a.log_sum[(at + i) * a.heads + h.head];
      delta[i] = dot(dy + i * width, y + i * width, depth);
    }
    const T scale = a.scale();
    transpose(q, row, s.count, depth, T(scale * log2_e), queries, strip<T>);
    transpose(dy, width, s.count, depth, T(1), slopes, strip<T>);
    for (int i = 0; i < s.count; ++i) {
      load_row(q + i * row, scale, query_rows + i * padded, depth, padded);
      load_row(dy + i * width, T(1), slope_rows + i * padded, depth, padded);
    }
  }

  template <class E>
  static T dot(const E* a, const E* b, int depth) {
    const Tag<T> d;
    const int lanes = int(hn::Lanes(d));
    auto total = hn::Zero(d);
    int j = 0;
    for (; j + lanes <= depth; j += lanes)
      total = hn::MulAdd(HWY_NAMESPACE::load(d, a + j), HWY_NAMESPACE::load(d, b + j), total);
    T sum = reduce_sum(d, total);
    for (; j < depth; ++j) sum += a[j] * b[j];
    return sum;
  }

  /// Copies a row, times `scale`, padded with zeros.
  template <class E>
  static void load_row(const E* from, T scale, T* to, int depth, int padded) {
    const Tag<T> d;
    const int lanes = int(hn::Lanes(d));
    int j = 0;
    for (; j + lanes <= depth; j += lanes)
      hn::Store(hn::Mul(HWY_NAMESPACE::load(d, from + j), hn::Set(d, scale)), d, to + j);
    for (; j < depth; ++j) to[j] = scale * from[j];
    for (; j < padded; ++j) to[j] = 0;
  }

  /// From scores (in p) and dy · v (in ds): the probabilities and the scores' gradients.
  template <bool Dropped>
  HWY_INLINE void block(int first_key, int both, int all, const Strip<T>& s,
                        const StripMask<T>& mask) {
    const Tag<T> d;
    const int lanes = int(hn::Lanes(d));
    for (int q = 0; q < strip<T>; q += lanes) {
      const int n = q == 0 ? both : all;
      const auto largest = hn::Load(d, log_sum + q), mean = hn::Load(d, delta + q);
      const auto zero = hn::Zero(d);
      for (int k = 0; k < n; ++k) {
        T* at = p + k * strip<T> + q;
        T* slope_at = ds + k * strip<T> + q;
        // A score is rounded otherwise than in the forward pass: where scores are huge, it may be
        // far above the logarithm of the sum that it is part of.
        auto probability = exp2(d, hn::Min(zero, hn::Sub(hn::Load(d, at), largest)));
        if (!s.sees(first_key + k))
          probability = s.visible(probability, q, first_key + k, hn::Zero(d));
        auto slope = hn::Load(d, slope_at), kept = probability;
        if (Dropped) {
          slope = mask.apply(slope, q, first_key + k);
          kept = mask.apply(kept, q, first_key + k);
        }
        hn::Store(hn::Mul(probability, hn::Sub(slope, mean)), d, slope_at);
        hn::Store(kept, d, at);
      }
    }
  }
};

/// Puts a strip's part of dq.
template <class E, class T>
HWY_INLINE void put_queries(const Attention<E>& a, Head h, const Strip<T>& s, const T* dqueries) {
  const int depth = a.depth();
  const std::int64_t row = a.q_row;
  E* to = a.dq + (h.queries.start + s.first) * row + h.head * depth;
  if (a.add_to_dq) {
    for (int i = 0; i < s.count; ++i)
      for (int j = 0; j < depth; ++j)
        to[i * row + j] = E(to[i * row + j] + a.scale() * dqueries[j * strip<T> + i]);
  } else {
    transpose(dqueries, strip<T>, depth, s.count, a.scale(), to, row);
  }
}

/// For one head of queries, as backward_by_heads() asks for it.
template <bool Dropped, class E, class T = Wide<E>>
void backward_head(const Attention<E>& a, Head h, bool shared) {
  const int lanes = int(hn::Lanes(Tag<T>())), depth = a.depth();
  const int padded = (depth + lanes - 1) / lanes * lanes;
  const std::int64_t row = a.key_row;
  const E* k = a.k + h.keys.start * row + a.key_column(h.head);
  const E* v = a.v + h.keys.start * row + a.key_column(h.head);
  const KeySums<E> sums(a, h);

  BackwardStrip<T> b;
  StripMask<T> mask;
  HWY_ALIGN T wide_keys[wide_rows<E>], wide_values[wide_rows<E>];
  // Keys whose sums hold something to add to.
  int open = shared || (a.add_to_keys && !sums.beside) ? h.keys.length : 0;
  for (int first_query = 0; first_query < h.queries.length; first_query += strip<T>) {
    const Strip<T> s(a, h, first_query);
    b.load(a, h, s, padded);
    prefetch_next(a, h, s);
    if (Dropped) mask.set(for_head(a.dropout, h.head), h.queries.start + s.first);
    for (int first = s.keys.first; first < s.keys.last; first += key_block) {
      const int n = std::min(key_block, s.keys.last - first);
      const int opened = std::clamp(open - first, 0, n);
      const int both = s.seen_by_both(first, n);
      const WideRows<E> keys(k + first * row, row, n, depth, wide_keys);
      const WideRows<E> values(v + first * row, row, n, depth, wide_values);
      times_queries<T>(both, n, {keys.data, keys.row, 1}, b.queries, depth, b.p);
      times_queries<T>(both, n, {values.data, values.row, 1}, b.slopes, depth, b.ds);
      b.template block<Dropped>(first, both, n, s, mask);
      if (sums.dk) {
        T *dk = sums.dk + first * sums.row, *dv = sums.dv + first * sums.row;
        sum_over_queries(opened, both, n, b.p, b.slope_rows, padded, s.count, dv, sums.row, depth);
        sum_over_queries(opened, both, n, b.ds, b.query_rows, padded, s.count, dk, sums.row, depth);
      }
      if (!a.dq) continue;
      const Strided<T> columns{keys.data, 1, keys.row};
      if (first == s.keys.first) {
        sum_over_keys<Into::assign>(both, n, columns, b.ds, depth, b.dqueries);
      } else {
        sum_over_keys<Into::add>(both, n, columns, b.ds, depth, b.dqueries);
      }
    }
    open = std::max(open, s.keys.last);
    if (a.dq) put_queries(a, h, s, b.dqueries);
  }
}

template <class T>
void backward(const Attention<T>& a, Head keys) {
  backward_by_heads(
      a, keys, [&](Head h, bool shared, auto dropped) { backward_head<dropped()>(a, h, shared); });
}

template <class T>
AttentionBackwardTable<T> make_table() {
  return {backward<T>};
}
SINTER_TABLES(AttentionBackwardTable)

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::kernel {
namespace {
SINTER_DISPATCH(AttentionBackwardTable)

/// In proportion to the pairs of a query and a key that it sees, among heads of one span.
std::int64_t pairs(AttentionSpan span, Head h) {
  const std::int64_t length = h.keys.length;
  if (!span.causal) return length * h.queries.length;
  const std::int64_t window = max_seen(span, h.keys.length);
  return window * (2 * length - window);
}

/// Clears the gradients of keys and values that no query sees.
template <class T>
void clear_padding(const Attention<T>& a, Head keys) {
  if (!a.dk || a.add_to_keys) return;
  const std::int64_t first = keys.keys.start + keys.keys.length;
  for (std::int64_t row = first; row < first + keys.padding; ++row)
    for (T* part : {a.dk, a.dv})
      std::fill_n(part + row * a.key_row + keys.head * a.depth(), a.depth(), T(0));
}

template <class T>
void propagate(Stream& stream, const Attention<T>& a, Sequences queries, Sequences keys) {
  auto kernel = table<T>();
  if constexpr (std::is_same_v<T, BFloat16>)
    if (const auto* unit = bf16_attention(a.depth())) kernel = {unit->backward};
  balance(
      stream, std::int64_t(a.sharing()) * a.depth(),
      [&](const auto& visit) {
        for_each_head(queries, keys, a.heads / a.sharing(),
                      [&](Head h) { visit(h, 0, pairs(a.span, h)); });
      },
      [&](Head head, int) {
        kernel.backward(a, head);
        clear_padding(a, head);
      });
}

}  // namespace

template <class T, class S>
void attention_backward(Stream& stream, Input<T> qkv, Input<T> y, Input<T> dy, Input<S> log_sum,
                        Tensor<T> dqkv, Sequences sequences, AttentionSpan span, S* scratch,
                        Dropout dropout) {
  if (!qkv) return;  // no rows
  Attention<T> a = self_attention<T>(qkv, written(y), written(log_sum), span, dropout);
  a.dy = dy.data;
  a.dq = dqkv.data;
  a.dk = a.dq + a.width;
  a.dv = a.dk + a.key_width;
  a.add_to_dq = a.add_to_keys = dqkv.add;
  a.sums = scratch;
  propagate(stream, a, sequences, keys_of(sequences, span));
}

template <class T, class S>
void cross_attention_backward(Stream& stream, Input<T> q, Input<T> kv, Input<T> y, Input<T> dy,
                              Input<S> log_sum, Tensor<T> dq, Output<T> dkv, Sequences queries,
                              Sequences keys, S* scratch, Dropout dropout) {
  if (!q) return;  // no rows
  Attention<T> a = cross_attention<T>(q, kv, written(y), written(log_sum), dropout);
  a.dy = dy.data;
  if (dq) a.dq = dq.data, a.add_to_dq = dq.add;
  if (dkv) a.dk = dkv.data, a.dv = a.dk + a.key_width, a.add_to_keys = dkv.add;
  a.sums = scratch;
  if (dq || dkv) propagate(stream, a, queries, keys);
}

#define SINTER_INSTANTIATE(T)                                                               \
  template void attention_backward(Stream&, Input<T>, Input<T>, Input<T>, Input<Wide<T>>,   \
                                   Tensor<T>, Sequences, AttentionSpan, Wide<T>*, Dropout); \
  template void cross_attention_backward(Stream&, Input<T>, Input<T>, Input<T>, Input<T>,   \
                                         Input<Wide<T>>, Tensor<T>, Tensor<T>, Sequences,   \
                                         Sequences, Wide<T>*, Dropout);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
#endif  // HWY_ONCE
