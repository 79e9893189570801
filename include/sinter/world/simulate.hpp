// SPDX-License-Identifier: Apache-2.0
// The programs of all ranks, run against each other as far as they speak to each other: at compile time
// for a few numbers of ranks, and for the actual one when a trainer is made.
//
// As in NCCL there is one queue for each communicator, in order: a transfer runs when it is the next one on
// all ranks that take part. Who starts it goes on at once, who waits for it stands still until it has run.
// Nobody receives from whoever comes first, so that one run shows what every run does: if it ends, none
// can hang.
#pragma once
#include <algorithm>

#include "sinter/program/model.hpp"
#include "sinter/program/walk.hpp"

namespace sinter {

/// What one rank runs.
struct RankProgram {
  std::span<const Instruction> program;  ///< all of its instructions
  int iterations = 1;                    ///< of its loop
};

/// Where a rank is in its program.
struct RankPlace {
  int rank = -1;      ///< which one
  int position = -1;  ///< of the instruction; behind the last one if the rank has come to its end
  int iteration = 0;  ///< of the loop
  constexpr bool operator==(const RankPlace&) const = default;
};

/// What the simulation says of all ranks together.
struct WorldVerdict {
  const char* what = nullptr;  ///< the rule that is broken, or nullptr
  RankPlace one, other;        ///< two instructions that do not fit together
  /// Whether no rule is broken.
  constexpr bool fine() const { return what == nullptr; }
};

/// One thing that a rank says, and where in its program.
struct Event {
  Traffic traffic;  ///< as its kind states it
  int position;     ///< of the instruction
  int iteration;    ///< of the loop
  constexpr bool operator==(const Event&) const = default;
};

/// The instructions of a program that speak to other ranks, in their loop. Without `applied`, those that a
/// step passes over that is not applied are left out.
struct Speech {
  Program instructions;        ///< in their order
  std::vector<int> positions;  ///< of these in the program

  /// Picks them from a program.
  constexpr Speech(std::span<const Instruction> program, bool applied) {
    for (int t = 0; t < int(program.size()); ++t) {
      const Kind& kind = *program[t].kind;
      const bool bound = kind.role == Role::loop || kind.role == Role::end;
      if (!bound && (!kind.traffic || (kind.if_applied && !applied))) continue;
      instructions.push_back(program[t]);
      positions.push_back(t);
    }
  }
  /// Calls visit(event) for all that a rank says.
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
  /// All that a rank says.
  constexpr std::vector<Event> events(const Model& model, OnRank on) const {
    std::vector<Event> list;
    list.reserve(2 * instructions.size());
    each_event(model, on, [&](const Event& event) { list.push_back(event); });
    return list;
  }
};

/// Whether of so many ranks that run the same program those from `first` to before `last` say what the rank
/// 0 says, and all of it to all. If all ranks do, one of them stands for all, as each meets the others where
/// it meets itself.
constexpr bool speak_alike(const Model& model, std::span<const Instruction> program, int ranks,
                           int iterations, int first, int last) {
  const Speech speech(program, true);
  const std::vector<Event> events = speech.events(model, {0, ranks, 0, iterations});
  for (const Event& event : events)
    if (event.traffic.is_between_two()) return false;
  bool alike = true;
  for (int r = first; r < last && alike; ++r) {
    std::size_t next = 0;
    speech.each_event(model, {r, ranks, 0, iterations}, [&](const Event& event) {
      alike = alike && next < events.size() && events[next] == event;
      ++next;
    });
    alike = alike && next == events.size();
  }
  return alike;
}

/// The timing of a simulation that asks only whether ranks fit together. Simulation says what that of one
/// has which also asks how long they take.
struct Untimed {
  static constexpr bool timed = false;  ///< nothing takes time
};

/// How long a rank takes, in seconds.
struct RankTime {
  double end = 0;      ///< until it has come to its end
  double exposed = 0;  ///< of that, in which it does not compute, for communication
  double late = 0;     ///< of that, until the slowest rank has come
};

/// Runs the programs of all ranks against each other, when it is made. Where it is timed, a rank computes
/// between two events, which takes Timing::before(rank, event); a transfer takes Timing::transfer(), from
/// when all ranks have started it and have none before it; and of that Timing::taken(), from 0 to 1, is time
/// in which the rank cannot compute.
template <class Timing = Untimed>
class Simulation {
  static constexpr bool timed = Timing::timed;
  struct Times {  // of a transfer
    double since = 0, ready = 0, end = 0;
  };
  /// What a rank has started on one communicator.
  struct Queue {
    std::vector<int> started;  // events, in order
    std::vector<char> awaited;
    std::vector<Times> times;   // of a timed simulation
    std::size_t run = 0;        // so many have run
    std::size_t unawaited = 0;  // the first that is not awaited
  };
  struct Rank {
    std::size_t next = 0;  // of its events
    bool in_both = false;  // it has started the next event, and waits for it
    bool come = false;     // it has computed what is before the next event
    Queue queues[mesh_axes];
    RankTime time;
  };

