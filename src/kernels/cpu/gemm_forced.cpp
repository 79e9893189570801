// SPDX-License-Identifier: Apache-2.0
// A file of its own: what forces a product need not be linked with all of them.
#include "kernels/cpu/gemm.hpp"

namespace sinter::kernel {

ForcedGemm forced_gemm;

void force_gemm(Gemm gemm) {
  if (gemm == Gemm::vendor || gemm == Gemm::tiles) forced_gemm.whole = gemm;
  if (gemm != Gemm::vendor) forced_gemm.narrow = gemm;
}

}  // namespace sinter::kernel
