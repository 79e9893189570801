// SPDX-License-Identifier: Apache-2.0
// The run of the programs of all ranks against each other; see simulate.hpp for its purpose.
#pragma once
#include "sinter/proof/communication.hpp"
#include "sinter/proof/queue.hpp"

namespace sinter::detail {

/// Runs the programs of all ranks against each other, in its constructor. If it is timed, a rank
/// computes for Timing::before(rank, event) before an event. A transfer takes Timing::transfer()
/// from the time when all its ranks have started it and have completed the groups before it. A
/// rank's sends within a group run one after the other, and so do its receives. Timing::taken(),
/// from 0 to 1, is the part of a transfer's time in which the rank cannot compute.
template <class Timing = Untimed>
class Simulation {
  static constexpr bool timed = Timing::timed;
  using Times = TransferTimes;
  using Queue = TransferQueue;
  struct Rank {
    std::size_t next = 0;  // index of its next event
    bool in_both = false;  // it has started the next event's transfer, and waits for it
    bool come = false;     // it has computed what is before the next event
    Queue queues[Mesh::max_axes];
    RankTime time;
  };

  const Model& model;
  std::span<const RankProgram> programs;
  const Timing timing;
  /// An axis of the mesh: the number of ranks along it, the number of these that run, and their
  /// distance.
  struct Along {
    int size, run, stride;
  };
  const Mesh mesh;
  const int axis_count = mesh.count();
  Along axes[Mesh::max_axes]{};
  std::vector<Rank> ranks;
  std::vector<std::vector<Event>> said;  // by rank, or once, if all communicate alike
  std::vector<int> changed;              // ranks for which a transfer may have become possible
  std::vector<int> waiting;  // number of ranks whose next transfer is of all, by axis and group

 public:
  WorldVerdict verdict;  ///< the first rule that is broken

  /// applied: true if the step is applied; else instructions that depend on it are skipped. alike:
  /// true if all ranks communicate alike, so that one is enough unless timed. on: the mesh, with as
  /// many ranks as programs; without an axis they are along one.
  constexpr Simulation(const Model& m, std::span<const RankProgram> p, bool applied, bool alike,
                       Timing t = {}, const Mesh& on = {})
      : model(m),
        programs(p),
        timing(t),
        mesh(on.count() == 0 ? data_mesh(int(p.size())) : on),
        ranks(alike && !timed ? 1 : p.size()) {
    for (int axis = 0; axis < axis_count; ++axis) {
      const int size = mesh.axes[std::size_t(axis)].size;
      axes[axis] = {size, count() == 1 ? 1 : size, mesh.stride(axis)};
    }
    // (Clang cannot resize a vector of numbers in a constant.)
    for (int k = 0; k < axis_count * count(); ++k) waiting.push_back(0);
    const int speakers = alike ? 1 : count();
    said.reserve(std::size_t(speakers));
    for (int r = 0; r < speakers; ++r)
      said.push_back(
          Communication(programs[r].program, applied)
              .events(model, {r, int(programs.size()), 0, programs[r].iterations, mesh}));
    for (bool moved = true; moved && verdict.fine();) {
      moved = false;
      for (int r = 0; r < count() && verdict.fine(); ++r) moved |= go_on(r);
    }
    if (verdict.fine()) check_end();
    if constexpr (timed)
      for (int r = 0; r < count(); ++r) ranks[r].time.end += timing.before(r, events(r).size());
  }

  /// The time that a rank takes, if the simulation is timed and the ranks fit together.
  constexpr RankTime time(int rank) const { return ranks[rank].time; }

 private:
  constexpr int count() const { return int(ranks.size()); }
  /// The coordinate of a rank on an axis.
  constexpr int coordinate(int r, int axis) const { return r / axes[axis].stride % axes[axis].run; }
  /// The first rank of the group along an axis that contains rank r.
  constexpr int first_of(int r, int axis) const {
    return r - coordinate(r, axis) * axes[axis].stride;
  }
  constexpr int& waiting_of(int r, int axis) {
    return waiting[axis * count() + (axes[axis].run == 1 ? r : first_of(r, axis))];
  }
  constexpr const std::vector<Event>& events(int r) const { return said[said.size() == 1 ? 0 : r]; }
  constexpr void demand(bool holds, const char* rule, RankPlace one, RankPlace other) {
    if (!holds && verdict.fine()) verdict = {rule, one, other};
  }

  constexpr bool has_axis(const Traffic& traffic) const {
    return traffic.axis >= 0 && traffic.axis < axis_count;
  }

