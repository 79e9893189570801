// SPDX-License-Identifier: Apache-2.0
// What products of few rows have in common for wide and narrow numbers, compiled once for each
// instruction set: include after hwy/foreach_target.h.
#include <hwy/highway.h>

#include "kernels/cpu/ahead-inl.hpp"
#include "kernels/cpu/gemm.hpp"
#include "kernels/cpu/tile-inl.hpp"

#if defined(SINTER_FEW_ROWS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SINTER_FEW_ROWS_INL
#undef SINTER_FEW_ROWS_INL
#else
#define SINTER_FEW_ROWS_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

/// Rows of op(a) within a block of the depth: factor (i, p) is at data[p step + i]. For more than one
/// row the step is min_rows.
template <class W>
struct Factors {
  const W* data;
  std::int64_t step;

  Factors from(int i, int p) const { return {data + p * step + i, step}; }
  template <int Rows>
  HWY_INLINE const W* at(int i, int p) const {
    return data + p * (Rows == 1 ? step : min_rows) + i;
  }
};

/// Room for sums of columns of c: as much as a processor has at hand while it reads b.
constexpr int sums_at_once = 4096;
/// How many columns of c have room for their sums, with this many rows.
constexpr int columns_at_once(int rows) { return sums_at_once / rows / 64 * 64; }

/// sums[i] += Σ_p factor(i, p) b[p], p < Steps, for a vector of columns.
template <int Rows, int Steps, class D, class F, class T, class W = Element_of<D>>
HWY_INLINE void add_vector(D d, const F& factor, const T* HWY_RESTRICT b, std::int64_t b_step,
                           W* HWY_RESTRICT sums, std::int64_t sums_row) {
  hn::Vec<D> sum[Rows];
  SINTER_UNROLL
  for (int i = 0; i < Rows; ++i) sum[i] = hn::LoadU(d, sums + i * sums_row);
  SINTER_UNROLL
  for (int p = 0; p < Steps; ++p) {
    const auto column = load(d, b + p * b_step);
    SINTER_UNROLL
    for (int i = 0; i < Rows; ++i) sum[i] = hn::MulAdd(factor(i, p), column, sum[i]);
  }
  SINTER_UNROLL
  for (int i = 0; i < Rows; ++i) hn::StoreU(sum[i], d, sums + i * sums_row);
}

/// True if sums of whole pairs of vectors of columns lie as those of even columns, then those of odd
/// ones, until put_in_order(): both are widened from one vector of b without moving a number.
template <class T>
constexpr bool in_pairs = HWY_TARGET != HWY_SCALAR && std::is_same_v<T, BFloat16>;

/// add_vector() for a pair of vectors of columns.
template <int Rows, int Steps, class D, class F>
HWY_INLINE void add_pair(D d, const F& factor, const BFloat16* HWY_RESTRICT b, std::int64_t b_step,
                         float* HWY_RESTRICT sums, std::int64_t sums_row) {
  const hn::RebindToUnsigned<D> du;
  const hn::Repartition<std::uint16_t, D> narrow;
  const int lanes = int(hn::Lanes(d));
  const auto upper = hn::Set(du, 0xffff0000u);
  constexpr int halves = HWY_TARGET == HWY_AVX3 || Rows <= 4 ? 2 : 1;  // whose sums fit registers
  SINTER_UNROLL
  for (int half = 0; half < 2; half += halves) {
    hn::Vec<D> sum[Rows][halves];
    SINTER_UNROLL
    for (int i = 0; i < Rows; ++i) {
      SINTER_UNROLL
      for (int h = 0; h < halves; ++h)
        sum[i][h] = hn::LoadU(d, sums + i * sums_row + (half + h) * lanes);
    }
    SINTER_UNROLL
    for (int p = 0; p < Steps; ++p) {
      const auto* at = reinterpret_cast<const std::uint16_t*>(b + p * b_step);
      const auto two = hn::BitCast(du, hn::LoadU(narrow, at));
      SINTER_UNROLL
      for (int h = 0; h < halves; ++h) {
        const auto bits = half + h == 0 ? hn::ShiftLeft<16>(two) : hn::And(two, upper);
        SINTER_UNROLL
        for (int i = 0; i < Rows; ++i)
          sum[i][h] = hn::MulAdd(factor(i, p), hn::BitCast(d, bits), sum[i][h]);
      }
    }
    SINTER_UNROLL
    for (int i = 0; i < Rows; ++i) {
      SINTER_UNROLL
      for (int h = 0; h < halves; ++h)
        hn::StoreU(sum[i][h], d, sums + i * sums_row + (half + h) * lanes);
    }
  }
}

