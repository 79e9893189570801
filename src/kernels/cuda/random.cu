// SPDX-License-Identifier: Apache-2.0
// Numbers for CUDA are those of the CPU, bit for bit: its vector code makes them, and they are copied.
#include "sinter/kernels/random.hpp"

#include <vector>

#include "hardware/cuda/queue.hpp"
#include "kernels/elements.hpp"

namespace sinter::kernel {

template <class T>
void fill_normal(Stream& stream, T* data, std::int64_t n, double mean, double deviation,
                 std::uint64_t key) {
  std::vector<T> values(static_cast<std::size_t>(n));
  fill_normal(values.data(), n, mean, deviation, key);
  copy_in(stream, reinterpret_cast<std::byte*>(data), values.data(), values.size() * sizeof(T));
}

#define SINTER_INSTANTIATE(T) \
  template void fill_normal(Stream&, T*, std::int64_t, double, double, std::uint64_t);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
