// SPDX-License-Identifier: Apache-2.0
// gemm_vendor() by the BLAS in libtorch_cpu: MKL on x86.
#if SINTER_HAS_SGEMM
#include <algorithm>

#include "kernels/cpu/gemm.hpp"
#include "kernels/cpu/ranges.hpp"

extern "C" {
void sgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
            const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
            const float* beta, float* c, const int* ldc);
void dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
            const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
            const double* beta, double* c, const int* ldc);
/// Exported by MKL, absent from other libraries. Returns the number that was set before.
[[gnu::weak]] int MKL_Set_Num_Threads_Local(int threads);
/// Likewise; layout 101 is row-major, 111 and 112 are as is and transposed.
[[gnu::weak]] void cblas_gemm_bf16bf16f32(int layout, int transa, int transb, int m, int n, int k,
                                          float alpha, const void* a, int lda, const void* b,
                                          int ldb, float beta, float* c, int ldc);
}

namespace sinter::kernel {
namespace {

/// Keeps MKL to the calling thread while it lives. The user's own calls of MKL are not affected.
struct OneThread {
  int before = MKL_Set_Num_Threads_Local ? MKL_Set_Num_Threads_Local(1) : 0;
  ~OneThread() {
    if (MKL_Set_Num_Threads_Local) MKL_Set_Num_Threads_Local(before);
  }
};

constexpr auto blas(float) { return sgemm_; }
constexpr auto blas(double) { return dgemm_; }

}  // namespace

const bool vendor_is_single_threaded = true;

/// BLAS counts columns first: to it our c is cᵀ = op(b)ᵀ op(a)ᵀ.
template <class T>
void gemm_vendor(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, bool add) {
  OneThread guard;
  const int k = a.transposed ? a.rows : a.columns;
  const int lda = int(a.stride), ldb = int(b.stride), ldc = int(c.stride);
  const T one = 1, beta = add ? T(1) : T(0);
  blas(T())(b.transposed ? "T" : "N", a.transposed ? "T" : "N", &c.columns, &c.rows, &k, &one,
            b.data, &ldb, a.data, &lda, &beta, c.data, &ldc);
}

bool vendor_has_bf16() { return cblas_gemm_bf16bf16f32; }

namespace {

using Operand = Matrix<const BFloat16>;

void product(const Operand& a, const Operand& b, const Matrix<float>& c, bool add) {
  cblas_gemm_bf16bf16f32(101, a.transposed ? 112 : 111, b.transposed ? 112 : 111, c.rows, c.columns,
                         a.transposed ? a.rows : a.columns, 1, a.data, int(a.stride), b.data,
                         int(b.stride), add ? 1 : 0, c.data, int(c.stride));
}

/// A piece of c at a time: its sums are rounded when they are whole.
void product(Operand a, Operand b, const Matrix<BFloat16>& c, bool add) {
  constexpr int most_rows = 128, most_columns = 512;
  float sums[most_rows * most_columns];
  for (int i = 0; i < c.rows; i += most_rows)
    for (int j = 0; j < c.columns; j += most_columns) {
      const int rows = std::min(most_rows, c.rows - i);
      const int columns = std::min(most_columns, c.columns - j);
      product(rows_of(a, i, i + rows), columns_of(b, j, j + columns),
              Matrix(Tensor(sums, rows, columns)), false);
      for (int r = 0; r < rows; ++r)
        put_range(sums + r * columns, c.data + (i + r) * c.stride + j, columns, add);
    }
}

/// Rounded into `to`, dense.
Operand rounded(const Matrix<const float>& m, BFloat16* to) {
  for (int r = 0; r < m.rows; ++r)
    put_range(m.data + r * m.stride, to + std::int64_t(r) * m.columns, m.columns, false);
  return {to, m.rows, m.columns, m.columns, m.transposed};
}

/// Of float: pieces are rounded, and multiplied while they are in the cache.
void product(Matrix<const float> a, Matrix<const float> b, const Matrix<float>& c, bool add) {
  constexpr int most_rows = 128, most_columns = 256, most_depth = 512;
  BFloat16 left[most_rows * most_depth], right[most_depth * most_columns];
  const int depth = a.transposed ? a.rows : a.columns;
  for (int j = 0; j < c.columns; j += most_columns)
    for (int p = 0; p < depth; p += most_depth) {
      const int columns = std::min(most_columns, c.columns - j),
                end = std::min(p + most_depth, depth);
      const Operand factor = rounded(columns_of(rows_of(b, p, end), j, j + columns), right);
      for (int i = 0; i < c.rows; i += most_rows) {
        const int bottom = std::min(i + most_rows, c.rows);
        product(rounded(columns_of(rows_of(a, i, bottom), p, end), left), factor,
                columns_of(rows_of(c, i, bottom), j, j + columns), add || p > 0);
      }
    }
}

}  // namespace

template <class T, class C>
void gemm_vendor_bf16(Matrix<const T> a, Matrix<const T> b, Matrix<C> c, bool add) {
  OneThread guard;
  product(a, b, c, add);
}

template void gemm_vendor_bf16(Matrix<const float>, Matrix<const float>, Matrix<float>, bool);
template void gemm_vendor_bf16(Operand, Operand, Matrix<float>, bool);
template void gemm_vendor_bf16(Operand, Operand, Matrix<BFloat16>, bool);
template void gemm_vendor(Matrix<const float>, Matrix<const float>, Matrix<float>, bool);
template void gemm_vendor(Matrix<const double>, Matrix<const double>, Matrix<double>, bool);

}  // namespace sinter::kernel
#endif
