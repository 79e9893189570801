// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/adamw8bit.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "hardware/cpu/split.hpp"
#include "kernels/cpu/targets.hpp"
#include "kernels/dynamic_map.hpp"
#include "kernels/optimizer_step.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/adamw8bit.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/simd-inl.hpp"

#ifndef SINTER_ADAMW8BIT_TABLE
#define SINTER_ADAMW8BIT_TABLE
namespace sinter::kernel {
namespace {

constexpr int block = adamw8bit_block;

/// Magnitudes are looked up by the upper half of a float in [0, 1]; below 2⁻²⁴ all are the first.
constexpr int min_key = (127 - 24) << 7, buckets = (127 << 7) - min_key + 1;

/// Finds the nearest of ascending magnitudes. The distances are such that a bucket, 1/128 of a
/// power of two, has at most one border between nearest neighbours.
struct Nearest {
  std::int32_t first[buckets];  // borders below the bucket
  float borders[256];           // and infinity
};

struct Constants {
  float scale, beta1, rest1, beta2, rest2, eps, rate, decay;
};

/// What a block is made of; count ≤ block.
template <class C>
struct Block {
  float* master;
  const float* gradient;
  std::uint8_t *mean, *square;
  float *mean_scale, *square_scale;
  C* copy;
  int count;
};

struct Maps {
  std::array<float, 256> with_sign, without;
  Nearest nearest_mean, nearest_square;
};

/// What each instruction set provides.
template <class C>
struct Adamw8bitTable {
  void (*step)(const Block<C>&, const Constants&, const Maps&);
};

}  // namespace
}  // namespace sinter::kernel
#endif

HWY_BEFORE_NAMESPACE();
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

using Tag = hn::ScalableTag<float>;
using Vector = hn::Vec<Tag>;

/// The numbers of `count` bytes; zeros up to the block's end.
void dequantize(const std::uint8_t* codes, int count, float scale, const float* map, float* to) {
  const Tag d;
  const hn::RebindToSigned<Tag> di;
  const hn::Rebind<std::uint8_t, Tag> bytes;
  std::uint8_t all[block] = {};
  std::memcpy(all, codes, std::size_t(count));
  for (int i = 0; i < block; i += int(hn::Lanes(d))) {
    const auto at = hn::PromoteTo(di, hn::LoadU(bytes, all + i));
    hn::Store(hn::Mul(hn::GatherIndex(d, map, at), hn::Set(d, scale)), d, to + i);
  }
}

float largest_magnitude(const float* x) {
  const Tag d;
  auto most = hn::Zero(d);
  for (int i = 0; i < block; i += int(hn::Lanes(d)))
    most = hn::Max(most, hn::Abs(hn::Load(d, x + i)));
  return reduce_max(d, most);
}

/// The places of magnitudes in [0, 1].
HWY_INLINE hn::Vec<hn::RebindToSigned<Tag>> nearest(Vector x, const Nearest& of) {
  const Tag d;
  const hn::RebindToSigned<Tag> di;
  const auto key = hn::Sub(hn::ShiftRight<16>(hn::BitCast(di, x)), hn::Set(di, min_key));
  const auto bucket = hn::Min(hn::Max(key, hn::Zero(di)), hn::Set(di, buckets - 1));
  const auto place = hn::GatherIndex(di, of.first, bucket);
  const auto above = hn::RebindMask(di, hn::Gt(x, hn::GatherIndex(d, of.borders, place)));
  return hn::IfThenElse(above, hn::Add(place, hn::Set(di, 1)), place);
}

/// Returns the scale.
template <bool Signed>
float quantize(const float* x, const Nearest& of, std::uint8_t* codes, int count) {
  const Tag d;
  const hn::RebindToSigned<Tag> di;
  const hn::Rebind<std::uint8_t, Tag> bytes;
  const float scale = largest_magnitude(x);
  const auto divisor = hn::Set(d, scale > 0 ? scale : 1);
  std::uint8_t all[block];
  for (int i = 0; i < block; i += int(hn::Lanes(d))) {
    const auto ratio = hn::Div(hn::Load(d, x + i), divisor);
    auto place = nearest(hn::Abs(ratio), of);
    if (Signed) {  // -1 is not among the numbers; a sign is kept
      const auto negative = hn::RebindMask(di, hn::Lt(ratio, hn::Zero(d)));
      const auto zero = hn::Set(di, 127);
      const auto down = hn::Sub(zero, hn::Min(hn::Max(place, hn::Set(di, 1)), zero));
      place = hn::IfThenElse(negative, down, hn::Add(zero, place));
    }
    hn::StoreU(hn::DemoteTo(bytes, place), bytes, all + i);
  }
  std::memcpy(codes, all, std::size_t(count));
  return scale;
}

