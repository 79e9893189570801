// SPDX-License-Identifier: Apache-2.0
// The failure of another rank, noticed while a program runs.
#pragma once
#include "sinter/error.hpp"

namespace sinter::detail {

/// what() ends with the step and the instruction that waited.
struct RankErrorInProgram : RankError {
  using RankError::RankError;
};

}  // namespace sinter::detail
