// SPDX-License-Identifier: Apache-2.0
// What the tensor cores of a warp multiply, and what brings it to them: PTX's mma.m16n8k16, ldmatrix
// and cp.async, or the same on the host. Which lane has which numbers of a matrix is PTX's (PTX ISA,
// "Matrix Fragments for mma.m16n8k16 with floating point type"). All lanes of a warp call these
// together. Cards before compute capability 8.0 have none of it.
#pragma once
#include <cstdint>

#include "hardware/cuda/language.hpp"
#include "sinter/base/bfloat16.hpp"

#ifndef __CUDACC__
#include "emulated/device/emulated_tensor_cores.hpp"
#endif

namespace sinter::kernel {

/// A lane's numbers of 16 × 16 on the left of a product: row lane / 4, then row lane / 4 + 8, each in
/// the columns 2 (lane % 4) and the next; and the same 8 columns on.
struct Left {
  std::uint32_t pairs[4];
};
/// A lane's numbers of 16 × 16 on the right, in two halves of 8 columns: column lane / 4 of each,
/// in the rows 2 (lane % 4) and the next, then 8 rows on.
struct Right {
  std::uint32_t pairs[4];
};
/// A lane's numbers of 16 × 8 sums: row lane / 4, then row lane / 4 + 8, each in the columns 2
/// (lane % 4) and the next.
struct Sums {
  float x[4];
};

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define SINTER_TENSOR_CORES(...) __trap()
#else
#define SINTER_TENSOR_CORES(...) asm volatile(__VA_ARGS__)
#endif

/// Two numbers, rounded to bfloat16, the first in the lower half.
__device__ __forceinline__ std::uint32_t pair_of(float first, float second) {
#ifdef __CUDACC__
  std::uint32_t pair = 0;
  SINTER_TENSOR_CORES("cvt.rn.bf16x2.f32 %0, %2, %1;" : "=r"(pair) : "f"(first), "f"(second));
  return pair;
#else
  return BFloat16(first).bits | std::uint32_t(BFloat16(second).bits) << 16;
#endif
}

/// sums += left · a half of right, 0 or 1. Products are exact, and sums are in fp32.
__device__ __forceinline__ void multiply_add(const Left& left, const Right& right, int half,
                                             Sums& sums) {
#ifdef __CUDACC__
  [[maybe_unused]] float(&x)[4] = sums.x;
  SINTER_TENSOR_CORES(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" : "+f"(x[0]),
      "+f"(x[1]), "+f"(x[2]), "+f"(x[3]) : "r"(left.pairs[0]), "r"(left.pairs[1]),
      "r"(left.pairs[2]), "r"(left.pairs[3]), "r"(right.pairs[2 * half]),
      "r"(right.pairs[2 * half + 1]));
#else
  emulated::multiply_add(left.pairs, right.pairs + 2 * half, sums.x);
#endif
}

/// Loads four matrices of 8 × 8 from shared memory; lane l names row l % 8 of matrix l / 8, at a multiple
/// of 16 bytes. Of each, a lane gets row lane / 4, columns 2 (lane % 4) and the next; or, transposed, the
/// same of its columns.
template <bool Transposed>
__device__ __forceinline__ void load_matrices(const BFloat16* row, std::uint32_t (&to)[4]) {
#ifdef __CUDACC__
  const auto at = static_cast<std::uint32_t>(__cvta_generic_to_shared(row));
  if constexpr (Transposed)
    SINTER_TENSOR_CORES(
        "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(to[0]),
        "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(at) : "memory");
  else
    SINTER_TENSOR_CORES(
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(to[0]),
        "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(at) : "memory");
#else
  emulated::load_matrices(&row->bits, Transposed, to);
#endif
}

/// Begins to copy 4 or 16 bytes into shared memory, both at a multiple of as many; or, if they are not
/// `there`, zeros, and `from` is not read.
template <int Bytes>
__device__ __forceinline__ void begin_copy(void* to, const void* from, bool there) {
  static_assert(Bytes == 4 || Bytes == 16);
#ifdef __CUDACC__
  const auto at = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
  [[maybe_unused]] const int bytes = there ? Bytes : 0;
  if constexpr (Bytes == 16)
    SINTER_TENSOR_CORES("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from),
                        "r"(bytes) : "memory");
  else
    SINTER_TENSOR_CORES("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at), "l"(from),
                        "r"(bytes) : "memory");
#else
  emulated::begin_copy(to, from, Bytes, there);
#endif
}

/// Makes the copies that the thread has begun since the last call a group, even if there are none.
__device__ __forceinline__ void end_group() {
#ifdef __CUDACC__
  SINTER_TENSOR_CORES("cp.async.commit_group;" :: : "memory");
#else
  emulated::end_group();
#endif
}

/// Waits for all of the thread's groups but the last few. Other threads see what it has copied after a
/// barrier.
template <int Last>
__device__ __forceinline__ void wait_for_groups_but() {
#ifdef __CUDACC__
  SINTER_TENSOR_CORES("cp.async.wait_group %0;" ::"n"(Last) : "memory");
#else
  emulated::wait_for_groups_but(Last);
#endif
}

}  // namespace sinter::kernel
