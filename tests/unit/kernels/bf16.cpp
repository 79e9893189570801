// SPDX-License-Identifier: Apache-2.0
// What is bfloat16's own; the kernels: kernels_narrow.cpp.
#include "unit/kernels/narrow.hpp"

namespace kernel = sinter::kernel;
using namespace sinter::detail::testing;
using sinter::BFloat16;

namespace {

TEST_CASE("floats are rounded to the nearest bfloat16, ties to even") {
  for (int bits = 0; bits < 1 << 16; ++bits) {
    BFloat16 x;
    x.bits = std::uint16_t(bits);
    BFloat16 again(static_cast<float>(x));
    if (std::isnan(float(x))) {
      REQUIRE(std::isnan(float(again)));
    } else {
      REQUIRE(again.bits == x.bits);
    }
  }
  auto rounded = [](std::uint32_t bits) { return int(BFloat16(std::bit_cast<float>(bits)).bits); };
  CHECK(rounded(0x3f808000) == 0x3f80);  // a tie, to even
  CHECK(rounded(0x3f818000) == 0x3f82);
  CHECK(rounded(0x3f808001) == 0x3f81);
  CHECK(rounded(0x3f80ffff) == 0x3f81);
  CHECK(rounded(0x7f7fffff) == 0x7f80);  // the largest float becomes infinity
  CHECK(rounded(0x7f800001) == 0x7fc0);  // a NaN whose bits are all below
  CHECK(rounded(0x00000001) == 0x0000);
}

TEST_CASE_TEMPLATE("matmul by pairs of bfloat16 keeps its bounds", C, BFloat16, float) {
  if (kernel::has_pairs()) {
    check_matmuls<BFloat16, C>(kernel::Gemm::pairs);
  } else {
    MESSAGE("skipped: this processor has no AVX-512 BF16");
  }
}

TEST_CASE("a narrow product by pairs is the wide one, rounded once") {
  if (kernel::has_pairs()) {
    check_rounded_products<BFloat16>(kernel::Gemm::pairs);
  } else {
    MESSAGE("skipped: this processor has no AVX-512 BF16");
  }
}

}  // namespace
