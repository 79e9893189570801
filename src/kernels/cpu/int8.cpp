// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/int8.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <limits>

#include "hardware/cpu/split.hpp"
#include "kernels/cpu/int8.hpp"
#include "kernels/cpu/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/int8.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/simd-inl.hpp"

#ifndef SINTER_INT8_TABLE
#define SINTER_INT8_TABLE
namespace sinter::kernel {
namespace {
/// What each instruction set provides.
struct Int8Table {
  void (*product)(const Int8Rows& x, const std::byte* tile, float* sums);
  std::int32_t (*round)(const float* x, int group, std::int8_t* to, float* scale);
  bool is_avx512;
};
}  // namespace
}  // namespace sinter::kernel
#endif

HWY_BEFORE_NAMESPACE();
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

using Whole = hn::CappedTag<std::int32_t, int8_tile>;

/// Adds to each lane the sum of the two products of its halves, of 16 bits.
template <class V>
HWY_INLINE V add_halves(V sum, V a, V b) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  const Whole d;
  const hn::Repartition<std::int16_t, Whole> d16;
  auto unused = hn::Zero(d);
  return hn::ReorderWidenMulAccumulate(d, hn::BitCast(d16, a), hn::BitCast(d16, b), sum, unused);
#else
  const auto low = [&](V x) { return hn::ShiftRight<16>(hn::ShiftLeft<16>(x)); };
  const auto products = hn::Mul(low(a), low(b));
  return hn::Add(sum, hn::Add(products, hn::Mul(hn::ShiftRight<16>(a), hn::ShiftRight<16>(b))));
#endif
}

/// Two numbers as the halves of a lane.
HWY_INLINE std::int32_t halves(std::int8_t low, std::int8_t high) {
  return std::int32_t(std::uint16_t(low) | std::uint32_t(std::uint16_t(high)) << 16);
}

/// Products of `Rows` rows from `row` on with a tile.
template <int Rows>
HWY_INLINE void multiply(const Int8Rows& x, int row, const std::byte* tile, float* sums) {
  const Whole d;
  const hn::Rebind<float, Whole> df;
  constexpr int lanes = int(hn::MaxLanes(d)), vectors = int8_tile / lanes;
  const auto bytes = hn::Set(d, 0x00ff00ff);
  const int groups = x.groups();
  hn::Vec<decltype(df)> sum[Rows][vectors];
  for (auto& vector : sum)
    for (auto& one : vector) one = hn::Zero(df);
  for (int g = 0; g < groups; ++g) {
    const auto* const scales = reinterpret_cast<const Float16*>(tile);
    const auto* weights = reinterpret_cast<const std::int32_t*>(tile + 2 * int8_tile);
    hn::Vec<Whole> whole[Rows][vectors];
    for (int i = 0; i < Rows; ++i)
      for (auto& one : whole[i]) one = hn::Set(d, -x.offsets[std::int64_t(row + i) * groups + g]);
    for (int k = 0; k < x.group; k += 4, weights += int8_tile)
      for (int i = 0; i < Rows; ++i) {
        const std::int8_t* const four =
            x.values + std::int64_t(row + i) * x.columns + g * x.group + k;
        const auto even = hn::Set(d, halves(four[0], four[2]));
        const auto odd = hn::Set(d, halves(four[1], four[3]));
        for (int v = 0; v < vectors; ++v) {
          const auto w = hn::LoadU(d, weights + v * lanes);
          whole[i][v] = add_halves(whole[i][v], hn::And(w, bytes), even);
          whole[i][v] = add_halves(whole[i][v], hn::And(hn::ShiftRight<8>(w), bytes), odd);
        }
      }
    for (int i = 0; i < Rows; ++i) {
      const auto scale = hn::Set(df, x.scales[std::int64_t(row + i) * groups + g]);
      for (int v = 0; v < vectors; ++v)
        sum[i][v] = hn::MulAdd(hn::ConvertTo(df, whole[i][v]),
                               hn::Mul(load(df, scales + v * lanes), scale), sum[i][v]);
    }
    tile += std::int64_t(int8_tile) * (x.group + 2);
  }
  for (int i = 0; i < Rows; ++i)
    for (int v = 0; v < vectors; ++v)
      hn::StoreU(sum[i][v], df, sums + std::int64_t(row + i) * int8_tile + v * lanes);
}

