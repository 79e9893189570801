// SPDX-License-Identifier: Apache-2.0
// The moving average in half precision, and on ranks.
#include "sinter/parallel/ddp.hpp"
#include "sinter/precision/bf16.hpp"
#include "sinter/precision/fp16.hpp"
#include "unit/parameters/average.hpp"

namespace sinter::detail::testing {
namespace {

TEST_CASE("the average follows its definition in half precision") {
  check_average<{.decay = .9}, Bf16>(average_tolerance);
  check_average<{.decay = .9}, Fp16<{.masters = false, .initial_scale = 256}>>(average_tolerance);
}

TEST_CASE("the average follows its definition on ranks") {
  if (has_thread_ranks) check_average<{.decay = .9}, Ddp<>>(average_tolerance);
}

}  // namespace
}  // namespace sinter::detail::testing
