// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/matmul_rate.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include "kernels/cpu/gemm.hpp"
#include "kernels/elements.hpp"

namespace sinter::kernel {

template <class T>
MatmulUnit matmul_unit(MatmulInputs inputs) {
  switch (preferred_gemm<T>(inputs)) {
    case Gemm::amx:
      return MatmulUnit::amx;
    case Gemm::pairs:
      return MatmulUnit::pairs;
    default:
      return is_narrow<T> ? MatmulUnit::widened : MatmulUnit::own;
  }
}

template <class T>
MatmulLibrary matmul_library(MatmulInputs inputs) {
  return preferred_gemm<T>(inputs) == Gemm::vendor ? MatmulLibrary::libtorch
                                                   : MatmulLibrary::sinter;
}

template <class T>
double measured_matmul_rate(Stream& stream, double seconds) {
  using Clock = std::chrono::steady_clock;
  constexpr int n = 512;
  constexpr double flops = 2.0 * n * n * n;
  std::vector<T> a(n * n, T(0.5f)), b(n * n, T(0.25f)), c(n * n);
  auto since = [](Clock::time_point t) {
    return std::chrono::duration<double>(Clock::now() - t).count();
  };
  auto once = [&] {
    auto start = Clock::now();
    matmul(stream, Tensor(a.data(), n, n), Tensor(b.data(), n, n), Tensor(c.data(), n, n));
    return since(start);
  };
  once();  // starts the library, which takes far longer than a product
  auto start = Clock::now();
  double best = once();
  for (double last = best; since(start) + last < seconds;) best = std::min(best, last = once());
  return flops / best;
}

#define SINTER_INSTANTIATE(T)                             \
  template MatmulUnit matmul_unit<T>(MatmulInputs);       \
  template MatmulLibrary matmul_library<T>(MatmulInputs); \
  template double measured_matmul_rate<T>(Stream&, double);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
