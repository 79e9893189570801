// SPDX-License-Identifier: Apache-2.0
// Elementwise arithmetic, on tensors, and on flat arrays where only the length matters. Inputs and
// outputs may be the same array, but must not overlap otherwise. Each exact result is rounded once
// to Wide<T> and once to T.
#pragma once
#include <cstdint>

#include "sinter/base/bfloat16.hpp"
#include "sinter/base/float16.hpp"
#include "sinter/hardware/stream.hpp"
#include "sinter/kernels/tensor.hpp"

namespace sinter::kernel {

/// y[i] = value.
template <class T>
void fill(Stream& stream, T* y, Wide<T> value, std::int64_t n);

/// y[i] = x[i].
template <class T>
void copy(Stream& stream, const T* x, T* y, std::int64_t n);

/// y[i] = factor x[i].
template <class T>
void scale(Stream& stream, const T* x, Wide<T> factor, T* y, std::int64_t n);

/// y[i] += a[i].
template <class T>
void accumulate(Stream& stream, const T* a, T* y, std::int64_t n);

/// y[i] = x[i] in another type, rounded to nearest: from float to double, BFloat16 or Float16, or
/// back.
template <class From, class To>
void cast(Stream& stream, const From* x, To* y, std::int64_t n);

/// y = a + b. All have one shape.
template <class T>
void add(Stream& stream, Input<T> a, Input<T> b, Tensor<T> y);

/// y = x, or y += x with its add flag. Both have one shape.
template <class T>
void put(Stream& stream, Input<T> x, Tensor<T> y);

/// y = factor x, or y += factor x with its add flag. Without a fused multiply-add in the
/// instruction set, the product is rounded before it is added. Both have one shape.
template <class T>
void scale(Stream& stream, Input<T> x, Wide<T> factor, Tensor<T> y);

/// sum[c] = Σ_r x[r][c], or sum[c] += … with its add flag. x: rows × columns, sum: 1 × columns.
/// G is Wide<T>, or T, to which sums are rounded once. The bits are the same for every number of
/// threads. Error ≤ (1 + √rows / 2) ε Σ|x|, ε the epsilon of Wide<T> (sums of 64 rows are summed),
/// and with the flag one ε of the sum more.
template <class T, class G>
void column_sum(Stream& stream, Tensor<const T> x, Tensor<G> sum);

// Overload for a writable tensor: T is not deduced through a conversion.
template <class T, class G>
  requires(!std::is_const_v<T>)
void column_sum(Stream& stream, Tensor<T> x, Tensor<G> sum) {
  column_sum<T, G>(stream, Input<T>(x), sum);
}

}  // namespace sinter::kernel
