// SPDX-License-Identifier: Apache-2.0
// Replaces NCCL, if it was not found when Sinter was built.
#include "sinter/comm/nccl.hpp"
#include "sinter/error.hpp"

namespace sinter {

std::unique_ptr<Communicator> nccl_rank(kernel::Stream&, const World&) {
  throw Error(
      "ranks on cards exchange gradients by NCCL, which was not found when this binary was "
      "built. Install libnccl-dev, or run scripts/fetch_cuda.py, and build again; or use Single.");
}

}  // namespace sinter
