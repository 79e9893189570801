// SPDX-License-Identifier: Apache-2.0
// Messages on ranks whose programs do not fit together.
#pragma once
#include "sinter/proof/simulate.hpp"

namespace sinter::detail {

/// throws    Error, which names two ranks and their instructions, if a simulation has found a rule broken
void require_fit(const Model& model, std::span<const Instruction> program, int ranks,
                 int iterations, const WorldVerdict& verdict);

}  // namespace sinter::detail
