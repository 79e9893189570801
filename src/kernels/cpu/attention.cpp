#include "sinter/kernels/attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/mask.hpp"
#include "kernels/cpu/split.hpp"
#include "kernels/cpu/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attention.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/random-inl.hpp"
#include "kernels/cpu/tile-inl.hpp"

#include <hwy/cache_control.h>
#include <hwy/contrib/math/math-inl.h>

#ifndef SINTER_ATTENTION_TABLE
#define SINTER_ATTENTION_TABLE
namespace sinter::kernel {
namespace {

/// The operands of a call. dy, dqkv and add: backward only.
template <class T>
struct Attention {
  const T* qkv;
  T* y;
  T* log_sum;
  int heads, width;
  bool causal;
  Dropout dropout;
  const T* dy = nullptr;
  T* dqkv = nullptr;
  bool add = false;

  int depth() const { return width / heads; }
  T scale() const { return T(1 / std::sqrt(double(depth()))); }
};

/// One head of one sequence, rows [start, start + length).
struct Head {
  std::int64_t start;
  int length, head;
};

/// What each instruction set provides.
template <class T>
struct AttentionTable {
  int strip;  // queries that are worked on together
  void (*forward)(const Attention<T>&, Head, int first_query);  // one strip
  void (*backward)(const Attention<T>&, Head);
};

/// The mask's key for one head.
inline Dropout for_head(Dropout dropout, int head) {
  dropout.key = mix(dropout.key ^ (std::uint64_t(head) + 1) * 0x9e3779b97f4a7c15);
  return dropout;
}

}  // namespace
}  // namespace sinter::kernel
#endif

// Everything is laid out with the queries of a strip along the vectors: probabilities as keys ×
// queries, the strip's q, y and gradients as depth × queries. So softmax needs no sums across
// lanes, any head width works, and every product is one scalar times vectors.
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
constexpr int strip = vectors* int(hn::MaxLanes(Tag<T>()));

constexpr double log2_e = 1.44269504088896340736, ln_2 = 0.69314718055994530942;

/// The mask keys of a strip's rows.
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

/// A strip: queries [first, first + count) of a head, which see keys [0, keys).
template <class T>
struct Strip {
  int first, count, keys;
  bool causal;

  Strip(const Attention<T>& a, Head h, int first_query)
      : first(first_query),
        count(std::min(strip<T>, h.length - first_query)),
        keys(a.causal ? first_query + count : h.length),
        causal(a.causal) {}

  /// How many of the keys [first_key, first_key + n) the lower half sees. Only the upper half sees
  /// the rest, whose products with the lower half are not computed.
  int seen_by_both(int first_key, int n) const {
    return causal ? std::clamp(first + strip<T> / 2 - first_key, 0, n) : n;
  }

  /// Whether all queries see the key.
  bool sees(int key) const { return !causal || key <= first; }

