// The order of execution of a program.
#pragma once
#include "sinter/program/kind.hpp"

namespace sinter {

/// Calls visit(position, iteration) in the order of execution, with two iterations of the loop:
/// they show everything, the first, and the last after another. Every loop is run at least once.
template <class Visit>
constexpr void walk(std::span<const Instruction> program, Visit visit) {
  int begin = -1, iteration = 0, last = 0;
  for (int t = 0; t < int(program.size()); ++t) {
    const Instruction& i = program[t];
    if (i.when == When::first && iteration != 0) continue;
    if (i.when == When::last && iteration != last) continue;
    if (i.kind->role == Role::loop) {
      begin = t;
      last = 1;
    }
    visit(t, iteration);
    if (i.kind->role != Role::end || begin < 0) continue;
    if (++iteration <= last) {
      t = begin;
    } else {
      begin = -1;
      iteration = last = 0;
    }
  }
}

}  // namespace sinter
