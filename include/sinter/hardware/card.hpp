// SPDX-License-Identifier: Apache-2.0
// What the policy Cuda asks of the library; a header of its own, as nvcc does not read policies.
#pragma once

namespace sinter {

/// Lets the calling thread compute on a card. Defined by the library that has the kernels for CUDA.
/// throws    Error that says what is missing: the driver, a card of this number, kernels for it
void open_card(int number);

}  // namespace sinter
