// SPDX-License-Identifier: Apache-2.0
#include "unit/parallel/modes.hpp"

namespace sinter::detail::testing {
namespace {

TEST_CASE("every mode is one process, to the order of sums") { ModesTable<Fp32>("Fp32").rows(); }

}  // namespace
}  // namespace sinter::detail::testing