/// Puts sums of columns of a matrix of T in the order of the columns.
template <class T, class W>
HWY_INLINE void put_in_order(int columns, W* sums) {
  if constexpr (in_pairs<T>) {
    const hn::ScalableTag<W> d;
    const int lanes = int(hn::Lanes(d));
    for (int j = 0; j + 2 * lanes <= columns; j += 2 * lanes) {
      const auto even = hn::LoadU(d, sums + j), odd = hn::LoadU(d, sums + j + lanes);
      hn::StoreInterleaved2(even, odd, d, sums + j);
    }
  }
}

/// add_vector() for all columns. Factors that fit stay in registers. With `ahead`, as many numbers are
/// asked for as are added.
template <int Rows, int Steps, class W, class T>
HWY_NOINLINE void add_steps(Factors<W> factors, const T* HWY_RESTRICT b, std::int64_t b_step,
                            int columns, W* HWY_RESTRICT sums, std::int64_t sums_row,
                            const Ahead<T>* ahead) {
  const hn::ScalableTag<W> d;
  const hn::CappedTag<W, 1> one;
  const int lanes = int(hn::Lanes(d));
  constexpr bool fit = Rows * Steps <= (HWY_TARGET == HWY_AVX3 ? 16 : 8);
  constexpr int rows = fit ? Rows : 1, steps = fit ? Steps : 1;
  hn::Vec<decltype(d)> held[rows][steps];
  for (int i = 0; i < rows; ++i)
    for (int p = 0; p < steps; ++p) held[i][p] = hn::Set(d, *factors.template at<Rows>(i, p));
  const auto factor = [&](int i, int p) HWY_ATTR {
    return fit ? held[i % rows][p % steps] : hn::Set(d, *factors.template at<Rows>(i, p));
  };
  Ahead<T> next = ahead ? *ahead : Ahead<T>(b, columns, b_step);
  int j = 0;
  if constexpr (in_pairs<T>)
    for (; j + 2 * lanes <= columns; j += 2 * lanes) {
      if (ahead) next.ask(Steps * 2 * int(hn::MaxLanes(d) * sizeof(T)));
      add_pair<Rows, Steps>(d, factor, b + j, b_step, sums + j, sums_row);
    }
  for (; j + lanes <= columns; j += lanes) {
    if (ahead) next.ask(Steps * int(hn::MaxLanes(d) * sizeof(T)));
    add_vector<Rows, Steps>(d, factor, b + j, b_step, sums + j, sums_row);
  }
  const auto single = [=](int i, int p)
                          HWY_ATTR { return hn::Set(one, *factors.template at<Rows>(i, p)); };
  for (; j < columns; ++j) add_vector<Rows, Steps>(one, single, b + j, b_step, sums + j, sums_row);
}

/// add_steps() for any number of rows.
template <int Steps, class W, class T>
HWY_INLINE void add_steps_of(int rows, Factors<W> factors, const T* b, std::int64_t b_step,
                             int columns, W* sums, std::int64_t sums_row, const Ahead<T>* ahead) {
  int i = 0;
  const auto next = [&](auto count) {
    constexpr int n = decltype(count)::value;
    add_steps<n, Steps>(factors.from(i, 0), b, b_step, columns, sums + i * sums_row, sums_row,
                        i == 0 ? ahead : nullptr);
    i += n;
  };
  while (i + 8 <= rows) next(std::integral_constant<int, 8>());
  while (i + 4 <= rows) next(std::integral_constant<int, 4>());
  while (i + 2 <= rows) next(std::integral_constant<int, 2>());
  while (i < rows) next(std::integral_constant<int, 1>());
}

