// SPDX-License-Identifier: Apache-2.0
// LibTorch is opened when a product asks for it.
#include "unit/kernels/libtorch.hpp"

#include <dlfcn.h>

#include <algorithm>

#include "kernels/cpu/gemm.hpp"
#include "sinter/kernels/matmul_rate.hpp"
#include "support/message_of.hpp"
#include "support/process_memory.hpp"
#include "support/sanitized.hpp"

namespace sinter::detail::testing {
namespace {

TEST_CASE("a program begins without LibTorch, and opens it where that is the faster one") {
  REQUIRE(!kernel::is_linked_with_libtorch());
  multiply<float>();
  CHECK(kernel::matmul_library<BFloat16>() == kernel::MatmulLibrary::sinter);
  CHECK(kernel::is_linked_with_libtorch() ==
        (kernel::matmul_library<float>() == kernel::MatmulLibrary::libtorch));
  const bool found = kernel::has_vendor();
  CHECK(message_of<Error>([] {
          kernel::do_without_libtorch();
        }).find("Call it before the first one") != std::string::npos);
  void* library = dlopen("libtorch_cpu.so", RTLD_LAZY);
  const bool has_mkl = library && dlsym(library, "sgemm_") && dlsym(library, "dgemm_") &&
                       dlsym(library, "MKL_Set_Num_Threads_Local");
  CHECK(found == has_mkl);
}

TEST_CASE("LibTorch's products take no more memory of a thread than matmul_workspace() says") {
  if (is_sanitized || !kernel::has_vendor()) {
    MESSAGE("skipped: a sanitizer maps memory of its own, or no product of LibTorch is here");
    return;
  }
  const kernel::MatmulWorkspace most = kernel::matmul_workspace(kernel::MatmulLibrary::libtorch);
  constexpr int largest = 8192;
  const std::vector<float> a(std::size_t(largest) * 1024, 1), b = a;
  std::vector<float> c(std::size_t(largest) * 1024);
  kernel::Stream stream(1);
  const Bytes before = bytes_now();
  auto multiply = [&](int m, int n, int k) {
    using kernel::Matrix;
    const Matrix<const float> as[]{{a.data(), m, k, k, false}, {a.data(), k, m, m, true}};
    const Matrix<const float> bs[]{{b.data(), k, n, n, false}, {b.data(), n, k, k, true}};
    for (const auto& one : as)
      for (const auto& other : bs)
        kernel::matmul_by<float, float>(kernel::Gemm::vendor, stream, one, other,
                                        Matrix<float>{c.data(), m, n, n, false}, {});
  };
  constexpr int sides[]{8, 64, 256, 1000, 4096, largest};
  for (int m : sides)
    for (int n : sides)
      for (int k : sides)
        if (std::max({m * n, n * k, m * k}) <= largest * 1024 && double(m) * n * k <= 1e9)
          multiply(m, n, k);
  const Bytes after = bytes_now();
  MESSAGE("mapped " << after.mapped - before.mapped << " bytes, touched "
                    << after.touched - before.touched);
  CHECK(after.mapped - before.mapped <= double(most.mapped));
  CHECK(after.touched - before.touched <= double(most.touched));
}

}  // namespace
}  // namespace sinter::detail::testing