  const Model& model;
  std::span<const RankProgram> programs;
  const Timing timing;
  std::vector<Rank> ranks;
  std::vector<std::vector<Event>> said;  // by rank, or once, if all speak alike
  int waiting[mesh_axes]{};              // ranks that have started what has not run

 public:
  WorldVerdict verdict;  ///< the first rule that is broken

  /// applied: whether the step is, or what hangs on that is passed over. alike: whether all ranks speak
  /// alike, so that one is enough, unless times are asked for.
  constexpr Simulation(const Model& m, std::span<const RankProgram> p, bool applied, bool alike,
                       Timing t = {})
      : model(m), programs(p), timing(t), ranks(alike && !timed ? 1 : p.size()) {
    const int speakers = alike ? 1 : count();
    said.reserve(std::size_t(speakers));
    for (int r = 0; r < speakers; ++r)
      said.push_back(Speech(programs[r].program, applied)
                         .events(model, {r, int(programs.size()), 0, programs[r].iterations}));
    for (bool moved = true; moved && verdict.fine();) {
      moved = false;
      for (int r = 0; r < count() && verdict.fine(); ++r) moved |= go_on(r);
    }
    if (verdict.fine()) check_end();
    if constexpr (timed)
      for (int r = 0; r < count(); ++r) ranks[r].time.end += timing.before(r, events(r).size());
  }

  /// How long a rank takes, if it is timed, and the ranks fit together.
  constexpr RankTime time(int rank) const { return ranks[rank].time; }

 private:
  constexpr int count() const { return int(ranks.size()); }
  constexpr const std::vector<Event>& events(int r) const { return said[said.size() == 1 ? 0 : r]; }
  constexpr void demand(bool holds, const char* rule, RankPlace one, RankPlace other) {
    if (!holds && verdict.fine()) verdict = {rule, one, other};
  }

