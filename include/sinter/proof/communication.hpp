// SPDX-License-Identifier: Apache-2.0
// The communication of a rank's program with other ranks, in order.
#pragma once
#include <algorithm>

#include "sinter/program/model.hpp"
#include "sinter/program/walk.hpp"

namespace sinter::detail {

/// The program that one rank runs.
struct RankProgram {
  std::span<const Instruction> program;  ///< all of its instructions
  int iterations = 1;                    ///< number of iterations of its loop
};

/// Where a rank is in its program.
struct RankPlace {
  int rank = -1;      ///< number of the rank
  int position = -1;  ///< position of the instruction; the program's size if the rank is at its end
  int iteration = 0;  ///< iteration of the loop
  constexpr bool operator==(const RankPlace&) const = default;
};

/// The verdict of a simulation of all ranks.
struct WorldVerdict {
  const char* what = nullptr;  ///< the rule that is broken, or nullptr
  RankPlace one, other;        ///< two instructions that do not fit together
  /// True if no rule is broken.
  constexpr bool fine() const { return what == nullptr; }
};

/// One entry of a rank's traffic, and its place in the program.
struct Event {
  Traffic traffic;  ///< as the instruction's kind states it
  int position;     ///< position of the instruction
  int iteration;    ///< iteration of the loop
  constexpr bool operator==(const Event&) const = default;
};

/// The instructions of a program that communicate with other ranks, and its loop. If the step is
/// not applied, instructions that such a step skips are left out.
struct Communication {
  Program instructions;        ///< in their order
  std::vector<int> positions;  ///< their positions in the program

  /// Picks the instructions from a program. applied: true if the step is applied.
  constexpr Communication(std::span<const Instruction> program, bool applied) {
    for (int t = 0; t < int(program.size()); ++t) {
      const Kind& kind = *program[t].kind;
      const bool bound = kind.role == Role::loop || kind.role == Role::end;
      if (!bound && (!kind.traffic || (kind.if_applied && !applied))) continue;
      instructions.push_back(program[t]);
      positions.push_back(t);
    }
  }
  /// Calls visit(event) for each event of the rank `on`, in order.
  template <class Visit>
  constexpr void each_event(const Model& model, OnRank on, Visit visit) const {
    TrafficList list;
    walk(instructions, loop_of(instructions), on.iterations, [&](int t, int iteration) {
      if (!instructions[t].kind->traffic) return;  // an end of the loop
      on.iteration = iteration;
      list.clear();
      (*instructions[t].kind->traffic)(model, instructions[t], on, list);
      for (const Traffic& traffic : list) visit(Event{traffic, positions[t], iteration});
    });
  }
  /// All events of the rank `on`, in order.
  constexpr std::vector<Event> events(const Model& model, OnRank on) const {
    std::vector<Event> list;
    list.reserve(2 * instructions.size());
    each_event(model, on, [&](const Event& event) { list.push_back(event); });
    return list;
  }
};

/// True if the ranks in [first, last), of `ranks` that run one program, have the traffic of rank 0,
/// and all of it is of all ranks. If this holds for all ranks, one stands for all, as it meets the
/// others where it meets itself.
constexpr bool communicate_alike(const Model& model, std::span<const Instruction> program,
                                 int ranks, int iterations, int first, int last,
                                 const Mesh& mesh = {}) {
  const Communication speech(program, true);
  TrafficList one, other;
  bool alike = true;
  walk(speech.instructions, loop_of(speech.instructions), iterations, [&](int t, int iteration) {
    const Instruction& i = speech.instructions[std::size_t(t)];
    if (!alike || !i.kind->traffic) return;
    one.clear();
    (*i.kind->traffic)(model, i, {0, ranks, iteration, iterations, mesh}, one);
    for (const Traffic& traffic : one) alike = alike && !traffic.is_between_two();
    for (int r = first; r < last && alike; ++r) {
      other.clear();
      (*i.kind->traffic)(model, i, {r, ranks, iteration, iterations, mesh}, other);
      alike = one == other;
    }
  });
  return alike;
}

/// True if a rank later waits once for each transfer that it starts, and all axes and roots exist.
/// Ranks that communicate alike need no other check: what one of them starts is next on all, and
/// runs.
constexpr bool awaits_what_it_starts(const Model& model, const RankProgram& rank, int ranks,
                                     bool applied, const Mesh& mesh = {}) {
  const Communication speech(rank.program, applied);
  const Mesh on = mesh.count() == 0 ? data_mesh(ranks) : mesh;
  const int axis_count = on.count();
  std::vector<Traffic> started;
  std::vector<char> awaited;
  started.reserve(4 * speech.instructions.size());
  awaited.reserve(4 * speech.instructions.size());
  std::size_t first = 0;  // first transfer that is not awaited
  bool fine = true;
  speech.each_event(model, {0, ranks, 0, rank.iterations, mesh}, [&](const Event& event) {
    Traffic traffic = event.traffic;
    fine = fine && traffic.axis >= 0 && traffic.axis < axis_count;
    fine = fine && (!traffic.has_peer() ||
                    (traffic.peer >= 0 && traffic.peer < on.axes[std::size_t(traffic.axis)].size));
    const Traffic::Does does = traffic.does;
    if (!fine || does == Traffic::both) return;
    traffic.does = Traffic::starts;
    if (does == Traffic::starts) {
      started.push_back(traffic);
      awaited.push_back(false);
      return;
    }
    std::size_t k = first;
    while (k < started.size() && (awaited[k] || !(started[k] == traffic))) ++k;
    fine = k < started.size();
    if (fine) awaited[k] = true;
    while (first < awaited.size() && awaited[first]) ++first;
  });
  return fine && first == started.size();
}

}  // namespace sinter::detail
