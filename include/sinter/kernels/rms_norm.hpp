// Root mean square normalization (Zhang & Sennrich 2019), as Llama has it. T: elements, S:
// statistics, G: gradients of the weight; all float, all double, or BFloat16 or Float16
// with float for S, and float or T for G: rounded once. The same bits for every number of threads.
//
// Errors, with ε the epsilon of S; a narrow T adds the rounding of what is stored:
//   inverse, y   relative to themselves: (4 + width / 8) ε
//   dx           (16 + width) ε inverse (|e| + |n| √mean(e²)), where n = x inverse, e = dy weight;
//                with dh_in or an add flag, one ε of each sum more
//   dweight      (32 + rows / 64 + width / 8) ε Σ_r |dy n|; one ε of the sum more with add_weight
#pragma once
#include <cstdint>

#include "sinter/kernels/bfloat16.hpp"
#include "sinter/kernels/float16.hpp"
#include "sinter/kernels/stream.hpp"

namespace sinter::kernel {

/// y[r] = x[r] inverse[r] weight, where inverse = 1 / √(mean(x²) + eps).
/// x, y: rows × width, may be the same; weight: width; inverse: rows.
template <class T, class S>
void rms_norm_forward(Stream& stream, const T* x, const T* weight, T* y, S* inverse, int rows,
                      int width, double eps);

/// h = a + b, y = rms_norm(h).   a, b, h, y: rows × width; h may be a or b.
template <class T, class S>
void add_rms_norm_forward(Stream& stream, const T* a, const T* b, const T* weight, T* h, T* y,
                          S* inverse, int rows, int width, double eps);

/// Elements of S that rms_norm_backward needs as scratch.
constexpr std::int64_t rms_norm_scratch(int width) { return std::int64_t{32} * width; }

/// Gradients of rms_norm at x (for add_rms_norm: at h), given dy and, unless null, `dh_in`: a
/// gradient that reaches h past the norm, which is added to the result.
///   dx      = gradient of x        (+= with add_dx); null: none
///   dx2     = the same gradient    (+= with add_dx2); null: none. For the second summand of h.
///   dweight = Σ_r dy x inverse     (+= with add_weight); null: none
/// x, dy, dh_in, dx, dx2: rows × width; dx or dx2 may be dy or dh_in. scratch:
/// rms_norm_scratch(width) elements, not needed if dweight is null.
template <class T, class S, class G>
void rms_norm_backward(Stream& stream, const T* x, const T* weight, const S* inverse, const T* dy,
                       const T* dh_in, T* dx, T* dx2, bool add_dx, bool add_dx2, G* dweight,
                       bool add_weight, int rows, int width, S* scratch);

}  // namespace sinter::kernel