  // ---- the run
  /// Runs a rank until it must wait. Returns whether it has come any further.
  constexpr bool go_on(int r) {
    Rank& rank = ranks[r];
    const std::size_t before = rank.next;
    for (; rank.next < events(r).size() && verdict.fine(); ++rank.next) {
      const Traffic& traffic = events(r)[rank.next].traffic;
      const bool both = traffic.does == Traffic::both;
      if constexpr (timed) {
        if (!rank.come) rank.time.end += timing.before(r, rank.next);
        rank.come = both || traffic.does == Traffic::waits;
      }
      if (traffic.does != Traffic::waits && !rank.in_both) start(r, traffic);
      rank.in_both = both;
      if (traffic.does == Traffic::starts) continue;
      if (!verdict.fine() || !has_run(r, both)) break;
      rank.in_both = rank.come = false;
    }
    return rank.next > before;
  }
  constexpr void start(int r, const Traffic& traffic) {
    const bool between_two = traffic.is_between_two();
    demand(!traffic.has_peer() || (traffic.peer >= 0 && traffic.peer < int(programs.size())),
           "names a rank that is not there", place(r), place(r));
    demand(!between_two || traffic.peer != r, "names itself as another rank", place(r), place(r));
    if (!verdict.fine()) return;
    Queue& queue = ranks[r].queues[int(traffic.axis)];
    queue.started.push_back(int(ranks[r].next));
    queue.awaited.push_back(false);
    if constexpr (timed) queue.times.push_back({ranks[r].time.end});
    waiting[int(traffic.axis)] += queue.run + 1 == queue.started.size();
    while (run_first(r, traffic.axis)) {
    }
  }
  /// Runs the first transfer in a rank's queue if all that take part have come to it.
  constexpr bool run_first(int r, MeshAxis axis) {
    const Event* mine = first(r, axis);
    if (!mine || !verdict.fine()) return false;
    if (mine->traffic.is_between_two()) {
      const int peer = mine->traffic.peer;
      if (!have_met(r, peer, axis)) return false;
      run_on(2, [=](int k) { return k == 0 ? r : peer; }, axis, mine->traffic);
      return true;
    }
    if (waiting[int(axis)] < count()) return false;
    for (int other = 0; other < count(); ++other)
      if (other != r && !have_met(r, other, axis)) return false;
    run_on(count(), [](int k) { return k; }, axis, mine->traffic);
    return true;
  }
  /// Runs the first transfer in the queues of so many ranks, of which number k is of(k).
  template <class Of>
  constexpr void run_on(int members, Of of, MeshAxis axis, const Traffic& traffic) {
    Times all;
    if constexpr (timed) {
      for (int k = 0; k < members; ++k) {
        const Queue& queue = ranks[of(k)].queues[int(axis)];
        all.ready = std::max(all.ready, queue.times[queue.run].since);
        if (queue.run > 0) all.end = std::max(all.end, queue.times[queue.run - 1].end);
      }
      all.end = std::max(all.ready, all.end) + timing.transfer(traffic);
    }
    for (int k = 0; k < members; ++k) {
      Queue& queue = ranks[of(k)].queues[int(axis)];
      if constexpr (timed) queue.times[queue.run] = all;
      ++queue.run;
      waiting[int(axis)] -= queue.run == queue.started.size();
    }
  }
  /// Lets a rank wait for a transfer that has run.
  constexpr void await(RankTime& time, const Times& transfer, const Traffic& traffic) {
    const double before = time.end;
    time.end = std::max(before + timing.taken() * timing.transfer(traffic), transfer.end);
    time.exposed += time.end - before;
    time.late += std::max(0.0, std::min(transfer.ready, time.end) - before);
  }
  /// The first event in a rank's queue that has not run, or nullptr.
  constexpr const Event* first(int r, MeshAxis axis) const {
    const Queue& queue = ranks[r].queues[int(axis)];
    return queue.run < queue.started.size() ? &events(r)[queue.started[queue.run]] : nullptr;
  }
  /// Whether two ranks are at the same transfer. If they are at two that can never become one, this is the
  /// verdict.
  constexpr bool have_met(int r, int other, MeshAxis axis) {
    const Event *one = first(r, axis), *two = first(other, axis);
    if (!one || !two) return false;
    const Traffic &a = one->traffic, &b = two->traffic;
    if (a.is_between_two()) {
      if (!b.is_between_two() || a.operation == b.operation || b.peer != r) return false;
    } else {
      if (b.is_between_two()) return false;
      check_together(r, *one, other, *two);
    }
    demand(a.element == b.element, "ranks differ in the type", place(r, *one), place(other, *two));
    demand(a.count == b.count, "ranks differ in the size", place(r, *one), place(other, *two));
    return verdict.fine();
  }
  /// Rules of what all ranks do together.
  constexpr void check_together(int r, const Event& one, int other, const Event& two) {
    const Traffic &a = one.traffic, &b = two.traffic;
    const RankPlace here = place(r, one), there = place(other, two);
    demand(a.operation == b.operation, "ranks differ in the operation", here, there);
    const Instruction &i = programs[r].program[one.position],
                      &j = programs[other].program[two.position];
    demand(i.kind == j.kind && i.what == j.what && i.count == j.count,
           "ranks differ in the instruction", here, there);
    demand(one.iteration == two.iteration, "ranks differ in the micro-batch", here, there);
    demand(a.space == b.space && a.first == b.first, "ranks differ in the array", here, there);
    demand(a.peer == b.peer, "ranks differ in the root", here, there);
  }
  /// Whether what a rank waits for has run. `mine`: it is the last that it has started.
  constexpr bool has_run(int r, bool mine) {
    const Traffic& wanted = events(r)[ranks[r].next].traffic;
    Queue& queue = ranks[r].queues[int(wanted.axis)];
    const std::size_t k = mine ? queue.started.size() - 1 : started(r, queue, wanted);
    if (k == queue.started.size()) {
      demand(false, "waits for what it has not started", place(r), later_start(r, wanted));
      return false;
    }
    if (k >= queue.run) return false;
    queue.awaited[k] = true;
    if constexpr (timed) await(ranks[r].time, queue.times[k], wanted);
    while (queue.unawaited < queue.run && queue.awaited[queue.unawaited]) ++queue.unawaited;
    return true;
  }
  /// Where in its queue a rank has started this, and not waited for it yet; the queue's end if nowhere.
  constexpr std::size_t started(int r, const Queue& queue, const Traffic& wanted) const {
    std::size_t k = queue.unawaited;
    while (k < queue.started.size() &&
           (queue.awaited[k] || !is_same(events(r)[queue.started[k]].traffic, wanted)))
      ++k;
    return k;
  }
  static constexpr bool is_same(const Traffic& a, const Traffic& b) {
    return a.operation == b.operation && a.space == b.space && a.first == b.first &&
           a.count == b.count && a.element == b.element && a.peer == b.peer;
  }

