// Layer normalization (Ba, Kiros & Hinton 2016). T: elements, S: statistics, G: gradients of weight
// and bias; all float, all double, or BFloat16 or Float16 with float for S, and float or T
// for G: rounded once. Each row's mean and variance
// are taken in two passes. The same bits for every number of threads.
//
// Errors to first order, with ε the epsilon of S, n = (x - mean) inverse, e = dy weight and
// a = mean|x| inverse (how far the row is from zero); BFloat16 adds the rounding of what is stored:
//   mean     (2 + width / 8) ε mean|x|
//   inverse  (4 + width / 8) ε inverse
//   y        (4 + width / 8) ε ((|n| + a) |weight| + |bias|)
//   dx       (8 + width / 8) ε inverse (|e| + (1 + |n|) (1 + a) √mean(e²)); with dh_in or an add
//            flag, one ε of each sum more
//   dweight  (16 + rows / 64 + width / 8) ε Σ_r |dy| (|n| + a); with add_weights, one ε of the sum
//   dbias    (16 + rows / 64) ε Σ_r |dy|; likewise
#pragma once
#include <cstdint>

#include "sinter/kernels/bfloat16.hpp"
#include "sinter/kernels/float16.hpp"
#include "sinter/kernels/stream.hpp"

namespace sinter::kernel {

/// y[r] = (x[r] - mean[r]) inverse[r] weight + bias, where inverse = 1 / √(variance + eps).
/// x, y: rows × width, may be the same; weight, bias: width; mean, inverse: rows.
template <class T, class S>
void layer_norm_forward(Stream& stream, const T* x, const T* weight, const T* bias, T* y, S* mean,
                        S* inverse, int rows, int width, double eps);

/// h = a + b, y = layer_norm(h).   a, b, h, y: rows × width; h may be a or b.
template <class T, class S>
void add_layer_norm_forward(Stream& stream, const T* a, const T* b, const T* weight, const T* bias,
                            T* h, T* y, S* mean, S* inverse, int rows, int width, double eps);

/// Elements of S that layer_norm_backward needs as scratch.
constexpr std::int64_t layer_norm_scratch(int width) { return std::int64_t{2} * 32 * width; }

/// Gradients of layer_norm at x (for add_layer_norm: at h), given dy and, unless null, `dh_in`: a
/// gradient that reaches h past the norm, which is added to the result.
///   dx      = gradient of x        (+= with add_dx); null: none
///   dx2     = the same gradient    (+= with add_dx2); null: none. For the second summand of h.
///   dweight = Σ_r dy (x - mean) inverse, dbias = Σ_r dy   (+= with add_weights); null: none
/// x, dy, dh_in, dx, dx2: rows × width; dx or dx2 may be dy or dh_in. scratch:
/// layer_norm_scratch(width) elements, not needed if dweight and dbias are null.
template <class T, class S, class G>
void layer_norm_backward(Stream& stream, const T* x, const T* weight, const S* mean,
                         const S* inverse, const T* dy, const T* dh_in, T* dx, T* dx2, bool add_dx,
                         bool add_dx2, G* dweight, G* dbias, bool add_weights, int rows, int width,
                         S* scratch);

}  // namespace sinter::kernel
