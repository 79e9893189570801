// SPDX-License-Identifier: Apache-2.0
// Errors that CUDA reports.
#pragma once
#include <cuda_runtime.h>

#include <string>

#include "sinter/error.hpp"

namespace sinter::kernel {

/// throws    Error if a call failed. What a card computes after that is lost: what a run goes on
///           with is its last checkpoint
inline void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  throw Error(
      std::string("the card failed: CUDA says \"") + cudaGetErrorString(error) + "\" (" +
      cudaGetErrorName(error) +
      "). What it computed since the last checkpoint is lost. Start again with --resume; if "
      "it fails in the same place again, look at the driver's log (dmesg, lines with Xid).");
}

}  // namespace sinter::kernel
