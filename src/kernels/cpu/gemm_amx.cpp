// SPDX-License-Identifier: Apache-2.0
// A product of bfloat16 matrices, or of fp32 matrices rounded to it, by the matrix unit AMX (Intel
// from Sapphire Rapids). Subnormal numbers count as zero.
#include "kernels/cpu/gemm.hpp"

#if defined(__x86_64__) && defined(__linux__)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC's PR105593, in its own headers
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernels/cpu/amx-inl.hpp"

namespace sinter::kernel {

bool has_amx() {
  static const bool has = [] {
    unsigned a, b, c, d = 0;
    const bool there =
        has_pairs() && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d >> 22 & 1) && (d >> 24 & 1);
    constexpr long request_permission = 0x1023, tile_data = 18;  // asm/prctl.h has them since 5.16
    return there && syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
  }();
  return has;
}

template <class T, class C>
void gemm_amx(Matrix<const T> a, Matrix<const T> b, Matrix<C> c, Addend<C> addend) {
  AmxProduct<Amx>::product(a, b, c, addend);
}

}  // namespace sinter::kernel

#else
#include <stdexcept>

namespace sinter::kernel {

bool has_amx() { return false; }

template <class T, class C>
void gemm_amx(Matrix<const T>, Matrix<const T>, Matrix<C>, Addend<C>) {
  throw std::logic_error("gemm_amx() on a processor that has_amx() denies.");
}

}  // namespace sinter::kernel
#endif

namespace sinter::kernel {
template void gemm_amx(Matrix<const float>, Matrix<const float>, Matrix<float>, Addend<float>);
template void gemm_amx(Matrix<const BFloat16>, Matrix<const BFloat16>, Matrix<float>,
                       Addend<float>);
template void gemm_amx(Matrix<const BFloat16>, Matrix<const BFloat16>, Matrix<BFloat16>,
                       Addend<BFloat16>);
}  // namespace sinter::kernel
