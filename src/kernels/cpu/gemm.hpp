// The vendor's matrix product: the seam that gemm_blas.cpp or gemm_aten.cpp fills in.
#pragma once
#include "sinter/kernels/matmul.hpp"

namespace sinter::kernel {

/// Whether gemm() runs on the calling thread alone, so that tiles can be spread over a pool.
extern const bool gemm_is_single_threaded;

/// c = op(a) op(b), or += with `add`. No size is zero. T: float or double.
template <class T>
void gemm(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, bool add);

}  // namespace sinter::kernel
