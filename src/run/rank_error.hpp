// SPDX-License-Identifier: Apache-2.0
// The failure of another rank, noticed while a program runs.
#pragma once
#include <string>
#include <string_view>

#include "sinter/error.hpp"

namespace sinter::detail {

/// Returns what another rank's failure says, and where this rank was, such as "between steps".
inline std::string with_place(const RankError& failure, int rank, std::string_view place) {
  return std::string(failure.what())
      .append(" Rank ")
      .append(std::to_string(rank))
      .append(" was ")
      .append(place)
      .append(".");
}

/// what() ends with the step and the instruction that waited.
struct RankErrorInProgram : RankError {
  using RankError::RankError;
};

}  // namespace sinter::detail
