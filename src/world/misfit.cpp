// SPDX-License-Identifier: Apache-2.0
#include "world/misfit.hpp"

#include <string>

#include "sinter/error.hpp"
#include "sinter/proof/proof.hpp"

namespace sinter {

void require_fit(const Model& model, std::span<const Instruction> program, int ranks,
                 int iterations, const WorldVerdict& verdict) {
  if (verdict.fine()) return;
  const auto of = [&](RankPlace place) {
    return "rank " + std::to_string(place.rank) + " in '" +
           std::string(place_letters(model, program, place).view()) + "' (instruction " +
           std::to_string(place.position) + ")";
  };
  throw Error(
      "the programs of " + std::to_string(ranks) + " ranks do not fit together with " +
      std::to_string(iterations) + " micro-batches: " + verdict.what + ", " + of(verdict.one) +
      " and " + of(verdict.other) +
      ". A step would wait for ever, or take one array for another. Correct the rewrite() of "
      "the policy that brings them, or the traffic that their kinds state.");
}

}  // namespace sinter
