// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/adamw8bit.hpp"

#include <bit>

#include "hardware/cuda/maxima.hpp"
#include "kernels/cuda/each_element.hpp"
#include "kernels/dynamic_map.hpp"
#include "kernels/optimizer_step.hpp"

namespace sinter::kernel {
namespace {

constexpr int block = adamw8bit_block, zero = 127;  // of the map that has signs

/// The maps' numbers, as bits: a graph compares what a kernel is given.
struct Maps {
  std::uint32_t with_sign[256], without[256];
};

/// What a block of threads shares.
struct Shared {
  float with_sign[256], without[256], room[block / warp];
};

/// The place among ascending magnitudes, of which the first is 0, of the one that is nearest to x.
__device__ int nearest(float x, const float* magnitudes, int count) {
  int place = 0;
  for (int step = 128; step > 0; step /= 2) {
    const int next = place + step;
    if (next < count && x > (magnitudes[next - 1] + magnitudes[next]) / 2) place = next;
  }
  return place;
}

/// The byte of a number in [-1, 1]. -1 is not among the map's numbers; a sign is kept.
__device__ std::uint8_t signed_byte(float x, const float* map) {
  const int place = nearest(fabsf(x), map + zero, 256 - zero);
  if (!(x < 0)) return std::uint8_t(zero + place);
  return std::uint8_t(zero - (place < 1 ? 1 : place > zero ? zero : place));
}

/// A block of threads has a block of elements.
template <class C>
__global__ void step_blocks(float* master, const float* gradient, Adamw8bitMoments moments, C* copy,
                            std::int64_t n, Maps maps, Argument<AdamStep<AdamWOptions>> argument) {
  const auto& step = *argument;
  const AdamWOptions& o = step.options;
  Shared& shared = *shared_memory<Shared>();
  const int me = int(threadIdx.x);
  shared.with_sign[me] = std::bit_cast<float>(maps.with_sign[me]);
  shared.without[me] = std::bit_cast<float>(maps.without[me]);
  __syncthreads();
  const std::int64_t b = blockIdx.x, i = b * block + me;
  float m = 0, v = 0;
  if (i < n) {
    const float g = gradient[i] * float(step.decision ? step.decision->scale : 1);
    const float rest = float(step.rest2) * g * g;
    v = fused(shared.without[moments.square[i]] * moments.square_scale[b], float(o.beta2), rest);
    m = fused(shared.with_sign[moments.mean[i]] * moments.mean_scale[b], float(o.beta1),
              float(step.rest1) * g);
    const float change = m / (sqrtf(v) + float(step.deviation * o.eps));
    float p = fused(float(-step.lr * step.deviation / step.correction1), change, master[i]);
    p *= float(step.decay);
    master[i] = p;
    if (copy) copy[i] = C(p);
  }
  // After these barriers no thread reads the scales any more.
  const float max_m = block_max(fabsf(m), shared.room), max_v = block_max(v, shared.room);
  if (i < n) {
    moments.mean[i] = signed_byte(m / (max_m > 0 ? max_m : 1), shared.with_sign);
    moments.square[i] = std::uint8_t(nearest(v / (max_v > 0 ? max_v : 1), shared.without, 256));
  }
  if (me > 0) return;
  moments.mean_scale[b] = max_m;
  moments.square_scale[b] = max_v;
}

Maps maps_as_bits() {
  Maps maps;
  for (std::size_t i = 0; i < 256; ++i) {
    maps.with_sign[i] = std::bit_cast<std::uint32_t>(signed_dynamic_map()[i]);
    maps.without[i] = std::bit_cast<std::uint32_t>(unsigned_dynamic_map()[i]);
  }
  return maps;
}

}  // namespace

const std::array<float, 256>& signed_dynamic_map() {
  static const std::array<float, 256> map = dynamic_map(true);
  return map;
}
const std::array<float, 256>& unsigned_dynamic_map() {
  static const std::array<float, 256> map = dynamic_map(false);
  return map;
}

template <class M, class G, class S, class C>
void adamw8bit(const AdamWOptions& options, const ParameterSpan<M, G, S, C>& span,
               const Adamw8bitMoments& moments) {
  static const Maps maps = maps_as_bits();
  const AdamStep<AdamWOptions> step(options, span);
  launch(span.stream, {unsigned(adamw8bit_scales(span.size)), block, int(sizeof(Shared))},
         step_blocks<C>, span.master, span.gradient, moments, span.copy, span.size, maps,
         span.stream.device().argument(step));
}

#define SINTER_INSTANTIATE(C)                                                                \
  template void adamw8bit(const AdamWOptions&, const ParameterSpan<float, float, float, C>&, \
                          const Adamw8bitMoments&);
SINTER_INSTANTIATE(float)
SINTER_INSTANTIATE(BFloat16)
SINTER_INSTANTIATE(Float16)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
