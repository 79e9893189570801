// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "kernels/cpu/attention_call.hpp"
#include "kernels/cpu/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attention_forward.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/attention-inl.hpp"

#include <hwy/contrib/math/math-inl.h>

#ifndef SINTER_ATTENTION_FORWARD_TABLE
#define SINTER_ATTENTION_FORWARD_TABLE
namespace sinter::kernel {
namespace {
/// What each instruction set provides.
template <class T>
struct AttentionForwardTable {
  int strip;                                                    // queries worked on together
  void (*forward)(const Attention<T>&, Head, int first_query);  // one strip
};
}  // namespace
}  // namespace sinter::kernel
#endif

HWY_BEFORE_NAMESPACE();
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

/// Running softmax of a strip over blocks of keys, base 2 (Milakov & Gimelshein 2018).
template <class T>
struct Softmax {
  HWY_ALIGN T most[strip<T>], sum[strip<T>], correction[strip<T>];

  Softmax() {
    std::fill_n(most, strip<T>, -std::numeric_limits<T>::infinity());
    std::fill_n(sum, strip<T>, T(0));
  }

  /// Turns a block of scores, keys [first_key, first_key + all), into probabilities relative to the
  /// largest score so far; `correction` is what earlier results must be multiplied by.
  template <bool Dropped>
  HWY_INLINE void block(T* scores, int first_key, int both, int all, const Strip<T>& s,
                        const StripMask<T>& mask) {
    const Tag<T> d;
    const int lanes = int(hn::Lanes(d));
    for (int q = 0; q < strip<T>; q += lanes) {
      const int n = q == 0 ? both : all;
      const auto before = hn::Load(d, most + q);
      auto largest = before;
      for (int k = 0; k < n; ++k) {
        T* at = scores + k * strip<T> + q;
        auto score = hn::Load(d, at);
        if (!s.sees(first_key + k)) {
          score =
              s.visible(score, q, first_key + k, hn::Set(d, -std::numeric_limits<T>::infinity()));
          hn::Store(score, d, at);
        }
        largest = hn::Max(largest, score);
      }
      const auto factor = exp2(d, hn::Sub(before, largest));
      auto total = hn::Mul(hn::Load(d, sum + q), factor);
      for (int k = 0; k < n; ++k) {
        T* at = scores + k * strip<T> + q;
        auto p = exp2(d, hn::Sub(hn::Load(d, at), largest));
        total = hn::Add(total, p);
        if (Dropped) p = mask.apply(p, q, first_key + k);
        hn::Store(p, d, at);
      }
      hn::Store(largest, d, most + q);
      hn::Store(total, d, sum + q);
      hn::Store(factor, d, correction + q);
    }
  }
};

template <bool Dropped, class E, class T = Wide<E>>
void forward_strip(const Attention<E>& a, Head h, int first_query) {
  const Tag<T> d;
  const int lanes = int(hn::Lanes(d));
  const int depth = a.depth();
  const std::int64_t row = a.key_row;
  const Strip<T> s(a, h, first_query);
  const std::int64_t at = h.queries.start + s.first;
  const E* q = a.q + at * a.q_row + h.head * depth;
  const E* k = a.k + h.keys.start * row + a.key_column(h.head);
  const E* v = a.v + h.keys.start * row + a.key_column(h.head);

  HWY_ALIGN T queries[max_head_width * strip<T>];
  HWY_ALIGN T result[max_head_width * strip<T>];
  HWY_ALIGN T scores[key_block * strip<T>];
  HWY_ALIGN T wide[wide_rows<E>];
  if (s.count < strip<T>) std::fill_n(queries, depth * strip<T>, T(0));
  transpose(q, a.q_row, s.count, depth, T(a.scale() * log2_e), queries, strip<T>);
  Softmax<T> softmax;
  StripMask<T> mask;
  if (Dropped) mask.set(for_head(a.dropout, h.head), at);

  for (int first = s.keys.first; first < s.keys.last; first += key_block) {
    const int n = std::min(key_block, s.keys.last - first);
    const int both = s.seen_by_both(first, n);
    const WideRows<E> keys(k + first * row, row, n, depth, wide);
    times_queries<T>(both, n, {keys.data, keys.row, 1}, queries, depth, scores);
    softmax.template block<Dropped>(scores, first, both, n, s, mask);
    const WideRows<E> rows(v + first * row, row, n, depth, wide);
    const Strided<T> values{rows.data, 1, rows.row};
    if (first == s.keys.first) {
      sum_over_keys<Into::assign>(both, n, values, scores, depth, result);
    } else {
      sum_over_keys<Into::scale_and_add>(both, n, values, scores, depth, result,
                                         softmax.correction);
    }
  }

  HWY_ALIGN T logarithms[strip<T>];
  for (int i = 0; i < strip<T>; i += lanes) {
    auto sum = hn::Load(d, softmax.sum + i);
    auto natural = hn::MulAdd(hn::Load(d, softmax.most + i), hn::Set(d, T(ln_2)), hn::Log(d, sum));
    hn::Store(natural, d, logarithms + i);
    auto inverse = hn::Div(hn::Set(d, T(1)), sum);
    for (int j = 0; j < depth; ++j) {
      T* at = result + j * strip<T> + i;
      hn::Store(hn::Mul(hn::Load(d, at), inverse), d, at);
    }
  }
  T* log_sum = a.log_sum + at * a.heads + h.head;
  for (int i = 0; i < s.count; ++i) log_sum[std::int64_t(i) * a.heads] = logarithms[i];
  E* y = a.y + at * a.width + h.head * depth;
  transpose(result, strip<T>, depth, s.count, T(1), y, a.width);
}

