// SPDX-License-Identifier: Apache-2.0
// The order of execution of a program.
#pragma once
#include "sinter/program/kind.hpp"

namespace sinter::detail {

/// Positions of the instructions that begin and end a program's loop over micro-batches; both are
/// -1 in a program without a complete loop.
struct LoopBounds {
  int begin = -1, end = -1;  ///< positions of `loop` and `end`
  /// True if a position is inside the loop.
  constexpr bool contains(int position) const { return position > begin && position < end; }
};

/// Finds the first loop of a program.
constexpr LoopBounds loop_of(std::span<const Instruction> program) {
  LoopBounds bounds;
  for (int t = 0; t < int(program.size()); ++t) {
    const Role role = program[t].kind->role;
    if (role == Role::loop && bounds.begin < 0) bounds.begin = t;
    if (role == Role::end && bounds.begin >= 0) {
      bounds.end = t;
      return bounds;
    }
  }
  return {};
}

/// Calls visit(position, iteration) for each instruction, in the order of execution. The iteration
/// is 0 outside the loop.
template <class Visit>
constexpr void walk(std::span<const Instruction> program, LoopBounds bounds, int iterations,
                    Visit visit) {
  auto run = [&](int from, int to, int iteration, int last) {
    // A bit for each When, set if this iteration skips its instructions: one test for each
    // instruction.
    const unsigned skipped = unsigned(iteration != 0) << unsigned(When::first) |
                             unsigned(iteration != last) << unsigned(When::last);
    for (int t = from; t < to; ++t)
      if ((skipped >> unsigned(program[t].when) & 1) == 0) visit(t, iteration);
  };
  run(0, bounds.begin + 1, 0, 0);
  for (int k = 0; k < iterations; ++k) run(bounds.begin + 1, bounds.end + 1, k, iterations - 1);
  run(bounds.end + 1, int(program.size()), 0, 0);
}

/// Calls visit(position, iteration) for two iterations of the loop, which show everything: the
/// first, and a last one that follows another.
template <class Visit>
constexpr void walk(std::span<const Instruction> program, Visit visit) {
  walk(program, loop_of(program), 2, visit);
}

}  // namespace sinter::detail
