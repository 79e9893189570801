// SPDX-License-Identifier: Apache-2.0
// gemm_vendor() by the BLAS in libtorch_cpu, MKL on x86. The library is no part of the binary: it is
// opened where it is the faster one, which takes a tenth of a second and as many MiB as a small run
// has in all.
#include <dlfcn.h>

#include <atomic>
#include <type_traits>

#include "kernels/cpu/gemm.hpp"
#include "sinter/error.hpp"
#include "sinter/kernels/matmul_rate.hpp"

namespace sinter::kernel {
namespace {

template <class T>
using Blas = void(const char* transa, const char* transb, const int* m, const int* n, const int* k,
                  const T* alpha, const T* a, const int* lda, const T* b, const int* ldb,
                  const T* beta, T* c, const int* ldc);

/// The functions of the library that are called.
struct Vendor {
  Blas<float>* sgemm = nullptr;
  Blas<double>* dgemm = nullptr;
  /// Sets the number of threads for this thread. Returns the previous number.
  int (*set_threads)(int threads) = nullptr;

  bool whole() const { return sgemm && dgemm && set_threads; }
  auto blas(float) const { return sgemm; }
  auto blas(double) const { return dgemm; }
};

constexpr const char* library_name = "libtorch_cpu.so";
std::atomic<bool> is_wanted = true, is_asked_for = false;

/// It is looked for as what the binary is linked with: in its run path, LD_LIBRARY_PATH and the
/// system's folders.
Vendor open_vendor() {
  is_asked_for = true;
  void* library = is_wanted ? dlopen(library_name, RTLD_LAZY | RTLD_LOCAL) : nullptr;
  if (!library) return {};
  Vendor found;
  auto find = [&](auto*& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
  };
  find(found.sgemm, "sgemm_");
  find(found.dgemm, "dgemm_");
  find(found.set_threads, "MKL_Set_Num_Threads_Local");
  if (!found.whole()) dlclose(library);
  return found;
}

const Vendor& vendor() {
  static const Vendor opened = open_vendor();
  return opened;
}

/// Keeps MKL to the calling thread while it lives. The user's own calls of MKL are not affected.
struct OneThread {
  int before = vendor().set_threads(1);
  ~OneThread() { vendor().set_threads(before); }
};

}  // namespace

bool has_vendor() { return vendor().whole(); }

bool is_linked_with_libtorch() {
  void* library = dlopen(library_name, RTLD_LAZY | RTLD_NOLOAD);
  if (library) dlclose(library);
  return library;
}

void do_without_libtorch() {
  if (is_asked_for)
    throw Error(
        "do_without_libtorch() came after a product that has asked for LibTorch. Call it "
        "before the first one, such as at the beginning of main().");
  is_wanted = false;
}

/// BLAS counts columns first: to it our c is cᵀ = op(b)ᵀ op(a)ᵀ.
template <class T>
void gemm_vendor(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, bool add) {
  OneThread guard;
  const int k = a.transposed ? a.rows : a.columns;
  const int lda = int(a.stride), ldb = int(b.stride), ldc = int(c.stride);
  const T one = 1, beta = add ? T(1) : T(0);
  vendor().blas(T())(b.transposed ? "T" : "N", a.transposed ? "T" : "N", &c.columns, &c.rows, &k,
                     &one, b.data, &ldb, a.data, &lda, &beta, c.data, &ldc);
}

template void gemm_vendor(Matrix<const float>, Matrix<const float>, Matrix<float>, bool);
template void gemm_vendor(Matrix<const double>, Matrix<const double>, Matrix<double>, bool);

}  // namespace sinter::kernel
