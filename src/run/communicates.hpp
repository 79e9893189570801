// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <span>

#include "sinter/program/kind.hpp"

namespace sinter::detail {

/// True if an instruction of a program communicates with other ranks, so that all must run it.
inline bool communicates(std::span<const Instruction> program) {
  return std::ranges::any_of(program,
                             [](const Instruction& i) { return i.kind->traffic.has_value(); });
}

}  // namespace sinter::detail