template <class C>
void step(const Block<C>& b, const Constants& c, const Maps& maps) {
  HWY_ALIGN float mean[block];
  HWY_ALIGN float square[block];
  dequantize(b.mean, b.count, *b.mean_scale, maps.with_sign.data(), mean);
  dequantize(b.square, b.count, *b.square_scale, maps.without.data(), square);
  for_each<float>(b.count, [&](auto d, std::int64_t i) HWY_ATTR {
    const auto g = hn::Mul(load(d, b.gradient + i), hn::Set(d, c.scale));
    const auto rest = hn::Mul(hn::Mul(hn::Set(d, c.rest2), g), g);
    const auto v = hn::MulAdd(load(d, square + i), hn::Set(d, c.beta2), rest);
    const auto m =
        hn::MulAdd(load(d, mean + i), hn::Set(d, c.beta1), hn::Mul(hn::Set(d, c.rest1), g));
    const auto change = hn::Div(m, hn::Add(hn::Sqrt(v), hn::Set(d, c.eps)));
    auto p = hn::MulAdd(hn::Set(d, c.rate), change, load(d, b.master + i));
    p = hn::Mul(p, hn::Set(d, c.decay));
    store(m, d, mean + i);
    store(v, d, square + i);
    store(p, d, b.master + i);
    if (b.copy) store(p, d, b.copy + i);
  });
  std::fill(mean + b.count, mean + block, 0.0f);
  std::fill(square + b.count, square + block, 0.0f);
  *b.mean_scale = quantize<true>(mean, maps.nearest_mean, b.mean, b.count);
  *b.square_scale = quantize<false>(square, maps.nearest_square, b.square, b.count);
}

template <class C>
Adamw8bitTable<C> make_table() {
  return {step<C>};
}
SINTER_COPY_TABLES(Adamw8bitTable)

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::kernel {
namespace {

SINTER_COPY_DISPATCH(Adamw8bitTable)

/// magnitudes: n of them, ascending, the first 0.
Nearest make_nearest(const float* magnitudes, int n) {
  Nearest result;
  std::fill_n(result.borders, 256, std::numeric_limits<float>::infinity());
  for (int i = 0; i + 1 < n; ++i) result.borders[i] = (magnitudes[i] + magnitudes[i + 1]) / 2;
  for (int b = 0, place = 0; b < buckets; ++b) {
    const float begin = std::bit_cast<float>(std::uint32_t(b + min_key) << 16);
    while (b > 0 && result.borders[place] < begin) ++place;
    result.first[b] = place;
  }
  return result;
}

const Maps& maps() {
  static const Maps all = [] {
    Maps m{dynamic_map(true), dynamic_map(false), {}, {}};
    m.nearest_mean = make_nearest(m.with_sign.data() + 127, 129);
    m.nearest_square = make_nearest(m.without.data(), 256);
    return m;
  }();
  return all;
}

Constants constants_of(const AdamStep<AdamWOptions>& step) {
  const AdamWOptions& o = step.options;
  return {.scale = float(step.decision ? step.decision->scale : 1),
          .beta1 = float(o.beta1),
          .rest1 = float(step.rest1),
          .beta2 = float(o.beta2),
          .rest2 = float(step.rest2),
          .eps = float(step.deviation * o.eps),
          .rate = float(-step.lr * step.deviation / step.correction1),
          .decay = float(step.decay)};
}

}  // namespace

const std::array<float, 256>& signed_dynamic_map() { return maps().with_sign; }
const std::array<float, 256>& unsigned_dynamic_map() { return maps().without; }

template <class M, class G, class S, class C>
void adamw8bit(const AdamWOptions& options, const ParameterSpan<M, G, S, C>& span,
               const Adamw8bitMoments& to) {
  const auto kernel = table<C>().step;
  const Constants constants = constants_of({options, span});
  const Maps& all = maps();
  const std::int64_t n = span.size;
  split(span.stream, adamw8bit_scales(n), block, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t b = first; b < last; ++b) {
      const std::int64_t at = b * block;
      kernel({span.master + at, span.gradient + at, to.mean + at, to.square + at, to.mean_scale + b,
              to.square_scale + b, span.copy ? span.copy + at : nullptr,
              int(std::min<std::int64_t>(n - at, block))},
             constants, all);
    }
  });
}

#define SINTER_INSTANTIATE(C)                                                                \
  template void adamw8bit(const AdamWOptions&, const ParameterSpan<float, float, float, C>&, \
                          const Adamw8bitMoments&);
SINTER_INSTANTIATE(float)
SINTER_INSTANTIATE(BFloat16)
SINTER_INSTANTIATE(Float16)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
#endif  // HWY_ONCE
