// SPDX-License-Identifier: Apache-2.0
// What multiplies matrices on the device, and how fast that is.
#pragma once
#include "sinter/kernels/matmul.hpp"

namespace sinter::kernel {

/// How the device multiplies a matmul's elements.
enum class MatmulUnit : std::uint8_t {
  own,      ///< as they are
  amx,      ///< in tiles of bfloat16, summed in fp32 (Intel AMX)
  pairs,    ///< in pairs of bfloat16, summed in fp32 (AVX-512 BF16)
  tensor,   ///< by tensor cores, narrow types summed in fp32 (NVIDIA GPUs)
  widened,  ///< not at all: they are widened to fp32 as they are packed, and multiplied so
};

/// Whose code multiplies.
enum class MatmulLibrary : std::uint8_t { sinter, libtorch, cublas };

/// What matmul() uses for elements of type T: float, double, BFloat16 or Float16.
template <class T>
MatmulUnit matmul_unit(MatmulInputs inputs = MatmulInputs::whole);

/// What multiplies elements of type T. On the CPU it is MKL in LibTorch instead of Sinter's own
/// products where that is the faster one and LibTorch was found; to know that, opens LibTorch, which
/// takes about 0.1 s.
template <class T>
MatmulLibrary matmul_library(MatmulInputs inputs = MatmulInputs::whole);

/// The most bytes that a library's products take of the host beside their operands, for each thread that
/// multiplies. Opening the library takes its own.
struct MatmulWorkspace {
  std::int64_t mapped = 0;   ///< as limits of the process count (RLIMIT_DATA, RLIMIT_AS)
  std::int64_t touched = 0;  ///< as the machine and control groups count
};
/// The workspace of a library's products. MKL packs operands into memory that it keeps for each thread, of which
/// it says no bound: the numbers are above all that a test has seen (tests/unit/kernels/libtorch.cpp).
constexpr MatmulWorkspace matmul_workspace(MatmulLibrary library) {
  constexpr std::int64_t mebibyte = 1 << 20;
  if (library != MatmulLibrary::libtorch) return {};
  return {.mapped = 48 * mebibyte, .touched = 24 * mebibyte};
}

/// Whether the program begins with LibTorch, as one does that has layers of LibTorch's (Autograd).
/// requires  no product was asked for yet that opens LibTorch
bool is_linked_with_libtorch();

/// From now on products do as if there were no LibTorch: Sinter's own multiply everything. What
/// layers of LibTorch's (Autograd) compute stays theirs.
/// throws    Error if LibTorch was asked for already: matmul(), and what tells of it, does so once
void do_without_libtorch();

/// Floating-point operations per second of matmul() on elements of type T, at a size where it runs
/// at full speed. Measuring takes at most about `seconds` on the stream's threads, or one product
/// where that takes longer; on a GPU, also the time in which products of that size are found.
template <class T = float>
double measured_matmul_rate(Stream& stream, double seconds = 0.05);

}  // namespace sinter::kernel
