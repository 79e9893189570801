// SPDX-License-Identifier: Apache-2.0
// What both directions of attention share, compiled once for each instruction set.
//
// Everything is laid out with the queries of a strip along the vectors: probabilities as keys ×
// queries, the strip's q, y and gradients as depth × queries. So softmax needs no sums across
// lanes, any head width works, and every product is one scalar times vectors.
#include <hwy/highway.h>

#include <type_traits>

#include "kernels/cpu/random-inl.hpp"
#include "kernels/cpu/tile-inl.hpp"

#include <hwy/cache_control.h>

#if defined(SINTER_ATTENTION_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SINTER_ATTENTION_INL
#undef SINTER_ATTENTION_INL
#else
#define SINTER_ATTENTION_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

template <class T>
using Tag = hn::ScalableTag<T>;
template <class T>
using Vector = hn::Vec<Tag<T>>;

constexpr int vectors = 2;  // of queries in a strip: a lower and an upper half
constexpr int key_block = 64;
template <class T>
constexpr int strip = vectors * int(hn::MaxLanes(Tag<T>()));

constexpr double log2_e = 1.44269504088896340736, ln_2 = 0.69314718055994530942;

/// The dropout mask of a strip, with the keys of its rows.
template <class T>
struct StripMask {
  HWY_ALIGN std::uint32_t low[strip<T>], high[strip<T>];
  std::int32_t threshold;
  T scale;

  void set(const Dropout& dropout, std::int64_t first_row) {
    threshold = keep_threshold(dropout);
    scale = T(keep_scale(dropout));
    for (int q = 0; q < strip<T>; ++q) {
      std::uint64_t key = row_key(dropout, first_row + q);
      low[q] = std::uint32_t(key), high[q] = std::uint32_t(key >> 32);
    }
  }

  /// x / (1 - p) where kept, else 0, for queries [q, q + lanes) at a key.
  HWY_INLINE Vector<T> apply(Vector<T> x, int q, int key) const {
    const Tag<T> d;
    const hn::Rebind<std::uint32_t, Tag<T>> du;
    auto bits = random_bits(du, hn::LoadU(du, low + q), hn::LoadU(du, high + q),
                            hn::Set(du, std::uint32_t(key)));
    return keep(d, hn::Mul(x, hn::Set(d, scale)), bits, threshold);
  }
};

/// Queries [first, first + count) of a head, and the keys that they see between them.
template <class T>
struct Strip {
  static_assert(strip<T> <= key_block, "the first block of keys has one that each query sees");
  int first, count, window;
  KeyRange keys;
  bool causal;

  template <class E>
  Strip(const Attention<E>& a, Head h, int first_query)
      : first(first_query),
        count(std::min(strip<T>, h.queries.length - first_query)),
        window(max_seen(a.span, h.keys.length)),
        keys(seen_keys(a.span, h.keys.length, first, count)),
        causal(a.span.causal) {}

  /// How many of the keys [first_key, first_key + n) are for both halves. Only the upper half sees
  /// the rest, whose products with the lower half are not computed.
  int seen_by_both(int first_key, int n) const {
    return causal ? std::clamp(first + strip<T> / 2 - first_key, 0, n) : n;
  }

  /// True if all queries see the key.
  bool sees(int key) const { return !causal || (key <= first && key > first + count - 1 - window); }

  /// x where the queries [first + q, …) see the key, else `other`.
  HWY_INLINE Vector<T> visible(Vector<T> x, int q, int key, Vector<T> other) const {
    const Tag<T> d;
    const auto query = hn::Iota(d, T(q));
    const auto from = hn::Set(d, T(key - first)), to = hn::Set(d, T(key - first + window));
    return hn::IfThenElse(hn::Or(hn::Lt(query, from), hn::Ge(query, to)), other, x);
  }
};

/// c = rows (keys × depth) · columns (depth × queries), for the queries that see each key; the
/// first `both` keys are seen by both halves.
template <class T>
HWY_INLINE void times_queries(int both, int n, Strided<T> rows, const T* columns, int depth, T* c) {
  const Tag<T> d;
  constexpr int half = strip<T> / 2;
  multiply<Into::assign, 2>(d, both, rows, columns, strip<T>, depth, c, strip<T>);
  if (both < n)
    multiply<Into::assign, 1>(d, n - both, rows.from(both, 0), columns + half, strip<T>, depth,
                              c + both * strip<T> + half, strip<T>);
}

/// c (depth × queries) = rows (depth × keys) · p (keys × queries), or added to c (· factors), over
/// the keys that each query sees.
template <Into into, class T>
HWY_INLINE void sum_over_keys(int both, int n, Strided<T> rows, const T* p, int depth, T* c,
                              const T* factors = nullptr) {
  const Tag<T> d;
  constexpr int half = strip<T> / 2;
  multiply<into, 2>(d, depth, rows, p, strip<T>, both, c, strip<T>, factors);
  if (both < n)
    multiply<Into::add, 1>(d, depth, rows.from(0, both), p + both * strip<T> + half, strip<T>,
                           n - both, c + half, strip<T>);
}

