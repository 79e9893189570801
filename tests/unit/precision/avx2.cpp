// SPDX-License-Identifier: Apache-2.0
// Precisions on a processor without AVX-512. A program of its own: the product is chosen once.
#include "sinter/model/gpt2.hpp"
#include "sinter/precision/bf16.hpp"
#include "sinter/precision/tf32.hpp"
#include "support/batches.hpp"
#include "support/matmul_text.hpp"
#include "support/processor.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing::avx2_tests {

const bool switched_off = (switch_off_avx512(), true);

TEST_CASE("without AVX-512 there is no unit for bf16, and the header says so") {
  REQUIRE(switched_off);
  const std::string line = matmul_line<Bf16>();
  CAPTURE(line);
  CHECK(
      line.starts_with("matmul  bf16: this processor has no unit for it; widened to fp32 and "
                       "multiplied there; measured at "));
  CHECK(line.find("FLOP/s, fp32 at ") != line.npos);
}

TEST_CASE("without AVX-512 the header says that Tf32 rounds nothing") {
  const std::string line = matmul_line<Tf32>();
  CAPTURE(line);
  CHECK(
      line.starts_with("matmul  tf32: this processor has no unit for shorter inputs; whole fp32 "
                       "is multiplied, by "));
}

TEST_CASE("without AVX-512 Tf32 is Fp32, bit for bit") {
  using Text = Gpt2<{.layers = 2, .heads = 4, .width = 48, .vocabulary = 31, .positions = 24}>;
  Trainer<Made<Text, UpTo<24, 31>, Batch<{.global = 4, .micro = 2}>, Fp32>> full(
      {.seed = 1, .threads = 2});
  Trainer<Made<Text, UpTo<24, 31>, Batch<{.global = 4, .micro = 2}>, Tf32>> rounded(
      {.seed = 1, .threads = 2});
  for (int s = 0; s < 5; ++s) {
    const HostBatch batch = token_batch({24, 7, 24, 16}, 31, std::uint64_t(s));
    CHECK(applied(rounded, batch).loss.sum == applied(full, batch).loss.sum);
  }
  CHECK(parameters_of(rounded) == parameters_of(full));
}

}  // namespace sinter::detail::testing::avx2_tests
