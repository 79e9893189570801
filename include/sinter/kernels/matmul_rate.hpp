// What multiplies matrices on this processor, and how fast that is.
#pragma once
#include "sinter/kernels/matmul.hpp"

namespace sinter::kernel {

/// What multiplies a matmul's elements.
enum class MatmulUnit : std::uint8_t {
  own,      ///< the processor multiplies them as they are
  amx,      ///< it multiplies tiles of bfloat16 and sums in fp32 (Intel AMX)
  pairs,    ///< it multiplies pairs of bfloat16 and sums in fp32 (AVX-512 BF16)
  widened,  ///< none: they are widened to fp32 as they are packed, and multiplied there
};

/// What matmul() uses for elements T: float, double, BFloat16 or Float16.
template <class T>
MatmulUnit matmul_unit(MatmulInputs inputs = MatmulInputs::whole);

/// Floating-point operations per second of matmul() on elements T at a size where it runs at full
/// speed, measured on the stream's threads in at most about `seconds`, or one product where that
/// takes longer.
template <class T = float>
double measured_matmul_rate(Stream& stream, double seconds = 0.05);

}  // namespace sinter::kernel
