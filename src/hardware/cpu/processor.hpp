// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace sinter::detail {

/// The processor's model, and the best of its instruction sets for which kernels are compiled:
/// "Intel(R) Xeon(R) …, AVX-512".
std::string processor_text();

}  // namespace sinter::detail
