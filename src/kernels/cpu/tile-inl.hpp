// SPDX-License-Identifier: Apache-2.0
// Small matrix products held in registers, compiled once for each instruction set: include after
// hwy/foreach_target.h.
#include <hwy/highway.h>

#include "kernels/cpu/simd-inl.hpp"

#if defined(SINTER_TILE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SINTER_TILE_INL
#undef SINTER_TILE_INL
#else
#define SINTER_TILE_INL
#endif

#ifndef SINTER_UNROLL
#ifdef __clang__
#define SINTER_UNROLL _Pragma("clang loop unroll(full)")
#else
#define SINTER_UNROLL _Pragma("GCC unroll 16")
#endif
#endif

HWY_BEFORE_NAMESPACE();
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

/// Rows of a tile. With two vectors of columns, the sums, the columns and one factor then fill the
/// registers well.
constexpr int tile_rows = HWY_TARGET == HWY_AVX3 ? 8 : 6;

/// A matrix whose element (i, p) is data[i row + p step].
template <class T>
struct Strided {
  const T* data;
  std::int64_t row, step;

  Strided from(int i, int p) const { return {data + i * row + p * step, row, step}; }
};

/// sum[i][v] += Σ_p a(i, p) b[p][v], p < depth; rows of b are `b_step` apart.
template <int Rows, int Vectors, class D, class T = Element_of<D>>
HWY_INLINE void multiply_tile(D d, Strided<T> a, const T* HWY_RESTRICT b, std::int64_t b_step,
                              int depth, hn::Vec<D> (&sum)[Rows][Vectors]) {
  const int lanes = int(hn::Lanes(d));
  for (int p = 0; p < depth; ++p) {
    hn::Vec<D> column[Vectors];
    SINTER_UNROLL
    for (int v = 0; v < Vectors; ++v) column[v] = hn::LoadU(d, b + p * b_step + v * lanes);
    SINTER_UNROLL
    for (int i = 0; i < Rows; ++i) {
      auto factor = hn::Set(d, a.data[i * a.row + p * a.step]);
      SINTER_UNROLL
      for (int v = 0; v < Vectors; ++v) sum[i][v] = hn::MulAdd(factor, column[v], sum[i][v]);
    }
  }
}

/// What a product does with c.
enum class Into {
  assign,         ///< c = ab
  add,            ///< c = ab + other
  scale_and_add,  ///< c = c * other + ab, other the same for all rows
};

template <Into into, int Rows, int Vectors, class D, class T = Element_of<D>>
HWY_INLINE void multiply_rows(D d, Strided<T> a, const T* HWY_RESTRICT b, std::int64_t b_step,
                              int depth, T* c, std::int64_t c_row, const T* other = nullptr,
                              std::int64_t other_row = 0) {
  const int lanes = int(hn::Lanes(d));
  hn::Vec<D> sum[Rows][Vectors];
  SINTER_UNROLL
  for (int i = 0; i < Rows; ++i) {
    SINTER_UNROLL
    for (int v = 0; v < Vectors; ++v) {
      if (into == Into::scale_and_add) {
        sum[i][v] =
            hn::Mul(hn::LoadU(d, c + i * c_row + v * lanes), hn::LoadU(d, other + v * lanes));
      } else {
        sum[i][v] = hn::Zero(d);
      }
    }
  }
  multiply_tile<Rows, Vectors>(d, a, b, b_step, depth, sum);
  SINTER_UNROLL
  for (int i = 0; i < Rows; ++i) {
    SINTER_UNROLL
    for (int v = 0; v < Vectors; ++v) {
      if (into == Into::add)
        sum[i][v] = hn::Add(hn::LoadU(d, other + i * other_row + v * lanes), sum[i][v]);
      hn::StoreU(sum[i][v], d, c + i * c_row + v * lanes);
    }
  }
}

