// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/random.hpp"

#include <algorithm>

#include "hardware/cpu/split.hpp"
#include "kernels/cpu/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/random.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/random-inl.hpp"

#include <hwy/contrib/math/math-inl.h>

#ifndef SINTER_RANDOM_TABLE
#define SINTER_RANDOM_TABLE
namespace sinter::kernel {
namespace {

/// Values that share a key. Value i of a block comes from its counter i / 2.
constexpr int block_size = 1 << 16;

/// What each instruction set provides: the first n values of a block.
template <class T>
struct RandomTable {
  void (*normal)(T* data, int n, double mean, double deviation, std::uint64_t block_key);
};

}  // namespace
}  // namespace sinter::kernel
#endif

HWY_BEFORE_NAMESPACE();
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

/// Box and Muller: √(-2 ln u) times cosine and sine of an angle, u and the angle from 31 and 32
/// random bits.
template <class T>
void normal(T* data, int n, double mean, double deviation, std::uint64_t key) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<std::uint32_t, decltype(d)> du;
  const hn::Rebind<std::int32_t, decltype(d)> di;
  const int lanes = int(hn::Lanes(d));
  const auto low = hn::Set(du, std::uint32_t(key)), high = hn::Set(du, std::uint32_t(key >> 32));
  const auto flip = hn::Set(du, 0x9e3779b9u);  // the second number of a pair has another key
  alignas(64) double even[hn::MaxLanes(d)], odd[hn::MaxLanes(d)];
  for (int pair = 0; 2 * pair < n; pair += lanes) {
    auto counter = hn::Iota(du, std::uint32_t(pair));
    auto first = hn::ShiftRight<1>(random_bits(du, low, high, counter));
    auto second = random_bits(du, hn::Xor(low, flip), hn::Xor(high, flip), counter);
    auto u = hn::Mul(hn::Add(hn::PromoteTo(d, hn::BitCast(di, first)), hn::Set(d, 0.5)),
                     hn::Set(d, 0x1p-31));
    auto angle = hn::Mul(hn::PromoteTo(d, hn::BitCast(di, second)),
                         hn::Set(d, 6.28318530717958647692 * 0x1p-32));
    auto radius =
        hn::Mul(hn::Sqrt(hn::Mul(hn::Log(d, u), hn::Set(d, -2.0))), hn::Set(d, deviation));
    hn::Store(hn::MulAdd(radius, hn::Cos(d, angle), hn::Set(d, mean)), d, even);
    hn::Store(hn::MulAdd(radius, hn::Sin(d, angle), hn::Set(d, mean)), d, odd);
    const int count = n - 2 * pair < 2 * lanes ? n - 2 * pair : 2 * lanes;
    for (int i = 0; i < count; ++i) data[2 * pair + i] = T(i % 2 ? odd[i / 2] : even[i / 2]);
  }
}

template <class T>
RandomTable<T> make_table() {
  return {normal<T>};
}
SINTER_TABLES(RandomTable)

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::kernel {
namespace {

SINTER_DISPATCH(RandomTable)

template <class T>
void fill_blocks(T* data, std::int64_t n, double mean, double deviation, std::uint64_t key,
                 std::int64_t first, std::int64_t last) {
  auto kernel = table<T>().normal;
  for (auto block = first; block < last; ++block) {
    auto at = block * block_size;
    kernel(data + at, int(std::min<std::int64_t>(n - at, block_size)), mean, deviation,
           mix(key ^ mix(std::uint64_t(block))));
  }
}

std::int64_t blocks_in(std::int64_t n) { return (n + block_size - 1) / block_size; }

}  // namespace

template <class T>
void fill_normal(T* data, std::int64_t n, double mean, double deviation, std::uint64_t key) {
  fill_blocks(data, n, mean, deviation, key, 0, blocks_in(n));
}

template <class T>
void fill_normal(Stream& stream, T* data, std::int64_t n, double mean, double deviation,
                 std::uint64_t key) {
  split(stream, blocks_in(n), block_size, 1,
        [&](auto first, auto last) { fill_blocks(data, n, mean, deviation, key, first, last); });
}

#define SINTER_INSTANTIATE(T)                                                 \
  template void fill_normal(T*, std::int64_t, double, double, std::uint64_t); \
  template void fill_normal(Stream&, T*, std::int64_t, double, double, std::uint64_t);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
#endif  // HWY_ONCE