  // ---- what is said of it
  constexpr RankPlace place(int r, const Event& event) const {
    return {r, event.position, event.iteration};
  }
  /// Where a rank is.
  constexpr RankPlace place(int r) const {
    const Rank& rank = ranks[r];
    if (rank.next == events(r).size()) return {r, int(programs[r].program.size()), 0};
    return place(r, events(r)[rank.next]);
  }
  /// Where a rank starts, later on, what it waits for already; its end if nowhere.
  constexpr RankPlace later_start(int r, const Traffic& wanted) const {
    for (std::size_t e = ranks[r].next + 1; e < events(r).size(); ++e)
      if (events(r)[e].traffic.does != Traffic::waits && is_same(events(r)[e].traffic, wanted))
        return place(r, events(r)[e]);
    return {r, int(programs[r].program.size()), 0};
  }
  constexpr void check_end() {
    for (int r = 0; r < count(); ++r) {
      for (int axis = 0; axis < mesh_axes; ++axis)
        if (const Event* mine = first(r, MeshAxis(axis))) return say_who_is_missing(r, *mine);
    }
    for (int r = 0; r < count(); ++r)
      for (const Queue& queue : ranks[r].queues)
        if (queue.unawaited < queue.started.size())
          return demand(false, "started and not waited for",
                        place(r, events(r)[queue.started[queue.unawaited]]), place(r));
  }
  /// Says which rank one waits for in vain, at the transfer that holds up its queue.
  constexpr void say_who_is_missing(int r, const Event& mine) {
    const Traffic& traffic = mine.traffic;
    int other = traffic.peer;
    if (!traffic.is_between_two()) {
      other = 0;
      while (other == r || have_met(r, other, traffic.axis)) ++other;
    }
    const bool ended = ranks[other].next == events(other).size();
    demand(false, ended ? "waits for a rank at its end" : "ranks wait for each other",
           place(r, mine), place(other));
  }
};

/// Says whether these programs of all ranks fit together, whether or not the step is applied, or the first
/// rule that they break and where. `alike`: whether all ranks speak alike, see speak_alike().
[[nodiscard]] constexpr WorldVerdict simulate(const Model& model,
                                              std::span<const RankProgram> programs,
                                              bool alike = false) {
  const WorldVerdict verdict = Simulation<>(model, programs, true, alike).verdict;
  if (!verdict.fine()) return verdict;
  for (const RankProgram& rank : programs.first(alike ? 1 : programs.size()))
    for (const Instruction& i : rank.program)
      if (i.kind->if_applied && i.kind->traffic)
        return Simulation<>(model, programs, false, alike).verdict;
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
