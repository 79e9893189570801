// SPDX-License-Identifier: Apache-2.0
// Products without LibTorch. A program of its own: the product is chosen once.
#include "kernels/cpu/gemm.hpp"
#include "sinter/kernels/matmul_rate.hpp"
#include "unit/kernels/libtorch.hpp"

namespace sinter::detail::testing {
namespace {

TEST_CASE("done without, LibTorch is not opened, and our own products multiply") {
  REQUIRE(!kernel::is_linked_with_libtorch());
  kernel::do_without_libtorch();
  multiply<float>();
  multiply<double>();
  CHECK(!kernel::is_linked_with_libtorch());
  CHECK(!kernel::has_vendor());
  CHECK(kernel::matmul_library<float>() == kernel::MatmulLibrary::sinter);
  CHECK(kernel::matmul_library<double>() == kernel::MatmulLibrary::sinter);
}

}  // namespace
}  // namespace sinter::detail::testing
