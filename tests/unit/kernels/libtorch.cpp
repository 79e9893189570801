// SPDX-License-Identifier: Apache-2.0
// LibTorch is opened when a product asks for it.
#include "unit/kernels/libtorch.hpp"

#include <dlfcn.h>

#include "kernels/cpu/gemm.hpp"
#include "sinter/kernels/matmul_rate.hpp"
#include "support/message_of.hpp"

namespace sinter::testing {
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

}  // namespace
}  // namespace sinter::testing