/// Rows of keys or values in the type in which kernels compute: as they lie, or widened into `to`.
template <class T>
struct WideRows {
  const Wide<T>* data;
  std::int64_t row;

  HWY_INLINE WideRows(const T* from, std::int64_t from_row, int rows, int depth, Wide<T>* to) {
    if constexpr (is_narrow<T>) {
      for (int i = 0; i < rows; ++i) put_all(from + i * from_row, to + i * depth, depth, false);
      data = to, row = depth;
    } else {
      data = from, row = from_row;
    }
  }
};
/// Room for a block of them; none where they are not widened.
template <class T>
constexpr int wide_rows = is_narrow<T> ? key_block * max_head_width : 1;

/// Asks for `rows` rows of `columns` elements that are needed soon: the rows of a head are too far
/// apart for the hardware to foresee them.
template <class T>
HWY_INLINE void prefetch(const T* data, std::int64_t row, int rows, int columns) {
  constexpr int line = 64 / sizeof(T);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; c += line) hwy::Prefetch(data + r * row + c);
}

/// What the next strip reads and writes: of this head, or else of the next one. Of its keys those
/// that stand where its queries do, as a causal strip comes to them first.
template <class E, class T>
HWY_INLINE void prefetch_next(const Attention<E>& a, Head h, const Strip<T>& s) {
  const int depth = a.depth();
  int first = s.first + s.count, head = h.head;
  if (first == h.queries.length) first = 0, ++head;
  if (head == a.heads) return;
  const int queries = std::min(strip<T>, h.queries.length - first);
  const int keys = std::min(strip<T>, h.keys.length - first);
  const std::int64_t query = h.queries.start + first, key = h.keys.start + first;
  const std::int64_t column = head * depth, key_column = a.key_column(head);
  prefetch(a.q + query * a.q_row + column, a.q_row, queries, depth);
  if (a.dq) prefetch(a.dq + query * a.q_row + column, a.q_row, queries, depth);
  for (const E* part : {a.k, a.v})
    prefetch(part + key * a.key_row + key_column, a.key_row, keys, depth);
  if (a.dk)
    for (const E* part : {a.dk, a.dv})
      prefetch(part + key * a.key_row + key_column, a.key_row, keys, depth);
  prefetch(a.y + query * a.width + column, a.width, queries, depth);
  prefetch(a.dy + query * a.width + column, a.width, queries, depth);
}

/// The sums of the gradients of a head's keys and values: in dk and dv, or beside them if their
/// elements are narrow; null if they are not wanted.
template <class E, class T = Wide<E>>
struct KeySums {
  static constexpr bool beside = is_narrow<E>;
  T *dk = nullptr, *dv = nullptr;
  std::int64_t row = 0;

  KeySums(const Attention<E>& a, Head h) {
    if (!a.dk) return;
    if constexpr (beside) {  // a head's together: rows of all heads share few sets of a cache
      const std::int64_t depth = a.depth(), of_head = h.keys.length * depth;
      row = depth;
      dk = a.sums + 2 * (h.keys.start * a.key_width + h.head / a.sharing() * of_head);
      dv = dk + of_head;
    } else {
      row = a.key_row;
      dk = a.dk + h.keys.start * row + a.key_column(h.head);
      dv = a.dv + h.keys.start * row + a.key_column(h.head);
    }
  }
  void put_into(const Attention<E>& a, Head h) const {
    if constexpr (!beside) return;
    if (!a.dk) return;
    const std::int64_t to = h.keys.start * a.key_row + a.key_column(h.head);
    for (std::int64_t i = 0; i < h.keys.length; ++i) {
      put_all(dk + i * row, a.dk + to + i * a.key_row, a.depth(), a.add_to_keys);
      put_all(dv + i * row, a.dv + to + i * a.key_row, a.depth(), a.add_to_keys);
    }
  }
};

/// Calls pass(dropped): whether there is dropout, as a constant.
template <class E, class Pass>
void with_dropout(const Attention<E>& a, const Pass& pass) {
  a.dropout.probability > 0 ? pass(std::true_type()) : pass(std::false_type());
}

/// The backward pass of all heads of queries that share a head of keys, one after the other, and of
/// those keys. pass(head, shared, dropped) is that of one head of queries; `shared` is whether the
/// sums of its keys hold those of another.
template <class E, class Pass>
void backward_by_heads(const Attention<E>& a, Head keys, const Pass& pass) {
  Head h = keys;
  for (int shared = 0; shared < a.sharing(); ++shared) {
    h.head = keys.head * a.sharing() + shared;
    with_dropout(a, [&](auto dropped) { pass(h, shared > 0, dropped); });
  }
  KeySums<E>(a, h).put_into(a, h);
}

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
