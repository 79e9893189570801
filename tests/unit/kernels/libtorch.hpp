// SPDX-License-Identifier: Apache-2.0
// What the tests share that look whether LibTorch multiplies.
#pragma once
#include "unit/kernels/support.hpp"

namespace sinter::detail::testing {

/// Multiplies as a recipe does.
template <class T>
void multiply() {
  kernel::Stream stream(1);
  const auto a = normal_values<T>(20 * 20, 1);
  std::vector<T> c(20 * 20);
  kernel::matmul(stream, kernel::Tensor(a.data(), 20, 20), kernel::Tensor(a.data(), 20, 20),
                 kernel::Tensor(c.data(), 20, 20));
}

}  // namespace sinter::detail::testing
