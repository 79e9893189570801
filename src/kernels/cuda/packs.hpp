// SPDX-License-Identifier: Apache-2.0
// Elements that lie side by side, which a thread reads or writes at once: a card moves narrow elements one
// by one at a fraction of what its memory can do.
#pragma once
#include "kernels/cuda/each_element.hpp"

namespace sinter::kernel {

/// N elements, at a multiple of their size, or of 16 bytes where that is less.
template <class T, int N>
struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) Pack {
  T x[N];
};

template <int N, class T>
__device__ __forceinline__ Pack<T, N> load_pack(const T* at) {
  return *reinterpret_cast<const Pack<T, N>*>(at);
}
template <int N, class T>
__device__ __forceinline__ void store_pack(T* at, const Pack<T, N>& pack) {
  *reinterpret_cast<Pack<T, N>*>(at) = pack;
}

/// Elements of a pack that takes 16 bytes of the narrowest of some types.
template <class... T>
inline constexpr int pack_size = 16 / int(std::min({sizeof(T)...}));

/// True if packs of any size may begin at all these places.
template <class... T>
__host__ __device__ __forceinline__ bool may_be_packs(const T*... at) {
  return ((reinterpret_cast<std::uintptr_t>(at) | ...) & 15) == 0;
}

/// to[i] = T(f(Wide<X>(from[i])…)) for every i in [0, n), in packs as far as they may be; each in one
/// thread of the grid. An element may be among those that are read for its own place.
template <class T, class F, class... X>
__device__ __forceinline__ void map_elements(std::int64_t n, T* to, const F& f, const X*... from) {
  constexpr int size = pack_size<T, X...>;
  const std::int64_t packs = may_be_packs(to, from...) ? n / size : 0, done = packs * size;
  const auto map_pack = [&f](T* put, const Pack<X, size>&... taken) {
    Pack<T, size> result;
    SINTER_UNROLL
    for (int k = 0; k < size; ++k) result.x[k] = T(f(Wide<X>(taken.x[k])...));
    store_pack(put, result);
  };
  for_each_element(
      packs, [&](std::int64_t i) { map_pack(to + i * size, load_pack<size>(from + i * size)...); });
  for_each_element(n - done,
                   [&](std::int64_t i) { to[done + i] = T(f(Wide<X>(from[done + i])...)); });
}

}  // namespace sinter::kernel