template <class T>
void forward(const Attention<T>& a, Head h, int first_query) {
  with_dropout(a, [&](auto dropped) { forward_strip<dropped()>(a, h, first_query); });
}

template <class T>
AttentionForwardTable<T> make_table() {
  return {strip<Wide<T>>, forward<T>};
}
SINTER_TABLES(AttentionForwardTable)

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::kernel {
namespace {

SINTER_DISPATCH(AttentionForwardTable)

/// Calls visit(head, first_query, cost) for each strip of `strip` queries of each head.
template <class F>
void for_each_strip(Sequences queries, Sequences keys, int heads, int strip, AttentionSpan span,
                    const F& visit) {
  for_each_head(queries, keys, heads, [&](Head h) {
    for (int first = 0; first < h.queries.length; first += strip) {
      const int count = std::min(strip, h.queries.length - first);
      const KeyRange seen = seen_keys(span, h.keys.length, first, count);
      visit(h, first, std::int64_t(seen.last - seen.first));
    }
  });
}

template <class T>
void attend(Stream& stream, const Attention<T>& a, Sequences queries, Sequences keys) {
  auto kernel = table<T>();
  if constexpr (std::is_same_v<T, BFloat16>)
    if (const auto* unit = bf16_attention(a.depth())) kernel = {bf16_strip, unit->forward};
  balance(
      stream, std::int64_t(kernel.strip) * a.depth(),
      [&](const auto& visit) {
        for_each_strip(queries, keys, a.heads, kernel.strip, a.span, visit);
      },
      [&](Head head, int first) { kernel.forward(a, head, first); });
}

}  // namespace

template <class T, class S>
void attention_forward(Stream& stream, Input<T> qkv, Tensor<T> y, Tensor<S> log_sum,
                       Sequences sequences, AttentionSpan span, Dropout dropout) {
  if (!qkv) return;  // no rows
  attend(stream, self_attention<T>(qkv, y, log_sum, span, dropout), sequences,
         keys_of(sequences, span));
}

template <class T, class S>
void cross_attention_forward(Stream& stream, Input<T> q, Input<T> kv, Tensor<T> y,
                             Tensor<S> log_sum, Sequences queries, Sequences keys,
                             Dropout dropout) {
  if (!q) return;  // no rows
  attend(stream, cross_attention<T>(q, kv, y, log_sum, dropout), queries, keys);
}

#define SINTER_INSTANTIATE(T)                                                                    \
  template void attention_forward(Stream&, Input<T>, Tensor<T>, Tensor<Wide<T>>, Sequences,      \
                                  AttentionSpan, Dropout);                                       \
  template void cross_attention_forward(Stream&, Input<T>, Input<T>, Tensor<T>, Tensor<Wide<T>>, \
                                        Sequences, Sequences, Dropout);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
#endif  // HWY_ONCE