void tile_product(const Int8Rows& x, const std::byte* tile, float* sums) {
  int row = 0;
  for (; row + 2 <= x.rows; row += 2) multiply<2>(x, row, tile, sums);
  if (row < x.rows) multiply<1>(x, row, tile, sums);
}

/// Rounds a group of x to multiples of its largest magnitude / 127. Returns the sum of what it writes.
std::int32_t round_group(const float* x, int group, std::int8_t* to, float* scale) {
  const hn::CappedTag<float, int8_tile> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::Rebind<std::int8_t, decltype(d)> d8;
  const int lanes = int(hn::Lanes(d));
  auto most = hn::Zero(d), zero = hn::Zero(d);
  for (int k = 0; k < group; k += lanes) {
    const auto v = hn::LoadU(d, x + k);
    most = hn::Max(most, hn::Abs(v));
    zero = hn::Add(zero, hn::Mul(v, hn::Zero(d)));  // NaN where a number is not finite
  }
  *scale = reduce_max(d, most) / 127 + reduce_sum(d, zero);
  if (!(*scale >= std::numeric_limits<float>::min())) {  // zeros, or a number that is not finite
    std::fill_n(to, group, std::int8_t(0));
    if (*scale >= 0) *scale = 0;
    return 0;
  }
  const auto inverse = hn::Set(d, 1 / *scale);
  auto sum = hn::Zero(di);
  for (int k = 0; k < group; k += lanes) {
    const auto v = hn::Mul(hn::LoadU(d, x + k), inverse);
    const auto number = hn::ConvertTo(di, hn::Add(v, hn::CopySign(hn::Set(d, 0.5f), v)));
    hn::StoreU(hn::DemoteTo(d8, number), d8, to + k);
    sum = hn::Add(sum, number);
  }
  return hn::GetLane(hn::SumOfLanes(di, sum));
}

