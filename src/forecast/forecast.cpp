// SPDX-License-Identifier: Apache-2.0
#include "sinter/forecast/forecast.hpp"

#include <algorithm>

#include "forecast/require_fit.hpp"

namespace sinter::detail {

PlanForRanks::PlanForRanks(const PlanView& plan, int ranks)
    : layout_(plan.model, ranks, !plan.model.owned.empty()), view_(plan) {
  Model& model = view_.model;
  if (model.shards == 1 || model.shards == ranks) return;
  layout_.apply(model);
  training_ = place(model, plan.training.program);
  view_.training = {plan.training.program, training_.buffers, training_.persistent,
                    training_.workspace, training_.peak};
  const auto peak = [&](Model other, const PlacementView& program) {
    layout_.apply_sizes(other);
    return place(other, program.program).peak;
  };
  // As in the recipe's own plan, evaluation counts in the micro-batches of training.
  const std::int64_t total = std::max(
      {training_.peak, peak(plan.model, plan.evaluation), peak(plan.predicting, plan.prediction)});
  view_.memory = memory_of(model, view_.training, total, plan.optimizer);
}

namespace {

/// The work of a rank in a step, without communication.
struct RankWork {
  /// An instruction that moves what lives outside of the device's memory, or waits for it.
  struct Offloading {
    double before;  // what is computed since the one before, or since the last event
    OffloadStep step;
  };
  /// The time between an event and the previous one.
  struct Interval {
    std::size_t offload_end;  // the instructions that do so, up to here
    double behind;            // computation after them
  };
  std::vector<Offloading> offload;
  std::vector<Interval> intervals;  // before each event, and behind the last
  double sent = 0;                  // bytes
};

/// The transfers of a rank's offloaded state, over time.
struct RankOffload {
  OffloadQueues queues;
  double waited = 0;
};

/// The costs of a step on all ranks, as a simulation asks for them.
struct StepTiming {
  static constexpr bool timed = true;
  std::span<const RankWork> work;  // by rank, or once if all communicate alike
  std::span<RankOffload> offload;  // by rank; empty if nothing is offloaded
  bool at_root;                    // only what root_rank has lives there
  int ranks;
  const WorldCosts& costs;

  /// What a rank does before an event. How long that takes hangs on when it begins, as it may wait for what
  /// is fetched meanwhile: so it is added to a clock.
  struct Before {
    const StepTiming& timing;
    int rank;
    std::size_t event;

    friend double& operator+=(double& clock, const Before& b) { return b.add_to(clock); }

   private:
    double& add_to(double& clock) const {
      const RankWork& mine = timing.work[timing.work.size() == 1 ? 0 : std::size_t(rank)];
      const double slower = rank == timing.ranks - 1 ? timing.costs.straggler : 1;
      const RankWork::Interval& interval = mine.intervals[event];
      for (std::size_t k = event == 0 ? 0 : mine.intervals[event - 1].offload_end;
           k < interval.offload_end; ++k) {
        clock += slower * mine.offload[k].before;
        if (timing.at_root && rank != root_rank) continue;
        RankOffload& there = timing.offload[std::size_t(rank)];
        const double come = clock;
        clock = there.queues.run(mine.offload[k].step, come);
        there.waited += clock - come;
      }
      return clock += slower * interval.behind;
    }
  };
  Before before(int rank, std::size_t event) const { return {*this, rank, event}; }
  double transfer(const Traffic& traffic) const {
    return transfer_seconds(traffic, ranks, costs.link);
  }
  double taken() const { return costs.taken; }
};

RankWork work_of(const PlanView& plan, OnRank on, std::span<const double> seconds,
                 std::span<const OffloadStep> offload) {
  RankWork work;
  TrafficList list;
  double so_far = 0;
  const std::span<const Instruction> program = plan.training.program;
  const auto end_interval = [&] {
    work.intervals.push_back({work.offload.size(), so_far});
    so_far = 0;
  };
  walk(program, loop_of(program), on.iterations, [&](int t, int iteration) {
    const Instruction& i = program[std::size_t(t)];
    so_far += seconds[std::size_t(t)];
    if (const OffloadStep& step = offload[std::size_t(t)]; step.any()) {
      work.offload.push_back({so_far, step});
      so_far = 0;
    }
    if (!i.kind->traffic) return;
    on.iteration = iteration;
    list.clear();
    (*i.kind->traffic)(plan.model, i, on, list);
    for (const Traffic& traffic : list) {
      end_interval();
      if (traffic.does != Traffic::waits) work.sent += sent_bytes(traffic, on.ranks);
    }
  });
  end_interval();
  return work;
}

}  // namespace

Forecast forecast(const PlanForRanks& plan, int ranks, const WorldCosts& costs,
                  std::span<const double> seconds) {
  const PlanView& view = plan.view();
  const std::span<const Instruction> program = view.training.program;
  const int iterations = costs.micro_batches;
  const bool alike = communicate_alike(view.model, program, ranks, iterations, 1, ranks);
  const std::vector<OffloadStep> offload = offload_steps(view);
  std::vector<RankWork> work;
  const int speakers = alike ? 1 : ranks;
  for (int r = 0; r < speakers; ++r)
    work.push_back(work_of(view, {r, ranks, 0, iterations}, seconds, offload));
  std::vector<RankOffload> outside;
  if (view.model.has_offload()) outside.assign(std::size_t(ranks), {OffloadQueues(costs.offload)});
  const std::vector<RankProgram> programs(std::size_t(ranks), RankProgram{program, iterations});
  const StepTiming timing{work, outside, view.model.at_root(), ranks, costs};
  const Simulation world(view.model, programs, true, alike, timing);
  require_fit(view.model, program, ranks, iterations, world.verdict);
  Forecast result;
  for (const RankWork& rank : work) result.sent += rank.sent;
  result.sent /= speakers;
  for (const RankWork::Offloading& moves : work[0].offload) {
    result.fetched += moves.step.fetched;
    result.stored += moves.step.stored;
  }
  if (!outside.empty()) result.offload = outside[0].waited;
  for (int r = 0; r < ranks; ++r) result.step = std::max(result.step, world.time(r).end);
  const RankTime usual = world.time(0);
  result.computing = usual.end - usual.exposed - result.offload;
  result.exposed = result.step - result.computing - result.offload;
  result.late = usual.late + result.step - usual.end;
  return result;
}

}  // namespace sinter::detail
