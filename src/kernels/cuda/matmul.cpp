// SPDX-License-Identifier: Apache-2.0
// Products by cuBLASLt. It knows columns of columns: a matrix of ours is the transpose of one of its
// own, and cᵀ = op(b)ᵀ op(a)ᵀ.
#include "sinter/kernels/matmul.hpp"

#include "kernels/cuda/each_element.hpp"
#include "kernels/cuda/product.hpp"
#include "kernels/elements.hpp"

namespace sinter::kernel {
namespace {

template <class T>
constexpr cudaDataType_t type_of = CUDA_R_32F;
template <>
constexpr cudaDataType_t type_of<double> = CUDA_R_64F;
template <>
constexpr cudaDataType_t type_of<BFloat16> = CUDA_R_16BF;
template <>
constexpr cudaDataType_t type_of<Float16> = CUDA_R_16F;

/// c = what a product is added to, or zeros where that is nothing.
template <class T>
__global__ void put_addend(const T* addend, std::int64_t addend_stride, T* c, std::int64_t stride,
                           int columns, std::int64_t n) {
  for_each_element(n, [=](std::int64_t i) {
    const std::int64_t row = i / columns, column = i - row * columns;
    c[row * stride + column] = addend ? addend[row * addend_stride + column] : T(0.f);
  });
}

template <class T>
cublasLtMatrixLayout_t layout_of(const Matrix<T>& m) {
  cublasLtMatrixLayout_t layout;
  check(cublasLtMatrixLayoutCreate(&layout, type_of<std::remove_const_t<T>>,
                                   std::uint64_t(m.columns), std::uint64_t(m.rows), m.stride));
  return layout;
}

/// c = op(a) op(b), or += with `add`, or + bias in each row unless it is null.
/// requires  no size is zero
template <class T, class C>
void multiply(Stream& stream, Matrix<const T> a, Matrix<const T> b, Matrix<C> c, bool add,
              const C* bias) {
  using S = Wide<T>;
  const bool rounded = std::is_same_v<T, float> && stream.matmul_inputs() == MatmulInputs::rounded;
  const auto unit = std::is_same_v<S, double> ? CUBLAS_COMPUTE_64F
                    : rounded                 ? CUBLAS_COMPUTE_32F_FAST_TF32
                                              : CUBLAS_COMPUTE_32F;
  Product product(unit, type_of<S>);
  product.first = layout_of(b);
  product.second = layout_of(a);
  product.result = layout_of(c);
  product.set(CUBLASLT_MATMUL_DESC_TRANSA, b.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
  product.set(CUBLASLT_MATMUL_DESC_TRANSB, a.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
  if (bias) {
    product.set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
    product.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
  }
  const S one = 1, beta = add ? 1 : 0;
  product.first_data = b.data;
  product.second_data = a.data;
  product.result_data = c.data;
  product.result_bytes =
      (std::size_t(c.rows - 1) * std::size_t(c.stride) + std::size_t(c.columns)) * sizeof(C);
  product.factor = &one;
  product.beta = &beta;
  const ProductKey key{
      type_of<T>,
      type_of<C>,
      unit,
      add,
      bias ? alignment_of(bias) : 0,
      a.rows,
      a.columns,
      a.stride,
      a.transposed,
      b.rows,
      b.columns,
      b.stride,
      b.transposed,
      c.stride,
      c.rows,
      alignment_of(b.data) << 32 | alignment_of(a.data) << 16 | alignment_of(c.data)};
  Stream::Pool& device = stream.device();
  check(product.launch_on(device.raw, device, algorithm_of(device, key, product), c.data));
}

}  // namespace

template <class T, class C>
void matmul_into(Stream& stream, Matrix<const T> a, Matrix<const T> b, Matrix<C> c,
                 Addend<C> addend) {
  const std::int64_t n = std::int64_t(c.rows) * c.columns;
  const int depth = a.transposed ? a.rows : a.columns;
  if (n <= 0) return;
  // cuBLASLt adds no row to products of double.
  const bool row = addend && addend.stride == 0 && depth > 0 && !std::is_same_v<C, double>;
  const bool itself = addend.data == c.data;
  if (depth <= 0 ? !itself : addend && !row && !itself)
    launch(stream, grid_of_elements(n), put_addend<C>, addend.data, addend.stride, c.data, c.stride,
           c.columns, n);
  if (depth <= 0 || stream.device().mode == Mode::update) return;
  multiply<T, C>(stream, a, b, c, addend && !row, row ? addend.data : nullptr);
}

#define SINTER_INSTANTIATE(T, C) \
  template void matmul_into(Stream&, Matrix<const T>, Matrix<const T>, Matrix<C>, Addend<C>);
SINTER_EACH_GRADIENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
