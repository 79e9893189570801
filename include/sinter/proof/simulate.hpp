// SPDX-License-Identifier: Apache-2.0
// The programs of all ranks, run against each other as far as they communicate: at compile time for
// a few numbers of ranks, and for the actual number when a trainer is made.
//
// As in NCCL each communicator has one queue in order, and each axis of the mesh has one
// communicator. A transfer runs when it is next on all ranks that take part. Consecutive sends and
// receives, with no wait and no other transfer between them, are a group, and are next together.
// They run concurrently, each when its other end is next, too, but not before a wait or another
// transfer follows the group. A rank that starts a transfer continues at once; a rank that waits
// for one blocks until its whole group has run. Every receive names its sender. So one run shows
// what every run does: if it ends, none can hang. (Every Communicator guarantees this much. Those
// on the CPU do more.)
#pragma once
#include "sinter/proof/simulation.hpp"

namespace sinter::detail {

/// Simulates the programs of all ranks, for a step that is applied and for one that is not. Returns
/// the first rule that they break and where; no rule if they fit together.
///   alike   true if all ranks communicate alike, see communicate_alike()
///   mesh    mesh of the ranks; without an axis they are along one
[[nodiscard]] constexpr WorldVerdict simulate(const Model& model,
                                              std::span<const RankProgram> programs,
                                              bool alike = false, const Mesh& mesh = {}) {
  const auto run = [&](bool applied) {
    // If ranks are alike, checking one is fast. If the check fails, the simulation finds the rule.
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

/// Simulates ranks that all run one program, with the same number of iterations.
[[nodiscard]] constexpr WorldVerdict simulate(const Model& model,
                                              std::span<const Instruction> program, int ranks,
                                              int iterations, bool alike) {
  const std::vector<RankProgram> programs(std::size_t(ranks), RankProgram{program, iterations});
  return simulate(model, programs, alike);
}
/// Simulates ranks that all run one program, and finds out whether they communicate alike.
[[nodiscard]] constexpr WorldVerdict simulate(const Model& model,
                                              std::span<const Instruction> program, int ranks,
                                              int iterations) {
  return simulate(model, program, ranks, iterations,
                  communicate_alike(model, program, ranks, iterations, 1, ranks));
}

/// Maximum iterations of the loop that must be simulated: 2 if ranks communicate before the last
/// one, else 1.
constexpr int telling_iterations(std::span<const Instruction> program) {
  const LoopBounds bounds = loop_of(program);
  for (int t = bounds.begin + 1; t < bounds.end; ++t)
    if (program[t].when != When::last && program[t].kind->traffic) return 2;
  return 1;
}

}  // namespace sinter::detail
