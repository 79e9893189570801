// SPDX-License-Identifier: Apache-2.0
// What the policy Cuda needs of the library. nvcc reads this header, but not those of policies.
#pragma once

namespace sinter::detail {

/// Lets the calling thread compute on a card. Defined by the library that has the kernels for CUDA.
/// throws    Error that names what is missing: the driver, a card of this number, kernels for it
void open_card(int number);

}  // namespace sinter::detail
