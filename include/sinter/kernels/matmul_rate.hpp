// SPDX-License-Identifier: Apache-2.0
// Which instructions and which library multiply matrices on the device, and at what rate.
#pragma once
#include "sinter/kernels/matmul.hpp"

namespace sinter::kernel {

/// How the device multiplies the elements of a matmul.
enum class MatmulUnit : std::uint8_t {
  own,      ///< in their own type
  amx,      ///< in tiles of bfloat16, summed in fp32 (Intel AMX)
  pairs,    ///< in pairs of bfloat16, summed in fp32 (AVX-512 BF16)
  tensor,   ///< by tensor cores, narrow types summed in fp32 (NVIDIA GPUs)
  widened,  ///< in fp32, to which they are widened when they are packed
};

/// The library whose code multiplies matrices.
enum class MatmulLibrary : std::uint8_t { sinter, libtorch, cublas };

/// The unit that matmul() uses for elements of type T: float, double, BFloat16 or Float16.
template <class T>
MatmulUnit matmul_unit(MatmulInputs inputs = MatmulInputs::whole);

/// The library that multiplies elements of type T. On the CPU it is LibTorch, by its MKL, where
/// LibTorch was found and is faster than Sinter's own products. Finding out opens LibTorch, which
/// takes about 0.1 s.
template <class T>
MatmulLibrary matmul_library(MatmulInputs inputs = MatmulInputs::whole);

/// Upper bounds of the host memory that a library's products take beside their operands, for each
/// thread that multiplies. Opening the library takes more, once.
struct MatmulWorkspace {
  std::int64_t mapped = 0;   ///< as limits of the process count (RLIMIT_DATA, RLIMIT_AS)
  std::int64_t touched = 0;  ///< as the machine and control groups count
};
/// The workspace of a library's products. MKL packs operands into memory that it keeps for each
/// thread. It documents no bound, so a test measures one (tests/unit/kernels/libtorch.cpp).
constexpr MatmulWorkspace matmul_workspace(MatmulLibrary library) {
  constexpr std::int64_t mebibyte = 1 << 20;
  if (library != MatmulLibrary::libtorch) return {};
  return {.mapped = 48 * mebibyte, .touched = 24 * mebibyte};
}

/// True if the program is linked with LibTorch, as a program with Autograd layers is.
/// requires  no product has opened LibTorch yet
bool is_linked_with_libtorch();

/// Lets Sinter's own code compute all products from now on, as if there were no LibTorch. Autograd
/// layers still compute with LibTorch.
/// throws    Error if matmul(), or a function that describes it, has looked for LibTorch already
void do_without_libtorch();

/// Floating-point operations per second of matmul() on elements of type T, at a size where it runs
/// at full speed. Measuring takes at most about `seconds` on the stream's threads, or one product
/// where that takes longer, after a first product that is not counted, as it starts the library. On
/// a GPU, choosing the algorithm for that size takes additional time.
template <class T = float>
double measured_matmul_rate(Stream& stream, double seconds = 0.05);

}  // namespace sinter::kernel
