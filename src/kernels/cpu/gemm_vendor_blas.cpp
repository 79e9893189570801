// SPDX-License-Identifier: Apache-2.0
// gemm_vendor() by the BLAS in libtorch_cpu: MKL on x86.
#if SINTER_HAS_SGEMM
#include "kernels/cpu/gemm.hpp"

extern "C" {
void sgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
            const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
            const float* beta, float* c, const int* ldc);
void dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
            const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
            const double* beta, double* c, const int* ldc);
/// Exported by MKL, absent from other libraries. Returns the number that was set before.
[[gnu::weak]] int MKL_Set_Num_Threads_Local(int threads);
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

template void gemm_vendor(Matrix<const float>, Matrix<const float>, Matrix<float>, bool);
template void gemm_vendor(Matrix<const double>, Matrix<const double>, Matrix<double>, bool);

}  // namespace sinter::kernel
#endif