  // ---- the run
  /// Runs a rank until it must wait. Returns true if it has advanced.
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
    if (rank.next == events(r).size())
      for (int axis = 0; axis < axis_count; ++axis) close(r, axis);
    return rank.next > before;
  }
  constexpr void start(int r, const Traffic& traffic) {
    const bool between_two = traffic.is_between_two();
    demand(has_axis(traffic), "names an axis that is not there", place(r), place(r));
    if (!verdict.fine()) return;
    const int there = axes[traffic.axis].size;
    demand(!traffic.has_peer() || (traffic.peer >= 0 && traffic.peer < there),
           "names a rank that is not there", place(r), place(r));
    demand(!between_two || traffic.peer != coordinate(r, traffic.axis),
           "names itself as another rank", place(r), place(r));
    if (!verdict.fine()) return;
    Queue& queue = queue_of(r, traffic.axis);
    queue.start(int(ranks[r].next), between_two);
    if constexpr (timed) queue.times.push_back({ranks[r].time.end});
    if (!between_two) close(r, traffic.axis);
  }
  /// Closes the last group of a rank, and runs all transfers that this makes possible.
  constexpr void close(int r, int axis) {
    if (!queue_of(r, axis).is_open()) return;
    ++queue_of(r, axis).group;
    changed.push_back(r);
    while (!changed.empty() && verdict.fine()) {
      const int next = changed.back();
      changed.pop_back();
      come_to_next(next, axis);
      const Queue& queue = queue_of(next, axis);
      if (queue.meets) {
        run_all(next, axis);
      } else {
        for (std::size_t k = queue.run; k < queue.closed_end(); ++k) run_pair(next, k, axis);
      }
    }
  }
  /// Advances a rank's queue over groups that have run, and updates `waiting`.
  constexpr void come_to_next(int r, int axis) {
    Queue& queue = queue_of(r, axis);
    queue.pass();
    const Event* const event = next(r, axis);
    const bool meets = event && !event->traffic.is_between_two();
    waiting_of(r, axis) += int(meets) - int(queue.meets);
    queue.meets = meets;
  }
  /// Runs rank r's next transfer of all ranks along an axis, if it is next on all of them.
  constexpr void run_all(int r, int axis) {
    const auto [size, run, stride] = axes[axis];
    if (waiting_of(r, axis) < run) return;
    const int first = first_of(r, axis), end = first + run * stride;
    for (int other = first; other < end; other += stride)
      if (other != r && !have_met(r, other, axis)) return;
    Times all;
    if constexpr (timed) {
      for (int k = first; k < end; k += stride) {
        const Queue& queue = queue_of(k, axis);
        all.ready = std::max(all.ready, queue.times[queue.run].since);
        all.end = std::max(all.end, queue.before);
      }
      all.end = std::max(all.ready, all.end) + timing.transfer(next(r, axis)->traffic);
    }
    for (int k = first; k < end; k += stride) {
      Queue& queue = queue_of(k, axis);
      queue.done[queue.run] = true;
      if constexpr (timed) queue.times[queue.run] = all;
      come_to_next(k, axis);
      changed.push_back(k);
    }
  }
  /// Runs a send or a receive of a rank's next group, if its other end is in the peer's next group.
  constexpr void run_pair(int r, std::size_t k, int axis) {
    Queue& mine = queue_of(r, axis);
    const Traffic& traffic = event_of(r, mine, k).traffic;
    const int peer = first_of(r, axis) + traffic.peer * axes[axis].stride;
    const bool sends = traffic.operation == Operation::send;
    const Operation back = sends ? Operation::receive : Operation::send;
    if (mine.done[k] || find(r, axis, traffic.operation, traffic.peer) != k) return;
    Queue& other = queue_of(peer, axis);
    const std::size_t at = find(peer, axis, back, coordinate(r, axis));
    if (at == other.closed_end()) return;
    check_sizes(r, event_of(r, mine, k), peer, event_of(peer, other, at));
    if constexpr (timed) {
      Queue &from = sends ? mine : other, &to = sends ? other : mine;
      Times all;
      all.ready = std::max(mine.times[k].since, other.times[at].since);
      all.end = std::max({all.ready, from.before, to.before, from.sends, to.receives}) +
                timing.transfer(traffic);
      mine.times[k] = other.times[at] = all;
      from.sends = to.receives = all.end;
    }
    mine.done[k] = other.done[at] = true;
    changed.push_back(r);
    changed.push_back(peer);
  }
  /// Index of the first pending operation with `peer` in a rank's next group, or the end of the
  /// group.
  constexpr std::size_t find(int r, int axis, Operation operation, int peer) const {
    const Queue& queue = queue_of(r, axis);
    const std::size_t end = queue.closed_end();
    std::size_t k = queue.run;
    for (; k < end; ++k) {
      const Traffic& traffic = event_of(r, queue, k).traffic;
      if (!queue.done[k] && traffic.operation == operation && traffic.peer == peer) break;
    }
    return k;
  }
  /// Advances the time of a rank that waits for a transfer that has run.
  constexpr void await(RankTime& time, const Times& transfer, const Traffic& traffic) {
    const double before = time.end;
    time.end = std::max(before + timing.taken() * timing.transfer(traffic), transfer.end);
    time.exposed += time.end - before;
    time.late += std::max(0.0, std::min(transfer.ready, time.end) - before);
  }
  constexpr Queue& queue_of(int r, int axis) { return ranks[r].queues[axis]; }
  constexpr const Queue& queue_of(int r, int axis) const { return ranks[r].queues[axis]; }
  constexpr const Event& event_of(int r, const Queue& queue, std::size_t k) const {
    return events(r)[queue.started[k]];
  }
  /// The event of the first transfer in a rank's queue that has not run, or nullptr.
  constexpr const Event* next(int r, int axis) const {
    const Queue& queue = queue_of(r, axis);
    const std::size_t k = queue.first();
    return k < queue.done.size() ? &event_of(r, queue, k) : nullptr;
  }
  /// True if two ranks are at the same transfer of all ranks. Sets the verdict if they are at two
  /// that do not match.
  constexpr bool have_met(int r, int other, int axis) {
    if (!queue_of(r, axis).meets || !queue_of(other, axis).meets) return false;
    const Event &one = *next(r, axis), &two = *next(other, axis);
    check_together(r, one, other, two);
    check_sizes(r, one, other, two);
    return verdict.fine();
  }
  constexpr void check_sizes(int r, const Event& one, int other, const Event& two) {
    const Traffic &a = one.traffic, &b = two.traffic;
    demand(a.element == b.element, "ranks differ in the type", place(r, one), place(other, two));
    demand(a.count == b.count, "ranks differ in the size", place(r, one), place(other, two));
  }
  /// Checks the rules for a transfer of all ranks.
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
  /// True if the transfer for which a rank waits has run. mine: true if it is the last one that it
  /// started.
  constexpr bool has_run(int r, bool mine) {
    const Traffic& wanted = events(r)[ranks[r].next].traffic;
    demand(has_axis(wanted), "names an axis that is not there", place(r), place(r));
    if (!verdict.fine()) return false;
    Queue& queue = queue_of(r, wanted.axis);
    const std::size_t k = mine ? queue.started.size() - 1 : started(r, queue, wanted);
    if (k == queue.started.size()) {
      demand(false, "waits for what it has not started", place(r), later_start(r, wanted));
      return false;
    }
    close(r, wanted.axis);
    if (k >= queue.run || !verdict.fine()) return false;
    queue.awaited[k] = true;
    if constexpr (timed) await(ranks[r].time, queue.times_of_group(k), wanted);
    while (queue.unawaited < queue.run && queue.awaited[queue.unawaited]) ++queue.unawaited;
    return true;
  }
  /// Index in a rank's queue of the first transfer like `wanted` that is not awaited, or the
  /// queue's end.
  constexpr std::size_t started(int r, const Queue& queue, const Traffic& wanted) const {
    std::size_t k = queue.unawaited;
    while (k < queue.started.size() &&
           (queue.awaited[k] || !is_same(events(r)[queue.started[k]].traffic, wanted)))
      ++k;
    return k;
  }
  static constexpr bool is_same(const Traffic& a, const Traffic& b) {
    return a.operation == b.operation && a.space == b.space && a.first == b.first &&
           a.count == b.count && a.element == b.element && a.axis == b.axis && a.peer == b.peer;
  }

