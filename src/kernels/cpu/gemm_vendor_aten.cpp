// SPDX-License-Identifier: Apache-2.0
// gemm_vendor() through ATen, where libtorch_cpu exports no BLAS: threads are then ATen's own.
#if !SINTER_HAS_SGEMM
#include <ATen/core/Tensor.h>
#include <ATen/ops/addmm_ops.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mm_ops.h>
#include <c10/core/InferenceMode.h>

#include "kernels/cpu/gemm.hpp"

namespace sinter::kernel {
namespace {

template <class T>
at::Tensor view(const Matrix<T>& m) {
  auto type = std::is_same_v<std::remove_const_t<T>, float> ? at::kFloat : at::kDouble;
  void* data = const_cast<std::remove_const_t<T>*>(m.data);
  return m.transposed ? at::from_blob(data, {m.columns, m.rows}, {1, m.stride}, type)
                      : at::from_blob(data, {m.rows, m.columns}, {m.stride, 1}, type);
}

}  // namespace

const bool vendor_is_single_threaded = false;

template <class T>
void gemm_vendor(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, bool add) {
  c10::InferenceMode no_autograd;
  auto left = view(a), right = view(b), out = view(c);
  if (add) {
    at::_ops::addmm_out::call(out, left, right, 1, 1, out);
  } else {
    at::_ops::mm_out::call(left, right, out);
  }
}

template void gemm_vendor(Matrix<const float>, Matrix<const float>, Matrix<float>, bool);
template void gemm_vendor(Matrix<const double>, Matrix<const double>, Matrix<double>, bool);

}  // namespace sinter::kernel
#endif
