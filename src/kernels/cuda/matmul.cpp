// SPDX-License-Identifier: Apache-2.0
// Products by cuBLASLt. It knows columns of columns: a matrix of ours is the transpose of one of its
// own, and cᵀ = op(b)ᵀ op(a)ᵀ.
#include "sinter/kernels/matmul.hpp"

#include <cublasLt.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <string>

#include "kernels/cuda/each_element.hpp"
#include "kernels/elements.hpp"
#include "sinter/error.hpp"

namespace sinter::kernel {
namespace {

void check(cublasStatus_t status) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Error(
      std::string("Sinter: a product failed on the card: cuBLASLt says \"") +
      cublasLtGetStatusString(status) +
      "\". What was computed since the last checkpoint is lost; start again with --resume.");
}

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

/// What the choice of an algorithm hangs on.
using Key = std::array<std::int64_t, 16>;

/// The largest power of two, up to 256, that divides an address.
std::int64_t alignment_of(const void* at) {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  return std::int64_t(std::min<std::uintptr_t>(address & (~address + 1), 256));
}

/// A product as cuBLASLt has it.
struct Product {
  cublasLtMatmulDesc_t what = nullptr;
  cublasLtMatrixLayout_t first = nullptr, second = nullptr, result = nullptr;

  Product(cublasComputeType_t unit, cudaDataType_t scale) {
    check(cublasLtMatmulDescCreate(&what, unit, scale));
  }
  ~Product() {
    for (cublasLtMatrixLayout_t layout : {first, second, result})
      cublasLtMatrixLayoutDestroy(layout);
    cublasLtMatmulDescDestroy(what);
  }
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;

  template <class V>
  void set(cublasLtMatmulDescAttributes_t attribute, const V& value) {
    check(cublasLtMatmulDescSetAttribute(what, attribute, &value, sizeof value));
  }
};

template <class T>
cublasLtMatrixLayout_t layout_of(const Matrix<T>& m) {
  cublasLtMatrixLayout_t layout;
  check(cublasLtMatrixLayoutCreate(&layout, type_of<std::remove_const_t<T>>,
                                   std::uint64_t(m.columns), std::uint64_t(m.rows), m.stride));
  return layout;
}

/// Asks cuBLASLt's heuristic. (It does not measure: a search on the card, and a file that keeps what
/// it found, would choose better.)
cublasLtMatmulAlgo_t choose(cublasLtHandle_t library, const Product& product,
                            const std::array<const void*, 3>& data) {
  cublasLtMatmulPreference_t wish;
  check(cublasLtMatmulPreferenceCreate(&wish));
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t attribute, auto value) {
    check(cublasLtMatmulPreferenceSetAttribute(wish, attribute, &value, sizeof value));
  };
  set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t(Stream::Pool::workspace_bytes));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, std::uint32_t(alignment_of(data[0])));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, std::uint32_t(alignment_of(data[1])));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, std::uint32_t(alignment_of(data[2])));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, std::uint32_t(alignment_of(data[2])));
  cublasLtMatmulHeuristicResult_t best;
  int found = 0;
  const cublasStatus_t status =
      cublasLtMatmulAlgoGetHeuristic(library, product.what, product.first, product.second,
                                     product.result, product.result, wish, 1, &best, &found);
  check(cublasLtMatmulPreferenceDestroy(wish));
  check(status == CUBLAS_STATUS_SUCCESS && !found ? CUBLAS_STATUS_NOT_SUPPORTED : status);
  return best.algo;
}

/// The algorithm of a key; only a new one is asked for.
template <class F>
cublasLtMatmulAlgo_t known(const Key& key, const F& choose_one) {
  static std::mutex mutex;
  static std::map<Key, cublasLtMatmulAlgo_t> algorithms;
  const std::scoped_lock lock(mutex);
  const auto at = algorithms.find(key);
  return at != algorithms.end() ? at->second : algorithms.emplace(key, choose_one()).first->second;
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
  const std::array<const void*, 3> data{b.data, a.data, c.data};
  const Key key{type_of<T>,
                type_of<C>,
                unit,
                add,
                bias != nullptr,
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
                alignment_of(data[0]) << 32 | alignment_of(data[1]) << 16 | alignment_of(data[2])};
  Stream::Pool& device = stream.device();
  const auto algorithm = known(key, [&] { return choose(device.library, product, data); });
  const S one = 1, beta = add ? 1 : 0;
  check(cublasLtMatmul(device.library, product.what, &one, b.data, product.first, a.data,
                       product.second, &beta, c.data, product.result, c.data, product.result,
                       &algorithm, device.workspace, Stream::Pool::workspace_bytes, device.raw));
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
  if (depth <= 0 || stream.device().mode == Mode::tell) return;
  multiply<T, C>(stream, a, b, c, addend && !row, row ? addend.data : nullptr);
}

#define SINTER_INSTANTIATE(T, C) \
  template void matmul_into(Stream&, Matrix<const T>, Matrix<const T>, Matrix<C>, Addend<C>);
SINTER_EACH_GRADIENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