  // ---- the verdict
  constexpr RankPlace place(int r, const Event& event) const {
    return {r, event.position, event.iteration};
  }
  /// The place of a rank's next event.
  constexpr RankPlace place(int r) const {
    const Rank& rank = ranks[r];
    if (rank.next == events(r).size()) return {r, int(programs[r].program.size()), 0};
    return place(r, events(r)[rank.next]);
  }
  /// The place where a rank only later starts the transfer for which it waits; the program's end if
  /// nowhere.
  constexpr RankPlace later_start(int r, const Traffic& wanted) const {
    for (std::size_t e = ranks[r].next + 1; e < events(r).size(); ++e)
      if (events(r)[e].traffic.does != Traffic::waits && is_same(events(r)[e].traffic, wanted))
        return place(r, events(r)[e]);
    return {r, int(programs[r].program.size()), 0};
  }
  constexpr void check_end() {
    for (int r = 0; r < count(); ++r) {
      for (int axis = 0; axis < axis_count; ++axis)
        if (const Event* mine = next(r, axis)) return say_who_is_missing(r, *mine);
    }
    for (int r = 0; r < count(); ++r)
      for (const Queue& queue : ranks[r].queues)
        if (queue.unawaited < queue.started.size())
          return demand(false, "started and not waited for",
                        place(r, events(r)[queue.started[queue.unawaited]]), place(r));
  }
  /// Sets the verdict: rank r waits in vain for another rank, at the transfer that blocks its
  /// queue.
  constexpr void say_who_is_missing(int r, const Event& mine) {
    const Traffic& traffic = mine.traffic;
    const int axis = traffic.axis;
    const bool between_two = traffic.is_between_two();
    int other = first_of(r, axis) + (between_two ? traffic.peer * axes[axis].stride : 0);
    if (!between_two) {
      while (other == r || (have_met(r, other, axis) && verdict.fine())) other += axes[axis].stride;
    }
    const bool ended = ranks[other].next == events(other).size();
    demand(false, ended ? "waits for a rank at its end" : "ranks wait for each other",
           place(r, mine), place(other));
  }
};

}  // namespace sinter::detail
