// SPDX-License-Identifier: Apache-2.0
// What people read of a simulation of all ranks, and for which numbers of ranks a compiler makes it.
#pragma once
#include <array>

#include "sinter/program/subject.hpp"
#include "sinter/proof/simulate.hpp"

namespace sinter {

/// For these numbers of ranks recipes with ranks are proved when they compile. That for the actual number is
/// made when a trainer is.
inline constexpr std::array proved_ranks{2, 3, 4, 8};

/// What a rank does at a place of its program, as "reduce of h.0 to h.3, in micro-batch 2". (Clang shows
/// texts in errors that are ASCII.)
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

}  // namespace sinter
