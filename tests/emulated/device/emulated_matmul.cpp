// SPDX-License-Identifier: Apache-2.0
// Products on the emulated device, which has no cuBLASLt: those of the CPU's kernels, by one thread,
// as one node in the order of the stream.
#include <array>

#include "emulated/device/emulated_submit.hpp"
#include "kernels/cpu/gemm.hpp"
#include "kernels/elements.hpp"

namespace sinter::kernel {

/// By our own tiles, which leave inputs of float as they are, whatever the stream says, and whose bits
/// do not hang on the processor.
template <class T, class C>
void matmul_into(Stream& stream, Matrix<const T> a, Matrix<const T> b, Matrix<C> c,
                 Addend<C> addend) {
  const auto multiply = [=] {
    thread_local Stream host(1);  // whose threads alone are used
    matmul_by<T, C>(Gemm::tiles, host, a, b, c, addend);
  };
  const auto size_of = [](const auto& m) {
    return std::array<std::int64_t, 4>{m.rows, m.columns, m.stride, m.transposed};
  };
  emulated::submit(stream, multiply, a.data, size_of(a), b.data, size_of(b), c.data, size_of(c),
                   addend.data, addend.stride);
}

#define SINTER_INSTANTIATE(T, C) \
  template void matmul_into(Stream&, Matrix<const T>, Matrix<const T>, Matrix<C>, Addend<C>);
SINTER_EACH_GRADIENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
