// SPDX-License-Identifier: Apache-2.0
// The programs of all ranks, run against each other as far as they speak to each other: at compile time
// for a few numbers of ranks, and for the actual one when a trainer is made.
//
// As in NCCL there is one queue for each communicator, of which each axis of the mesh has one, in order: a transfer runs when it is the next one on
// all ranks that take part. Sends and receives that follow each other, with no wait and no other transfer
// between, are a group, and together are the next one: they run beside each other, each when its other end
// is next, too, but none before a wait or another transfer comes after them. Who starts a transfer goes on
// at once, who waits for it stands still until all of its group has run. Nobody receives from whoever comes
// first, so that one run shows what every run does: if it ends, none can hang. (That is what every
// Communicator does at least. Those on the CPU do more.)
#pragma once
#include "sinter/proof/simulation.hpp"

namespace sinter {

/// Says whether these programs of all ranks fit together, whether or not the step is applied, or the first
/// rule that they break and where.
///   alike   whether all ranks speak alike, see speak_alike()
///   mesh    of the ranks; without an axis they are along one
[[nodiscard]] constexpr WorldVerdict simulate(const Model& model,
                                              std::span<const RankProgram> programs,
                                              bool alike = false, const Mesh& mesh = {}) {
  const auto run = [&](bool applied) {
    // One of ranks that are alike is soon checked. What is wrong with it the simulation says.
    if (alike && awaits_what_it_starts(model, programs[0], int(programs.size()), applied, mesh))
      return WorldVerdict{};
    return Simulation<>(model, programs, applied, alike, {}, mesh).verdict;
  };
  const WorldVerdict verdict = run(true);
  if (!verdict.fine()) return verdict;
  for (const RankProgram& rank : programs.first(alike ? 1 : programs.size()))
    for (const Instruction& i : rank.program)
      if (i.kind->if_applied && i.kind->traffic) return run(false);
  return verdict;
}

/// Says so of ranks that all run the same program, with as many iterations.
[[nodiscard]] constexpr WorldVerdict simulate(const Model& model,
                                              std::span<const Instruction> program, int ranks,
                                              int iterations, bool alike) {
  const std::vector<RankProgram> programs(std::size_t(ranks), RankProgram{program, iterations});
  return simulate(model, programs, alike);
}
/// Finds out itself whether they speak alike.
[[nodiscard]] constexpr WorldVerdict simulate(const Model& model,
                                              std::span<const Instruction> program, int ranks,
                                              int iterations) {
  return simulate(model, program, ranks, iterations,
                  speak_alike(model, program, ranks, iterations, 1, ranks));
}

/// The iterations of a loop that show everything: one, and two, where ranks speak before the last.
constexpr int telling_iterations(std::span<const Instruction> program) {
  const LoopBounds bounds = loop_of(program);
  for (int t = bounds.begin + 1; t < bounds.end; ++t)
    if (program[t].when != When::last && program[t].kind->traffic) return 2;
  return 1;
}

}  // namespace sinter
