// SPDX-License-Identifier: Apache-2.0
// Imitates other processors than this one, as far as kernels can tell.
#pragma once
#include <hwy/targets.h>

#include <string_view>

namespace sinter::detail::testing {

/// Makes kernels believe that the processor has no AVX-512 and no AMX.
/// requires  no kernel has been called yet
inline void switch_off_avx512() {
#if defined(__x86_64__)
  hwy::SetSupportedTargetsForTest(hwy::SupportedTargets() & ~(2 * HWY_AVX3 - 1));
  hwy::GetChosenTarget().DeInit();
#endif
}

/// Does what the words of SINTER_TEST_PROCESSOR say, which commas divide. "avx2" switches AVX-512
/// off. The others are matrix products (kernels/cpu/gemm.hpp), which from now on multiply whatever
/// they can: "vendor", "tiles", "pairs" and "amx". Ends the process with a message where a
/// word has no such meaning.
void imitate_processor(std::string_view words);

}  // namespace sinter::detail::testing
