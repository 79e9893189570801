// SPDX-License-Identifier: Apache-2.0
// Messages of a simulation of all ranks, and the numbers of ranks for which a compiler runs it.
#pragma once
#include <array>

#include "sinter/program/subject.hpp"
#include "sinter/proof/simulate.hpp"

namespace sinter::detail {

/// The numbers of ranks for which a recipe with ranks is proved when it compiles. A trainer proves
/// its actual number when it is made.
inline constexpr std::array proved_ranks{2, 3, 4, 8};

/// Describes what a rank does at a place of its program, as "reduce of h.0 to h.3, in micro-batch
/// 2". (In errors Clang shows only texts that are ASCII.)
constexpr TextBuilder place_letters(const Model& model, std::span<const Instruction> program,
                                    RankPlace place) {
  TextBuilder text;
  if (place.position >= int(program.size())) {
    text += "the end";
    return text;
  }
  const Instruction& i = program[std::size_t(place.position)];
  text += i.kind->name;
  const TextBuilder subject = subject_letters(model, i, " to ");
  if (!subject.view().empty()) (text += " of ") += subject.view();
  if (loop_of(program).contains(place.position))
    (text += ", in micro-batch ") += std::int64_t(place.iteration) + 1;
  return text;
}

}  // namespace sinter::detail