  /// x where the queries [first + q, …) see the key, else `other`.
  HWY_INLINE Vector<T> visible(Vector<T> x, int q, int key, Vector<T> other) const {
    const Tag<T> d;
    return hn::IfThenElse(hn::Lt(hn::Iota(d, T(q)), hn::Set(d, T(key - first))), other, x);
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

/// Asks for `rows` rows of `columns` elements that are needed soon: a head's columns are too far
/// apart for the hardware to foresee them.
template <class T>
HWY_INLINE void prefetch(const T* data, std::int64_t row, int rows, int columns) {
  constexpr int line = 64 / sizeof(T);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; c += line) hwy::Prefetch(data + r * row + c);
}

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

template <bool Dropped, class T>
void forward_strip(const Attention<T>& a, Head h, int first_query) {
  const Tag<T> d;
  const int lanes = int(hn::Lanes(d));
  const int depth = a.depth();
  const std::int64_t row = 3 * std::int64_t(a.width);
  const Strip<T> s(a, h, first_query);
  const T* q = a.qkv + (h.start + s.first) * row + h.head * depth;
  const T* k = a.qkv + h.start * row + a.width + h.head * depth;
  const T* v = k + a.width;

  HWY_ALIGN T queries[most_head_width * strip<T>];
  HWY_ALIGN T result[most_head_width * strip<T>];
  HWY_ALIGN T scores[key_block * strip<T>];
  if (s.count < strip<T>) std::fill_n(queries, depth * strip<T>, T(0));
  transpose(q, row, s.count, depth, T(a.scale() * log2_e), queries, strip<T>);
  Softmax<T> softmax;
  StripMask<T> mask;
  if (Dropped) mask.set(for_head(a.dropout, h.head), h.start + s.first);

  for (int first = 0; first < s.keys; first += key_block) {
    const int n = std::min(key_block, s.keys - first);
    const int both = s.seen_by_both(first, n);
    times_queries<T>(both, n, {k + first * row, row, 1}, queries, depth, scores);
    softmax.template block<Dropped>(scores, first, both, n, s, mask);
    const Strided<T> values{v + first * row, 1, row};
    if (first == 0) {
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
  T* log_sum = a.log_sum + (h.start + s.first) * a.heads + h.head;
  for (int i = 0; i < s.count; ++i) log_sum[std::int64_t(i) * a.heads] = logarithms[i];
  T* y = a.y + (h.start + s.first) * a.width + h.head * depth;
  transpose(result, strip<T>, depth, s.count, T(1), y, a.width);
}

template <class T>
void forward(const Attention<T>& a, Head h, int first_query) {
  if (a.dropout.probability > 0) {
    forward_strip<true>(a, h, first_query);
  } else {
    forward_strip<false>(a, h, first_query);
  }
}

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
  HWY_ALIGN T memory[5 * (most_head_width + hn::MaxLanes(Tag<T>())) * strip<T>];

  void load(const Attention<T>& a, Head h, const Strip<T>& s, int padded) {
    const int depth = a.depth();
    const std::int64_t row = 3 * std::int64_t(a.width), at = h.start + s.first;
    const T* q = a.qkv + at * row + h.head * depth;
    const T* dy = a.dy + at * a.width + h.head * depth;
    const T* y = a.y + at * a.width + h.head * depth;
    T** parts[] = {&queries, &slopes, &dqueries, &query_rows, &slope_rows};
    T* next = memory;
    for (T** part : parts) *part = next, next += std::int64_t(padded) * strip<T>;
    if (s.count < strip<T>) std::fill_n(memory, 2 * padded * strip<T>, T(0));
    transpose(q, row, s.count, depth, T(a.scale() * log2_e), queries, strip<T>);
    transpose(dy, a.width, s.count, depth, T(1), slopes, strip<T>);
    std::fill_n(log_sum, strip<T>, T(0));
    std::fill_n(delta, strip<T>, T(0));
    for (int i = 0; i < s.count; ++i) {
      const std::int64_t offset = std::int64_t(i) * a.width;
      log_sum[i] = T(log2_e) * a.log_sum[(at + i) * a.heads + h.head];
      delta[i] = load_row(q + i * row, dy + offset, y + offset, a.scale(), query_rows + i * padded,
                          slope_rows + i * padded, depth, padded);
    }
  }

  /// Copies a row of q (times scale) and of dy, padded with zeros. Returns dy · y.
  static T load_row(const T* q, const T* dy, const T* y, T scale, T* to_q, T* to_dy, int depth,
                    int padded) {
    const Tag<T> d;
    const int lanes = int(hn::Lanes(d));
    auto dot = hn::Zero(d);
    int j = 0;
    for (; j + lanes <= depth; j += lanes) {
      auto slope = hn::LoadU(d, dy + j);
      dot = hn::MulAdd(slope, hn::LoadU(d, y + j), dot);
      hn::Store(slope, d, to_dy + j);
      hn::Store(hn::Mul(hn::LoadU(d, q + j), hn::Set(d, scale)), d, to_q + j);
    }
    T sum = reduce_sum(d, dot);
    for (; j < depth; ++j) sum += dy[j] * y[j], to_dy[j] = dy[j], to_q[j] = scale * q[j];
    for (; j < padded; ++j) to_dy[j] = 0, to_q[j] = 0;
    return sum;
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
      for (int k = 0; k < n; ++k) {
        T* at = p + k * strip<T> + q;
        T* slope_at = ds + k * strip<T> + q;
        auto probability = exp2(d, hn::Sub(hn::Load(d, at), largest));
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

/// What the next strip reads and writes: of this head, or else of the next one.
template <class T>
HWY_INLINE void prefetch_next(const Attention<T>& a, Head h, const Strip<T>& s) {
  const int depth = a.depth();
  std::int64_t at = h.start + s.first + s.count;
  int head = h.head;
  if (s.first + s.count == h.length) at = h.start, ++head;
  if (head == a.heads) return;
  const int rows = std::min(strip<T>, int(h.start + h.length - at));
  const std::int64_t row = 3 * std::int64_t(a.width);
  for (int part = 0; part < 3; ++part) {
    const std::int64_t offset = at * row + part * a.width + head * depth;
    prefetch(a.qkv + offset, row, rows, depth);
    prefetch(a.dqkv + offset, row, rows, depth);
  }
  prefetch(a.y + at * a.width + head * depth, a.width, rows, depth);
  prefetch(a.dy + at * a.width + head * depth, a.width, rows, depth);
}

template <bool Dropped, class T>
void backward_head(const Attention<T>& a, Head h) {
  const int lanes = int(hn::Lanes(Tag<T>())), depth = a.depth();
  const int padded = (depth + lanes - 1) / lanes * lanes;
  const std::int64_t row = 3 * std::int64_t(a.width), at = h.start * row + h.head * depth;
  const T *k = a.qkv + at + a.width, *v = k + a.width;
  T *dq = a.dqkv + at, *dk = dq + a.width, *dv = dk + a.width;

  BackwardStrip<T> b;
  StripMask<T> mask;
  int open = a.add ? h.length : 0;  // keys whose gradients hold something to add to
  for (int first_query = 0; first_query < h.length; first_query += strip<T>) {
    const Strip<T> s(a, h, first_query);
    b.load(a, h, s, padded);
    prefetch_next(a, h, s);
    if (Dropped) mask.set(for_head(a.dropout, h.head), h.start + s.first);
    for (int first = 0; first < s.keys; first += key_block) {
      const int n = std::min(key_block, s.keys - first), opened = std::clamp(open - first, 0, n);
      const int both = s.seen_by_both(first, n);
      const std::int64_t key = first * row;
      times_queries<T>(both, n, {k + key, row, 1}, b.queries, depth, b.p);
      times_queries<T>(both, n, {v + key, row, 1}, b.slopes, depth, b.ds);
      b.template block<Dropped>(first, both, n, s, mask);
      sum_over_queries(opened, both, n, b.p, b.slope_rows, padded, s.count, dv + key, row, depth);
      sum_over_queries(opened, both, n, b.ds, b.query_rows, padded, s.count, dk + key, row, depth);
      const Strided<T> keys{k + key, 1, row};
      if (first == 0) {
        sum_over_keys<Into::assign>(both, n, keys, b.ds, depth, b.dqueries);
      } else {
        sum_over_keys<Into::add>(both, n, keys, b.ds, depth, b.dqueries);
      }
    }
    open = std::max(open, s.keys);
    T* to = dq + s.first * row;
    if (a.add) {
      for (int i = 0; i < s.count; ++i)
        for (int j = 0; j < depth; ++j) to[i * row + j] += a.scale() * b.dqueries[j * strip<T> + i];
    } else {
      transpose(b.dqueries, strip<T>, depth, s.count, a.scale(), to, row);
    }
  }
}

template <class T>
void backward(const Attention<T>& a, Head h) {
  if (a.dropout.probability > 0) {
    backward_head<true>(a, h);
  } else {
    backward_head<false>(a, h);
  }
}

AttentionTable<float> table_f32() { return {strip<float>, forward<float>, backward<float>}; }
AttentionTable<double> table_f64() { return {strip<double>, forward<double>, backward<double>}; }

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::kernel {
namespace {

SINTER_DISPATCH(AttentionTable)

/// Calls visit(head, first_query, cost) for each strip of `strip` queries of each head.
template <class F>
void for_each_strip(const std::int32_t* starts, int sequences, int heads, int strip, bool causal,
                    const F& visit) {
  for (int s = 0; s < sequences; ++s) {
    const int length = starts[s + 1] - starts[s];
    for (int h = 0; h < heads; ++h)
      for (int first = 0; first < length; first += strip)
        visit(Head{starts[s], length, h}, first,
              std::int64_t(causal ? std::min(first + strip, length) : length));
  }
}

/// Spreads units of different cost over the threads: visit_all(visit) calls visit(unit…, cost) for
/// each; run(unit…) is called for each, by one thread. Which thread depends on the costs alone.
template <class VisitAll, class Run>
void balance(Stream& stream, std::int64_t elements_per_cost, const VisitAll& visit_all,
             const Run& run) {
  std::int64_t total = 0;
  visit_all([&](Head, int, std::int64_t cost) { total += cost; });
  const int parts = parts_for(stream, total, elements_per_cost);
  stream.parallel(parts, [&](int part) {
    std::int64_t before = 0;
    visit_all([&](Head head, int first, std::int64_t cost) {
      if ((2 * before + cost) * parts / (2 * total) == part) run(head, first);
      before += cost;
    });
  });
}

}  // namespace

template <class T, class S>
void attention_forward(Stream& stream, const T* qkv, T* y, S* log_sum, const std::int32_t* starts,
                       int sequences, int heads, int width, bool causal, Dropout dropout) {
  const auto kernel = table<T>();
  const Attention<T> a{qkv, y, log_sum, heads, width, causal, dropout};
  balance(
      stream, std::int64_t(kernel.strip) * (width / heads),
      [&](const auto& visit) {
        for_each_strip(starts, sequences, heads, kernel.strip, causal, visit);
      },
      [&](Head head, int first) { kernel.forward(a, head, first); });
}

template <class T, class S>
void attention_backward(Stream& stream, const T* qkv, const T* y, const T* dy, const S* log_sum,
                        T* dqkv, bool add, const std::int32_t* starts, int sequences, int heads,
                        int width, bool causal, Dropout dropout) {
  const auto kernel = table<T>();
  const Attention<T> a{
      qkv, const_cast<T*>(y), const_cast<S*>(log_sum), heads, width, causal, dropout, dy, dqkv,
      add};
  balance(
      stream, width / heads,
      [&](const auto& visit) {
        for (int s = 0; s < sequences; ++s) {
          const std::int64_t length = starts[s + 1] - starts[s];
          for (int h = 0; h < heads; ++h)
            visit(Head{starts[s], int(length), h}, 0, length * length);
        }
      },
      [&](Head head, int) { kernel.backward(a, head); });
}

#define SINTER_INSTANTIATE(T)                                                                    \
  template void attention_forward(Stream&, const T*, T*, T*, const std::int32_t*, int, int, int, \
                                  bool, Dropout);                                                \
  template void attention_backward(Stream&, const T*, const T*, const T*, const T*, T*, bool,    \
                                   const std::int32_t*, int, int, int, bool, Dropout);
SINTER_INSTANTIATE(float)
SINTER_INSTANTIATE(double)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
#endif  // HWY_ONCE