Int8Table table() { return {tile_product, round_group, HWY_TARGET == HWY_AVX3}; }

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::kernel {
namespace {

HWY_EXPORT(table);

/// Rows of x in int8, in scratch.
template <class T>
Int8Rows rounded(Stream& stream, Input<T> x, int group, std::byte* scratch) {
  const int groups = x.columns / group;
  auto* const scales = reinterpret_cast<float*>(scratch);
  auto* const offsets = reinterpret_cast<std::int32_t*>(scales + std::int64_t(x.rows) * groups);
  auto* const values = reinterpret_cast<std::int8_t*>(offsets + std::int64_t(x.rows) * groups);
  split(stream, x.rows, x.columns * 4, 1, [&](std::int64_t begin, std::int64_t end) {
    const auto round = HWY_DYNAMIC_DISPATCH(table)().round;
    for (std::int64_t k = begin * groups; k < end * groups; ++k) {
      float wide[128];
      std::copy_n(x.data + k * group, group, wide);
      offsets[k] = 128 * round(wide, group, values + k * group, scales + k);
    }
  });
  return {values, scales, offsets, x.rows, x.columns, group};
}

constexpr int rows_at_once = 32;  // their sums are on the stack

/// Writes the sums of a tile to columns from `column` on, in rows from `first` on.
template <class T, class Y>
void put_tile(const float* sums, int rows, Tensor<const T> bias, int column, int first,
              Tensor<Y> y) {
  const int columns = std::min(int8_tile, y.columns - column);
  for (int r = 0; r < rows; ++r, sums += int8_tile) {
    Y* const to = y.data + std::int64_t(first + r) * y.columns + column;
    for (int c = 0; c < columns; ++c)
      to[c] = Y(bias ? sums[c] + float(bias.data[column + c]) : sums[c]);
  }
}

/// Writes group g of the tile whose first row is `row` to its place in y.
template <class T>
void put_group(const Int8Matrix<const std::byte>& w, int row, int g, Tensor<T> y) {
  const std::byte* const at = w.at(row, g);
  const auto* const scales = reinterpret_cast<const Float16*>(at);
  const auto* const numbers = reinterpret_cast<const std::uint8_t*>(at + 2 * int8_tile);
  const int rows = std::min(int8_tile, w.rows - row);
  for (int r = 0; r < rows; ++r) {
    const float scale = float(scales[r]);
    T* const to = y.data + std::int64_t(row + r) * y.columns + std::int64_t(g) * w.group;
    for (int k = 0; k < w.group; k += 4)
      for (int i = 0; i < 4; ++i)
        to[k + i] = T(scale * float(int(numbers[k * int8_tile + r * 4 + i]) - 128));
  }
}

}  // namespace

void int8_tile_product(const Int8Rows& x, const std::byte* tile, float* sums) {
  HWY_DYNAMIC_DISPATCH(table)().product(x, tile, sums);
}

template <class T, class Y>
void int8_matmul(Stream& stream, Input<T> x, Int8Matrix<const std::byte> w, Input<T> bias,
                 Tensor<Y> y, std::byte* scratch) {
  assert(x.columns == w.columns && y.columns == w.rows && x.rows == y.rows);
  if (x.rows == 0) return;
  const Int8Rows rows = rounded<T>(stream, x, w.group, scratch);
  const Int8Table& best = HWY_DYNAMIC_DISPATCH(table)();
  const auto product = best.is_avx512 && has_int8_dot() ? int8_tile_product_by_dot : best.product;
  const int tiles = (w.rows + int8_tile - 1) / int8_tile;
  split(stream, tiles, std::int64_t(x.rows) * x.columns * int8_tile / 8, 1,
        [&](std::int64_t begin, std::int64_t end) {
          for (int t = int(begin); t < int(end); ++t)
            for (int first = 0; first < x.rows; first += rows_at_once) {
              alignas(64) float sums[rows_at_once * int8_tile];
              const Int8Rows part = rows.from(first, rows_at_once);
              product(part, w.at(t * int8_tile, 0), sums);
              put_tile(sums, part.rows, bias, t * int8_tile, first, y);
            }
        });
}

template <class T>
void int8_values(Stream& stream, Int8Matrix<const std::byte> w, Tensor<T> y) {
  assert(y.rows == w.rows && y.columns == w.columns);
  const int tiles = (w.rows + int8_tile - 1) / int8_tile;
  split(stream, tiles, std::int64_t(w.columns) * int8_tile, 1,
        [&](std::int64_t begin, std::int64_t end) {
          for (int t = int(begin); t < int(end); ++t)
            for (int g = 0; g < w.groups(); ++g) put_group(w, t * int8_tile, g, y);
        });
}

template <class T>
void int8_embedding(Stream& stream, Input<std::int32_t> ids, Int8Matrix<const std::byte> w,
                    Tensor<T> y) {
  split(stream, y.rows, y.columns, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r)
      for (int c = 0; c < y.columns; ++c)
        y.data[r * y.columns + c] = T(int8_value(w, ids.data[r], c));
  });
}

#define SINTER_INSTANTIATE_PRODUCT(T, Y)                                                 \
  template void int8_matmul<T>(Stream&, Input<T>, Int8Matrix<const std::byte>, Input<T>, \
                               Tensor<Y>, std::byte*);
#define SINTER_INSTANTIATE(T)                                                             \
  SINTER_INSTANTIATE_PRODUCT(T, T)                                                        \
  template void int8_values(Stream&, Int8Matrix<const std::byte>, Tensor<T>);             \
  template void int8_embedding(Stream&, Input<std::int32_t>, Int8Matrix<const std::byte>, \
                               Tensor<T>);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
SINTER_INSTANTIATE_PRODUCT(BFloat16, float)
SINTER_INSTANTIATE_PRODUCT(Float16, float)
#undef SINTER_INSTANTIATE
#undef SINTER_INSTANTIATE_PRODUCT

}  // namespace sinter::kernel
#endif  // HWY_ONCE