/// The product of `rows` rows and `Vectors` vectors of columns. Into::add adds to c itself.
template <Into into, int Vectors, class D, class T = Element_of<D>>
HWY_NOINLINE void multiply(D d, int rows, Strided<T> a, const T* b, std::int64_t b_step, int depth,
                           T* c, std::int64_t c_row, const T* factors = nullptr) {
  const T* other = into == Into::add ? c : factors;
  const std::int64_t other_row = into == Into::add ? c_row : 0;
  int i = 0;
  for (; i + tile_rows <= rows; i += tile_rows)
    multiply_rows<into, tile_rows, Vectors>(d, a.from(i, 0), b, b_step, depth, c + i * c_row, c_row,
                                            other + i * other_row, other_row);
  for (; i + 2 <= rows; i += 2)
    multiply_rows<into, 2, Vectors>(d, a.from(i, 0), b, b_step, depth, c + i * c_row, c_row,
                                    other + i * other_row, other_row);
  for (; i < rows; ++i)
    multiply_rows<into, 1, Vectors>(d, a.from(i, 0), b, b_step, depth, c + i * c_row, c_row,
                                    other + i * other_row, other_row);
}

/// How many squares of 128 bits a vector holds beside each other, of two at most.
template <class W>
constexpr int squares_at_once =
    hn::MaxLanes(hn::ScalableTag<W>()) * sizeof(W) >= 32 && HWY_TARGET != HWY_SCALAR ? 2 : 1;

/// Transposes `Squares` squares that lie one below the other, whose rows are 128 bits of W:
/// to[j][i] = factor * from[i][j].
template <int Squares, class From, class W, class To>
HWY_INLINE void transpose_squares(const From* HWY_RESTRICT from, std::int64_t from_row, W factor,
                                  To* HWY_RESTRICT to, std::int64_t to_row) {
  constexpr int n = 16 / sizeof(W);
#if HWY_TARGET == HWY_SCALAR
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) to[j * to_row + i] = To(factor * from[i * from_row + j]);
#else
  const hn::FixedTag<W, n> square;
  const hn::FixedTag<W, n * Squares> d;
  const auto row = [=](int r) HWY_ATTR {
    const From* const at = from + r * from_row;
    if constexpr (Squares == 1) {
      return hn::Mul(load(d, at), hn::Set(d, factor));
    } else {
      return hn::Mul(hn::Combine(d, load(square, at + n * from_row), load(square, at)),
                     hn::Set(d, factor));
    }
  };
  const auto a = row(0), b = row(1);
  if constexpr (sizeof(W) == 8) {
    store(hn::InterleaveLower(d, a, b), d, to);
    store(hn::InterleaveUpper(d, a, b), d, to + to_row);
  } else {
    const hn::Repartition<double, decltype(d)> pairs;
    auto wide = [=](auto v) HWY_ATTR { return hn::BitCast(pairs, v); };
    auto narrow = [=](auto v) HWY_ATTR { return hn::BitCast(d, v); };
    const auto c = row(2), e = row(3);
    const auto ab = wide(hn::InterleaveLower(d, a, b)), ab2 = wide(hn::InterleaveUpper(d, a, b));
    const auto ce = wide(hn::InterleaveLower(d, c, e)), ce2 = wide(hn::InterleaveUpper(d, c, e));
    store(narrow(hn::InterleaveLower(pairs, ab, ce)), d, to);
    store(narrow(hn::InterleaveUpper(pairs, ab, ce)), d, to + to_row);
    store(narrow(hn::InterleaveLower(pairs, ab2, ce2)), d, to + 2 * to_row);
    store(narrow(hn::InterleaveUpper(pairs, ab2, ce2)), d, to + 3 * to_row);
  }
#endif
}

/// to[j][i] = factor * from[i][j] for i < rows, j < columns.
template <class From, class W, class To>
HWY_INLINE void transpose(const From* from, std::int64_t from_row, int rows, int columns, W factor,
                          To* to, std::int64_t to_row) {
  constexpr int n = 16 / sizeof(W), most = n * squares_at_once<W>;
  for (int i = 0, height; i < rows; i += height) {
    height = rows - i >= most ? most : rows - i < n ? rows - i : n;
    const auto squares = [&](auto count) HWY_ATTR {
      int j = 0;
      for (; j + n <= columns; j += n)
        transpose_squares<decltype(count)::value>(from + i * from_row + j, from_row, factor,
                                                  to + j * to_row + i, to_row);
      return j;
    };
    int j = 0;
    if (height == most) {
      j = squares(std::integral_constant<int, most / n>());
    } else if (height == n) {
      j = squares(std::integral_constant<int, 1>());
    }
    for (; j < columns; ++j)
      for (int r = i; r < i + height; ++r) to[j * to_row + r] = To(factor * from[r * from_row + j]);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
