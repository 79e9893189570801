// SPDX-License-Identifier: Apache-2.0
#include "forecast/require_fit.hpp"

#include <fmt/format.h>

#include "sinter/error.hpp"
#include "sinter/proof/proof.hpp"

namespace sinter::detail {

void require_fit(const Model& model, std::span<const Instruction> program, int ranks,
                 int iterations, const WorldVerdict& verdict) {
  if (verdict.fine()) return;
  const auto of = [&](RankPlace place) {
    return fmt::format("rank {} in '{}' (instruction {})", place.rank,
                       place_letters(model, program, place).view(), place.position);
  };
  throw Error(fmt::format(
      "the programs of {} ranks do not fit together with {} micro-batches: {}, {} and {}. A step "
      "would wait for ever, or take one array for another. Correct the rewrite() of the policy "
      "that brings them, or the traffic that their kinds state.",
      ranks, iterations, verdict.what, of(verdict.one), of(verdict.other)));
}

}  // namespace sinter::detail