/// How many rows of a matrix of this size are added at once to the sums of `rows` rows. Memory gives
/// 16 faster than 8, and they are added with half the loads of sums; where the matrix lies in a cache,
/// 8 are faster.
template <class T>
HWY_INLINE int steps_for(int rows, Matrix<const T> b) {
  const bool in_memory = std::int64_t(b.rows) * b.columns * std::int64_t(sizeof(T)) > 1 << 20;
  return HWY_TARGET == HWY_AVX3 && rows == 1 && in_memory ? 16 : 8;
}

/// sums += the product of `rows` rows of factors and `columns` columns of b, over a depth. Each sum
/// takes its terms in their order; put_in_order() then orders the sums. b is read in the order in
/// which it lies; `steps` of its rows, 8 or 16, are taken at once, so that sums are rarely read and
/// written.
template <class W, class T>
void add_all_steps(int rows, Factors<W> factors, const T* b, std::int64_t b_step, int depth,
                   int columns, int steps, W* sums, std::int64_t sums_row) {
  constexpr int far = 16;  // rows from those that are added to those that are asked for
  int p = 0;
  if (steps == 16)
    for (; p + 16 <= depth; p += 16) {
      const Ahead<T> ahead(b + (p + far) * b_step, columns, b_step);
      add_steps<1, 16>(factors.from(0, p), b + p * b_step, b_step, columns, sums, sums_row, &ahead);
    }
  for (; p + 8 <= depth; p += 8) {
    const Ahead<T> ahead(b + (p + far) * b_step, columns, b_step);
    add_steps_of<8>(rows, factors.from(0, p), b + p * b_step, b_step, columns, sums, sums_row,
                    &ahead);
  }
  for (; p < depth; ++p)
    add_steps_of<1>(rows, factors.from(0, p), b + p * b_step, b_step, columns, sums, sums_row,
                    static_cast<const Ahead<T>*>(nullptr));
}

/// sums[j] = Σ_p a[p] b[j][p] for `Columns` rows of b that lie one behind the other. Asks for as many
/// numbers from `next` on, and moves it behind them.
template <int Columns, class W, class T>
HWY_INLINE void dots(const W* HWY_RESTRICT a, const T* HWY_RESTRICT b, std::int64_t b_row,
                     int depth, const T*& next, W* sums) {
  const hn::ScalableTag<W> d;
  const hn::CappedTag<W, 1> one;
  constexpr int vectors = 4;
  const int lanes = int(hn::Lanes(d));
  hn::Vec<decltype(d)> sum[Columns];
  SINTER_UNROLL
  for (int j = 0; j < Columns; ++j) sum[j] = hn::Zero(d);
  int p = 0;
  for (; p + vectors * lanes <= depth; p += vectors * lanes) {
    ask_for(next, Columns * vectors * lanes * std::int64_t(sizeof(T)));
    next += Columns * vectors * lanes;
    SINTER_UNROLL
    for (int v = 0; v < vectors; ++v) {
      const int at = p + v * lanes;
      const auto factor = hn::LoadU(d, a + at);
      SINTER_UNROLL
      for (int j = 0; j < Columns; ++j)
        sum[j] = hn::MulAdd(factor, load(d, b + j * b_row + at), sum[j]);
    }
  }
  for (; p + lanes <= depth; p += lanes)
    for (int j = 0; j < Columns; ++j)
      sum[j] = hn::MulAdd(hn::LoadU(d, a + p), load(d, b + j * b_row + p), sum[j]);
  for (int j = 0; j < Columns; ++j) {
    auto rest = hn::Zero(one);
    for (int q = p; q < depth; ++q)
      rest = hn::MulAdd(hn::Set(one, a[q]), load(one, b + j * b_row + q), rest);
    sums[j] = reduce_sum(d, sum[j]) + hn::GetLane(rest);
  }
}

/// Calls f(how many, the first) for all columns of op(b), which are rows of b. A single row of
/// c takes one after the other, as they lie; more rows take several at once, to load these less often.
template <class F>
HWY_INLINE void for_columns(int rows, int columns, const F& f) {
  int j = 0;
  if (rows > 1)
    for (; j + 4 <= columns; j += 4) f(std::integral_constant<int, 4>(), j);
  for (; j < columns; ++j) f(std::integral_constant<int, 1>(), j);
}

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
