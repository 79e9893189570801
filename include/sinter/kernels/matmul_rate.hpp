// SPDX-License-Identifier: Apache-2.0
// What multiplies matrices on this processor, and how fast that is.
#pragma once
#include "sinter/kernels/matmul.hpp"

namespace sinter::kernel {

/// How the processor multiplies a matmul's elements.
enum class MatmulUnit : std::uint8_t {
  own,      ///< as they are
  amx,      ///< in tiles of bfloat16, summed in fp32 (Intel AMX)
  pairs,    ///< in pairs of bfloat16, summed in fp32 (AVX-512 BF16)
  widened,  ///< not at all: they are widened to fp32 as they are packed, and multiplied so
};

/// What matmul() uses for elements of type T: float, double, BFloat16 or Float16.
template <class T>
MatmulUnit matmul_unit(MatmulInputs inputs = MatmulInputs::whole);

/// Floating-point operations per second of matmul() on elements of type T, at a size where it runs
/// at full speed. Measuring takes at most about `seconds` on the stream's threads, or one product
/// where that takes longer.
template <class T = float>
double measured_matmul_rate(Stream& stream, double seconds = 0.05);

}  // namespace sinter::kernel
