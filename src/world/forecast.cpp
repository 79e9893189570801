// SPDX-License-Identifier: Apache-2.0
#include "sinter/world/forecast.hpp"

#include <algorithm>

#include "world/misfit.hpp"

namespace sinter {

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

/// The costs of a step on all ranks, as a simulation asks for them.
struct StepTiming {
  static constexpr bool timed = true;
  std::span<const std::vector<double>> computing;  // by rank and event, or once, if all speak alike
  int ranks;
  const WorldCosts& costs;

  double before(int rank, std::size_t event) const {
    const double slower = rank == ranks - 1 ? costs.straggler : 1;
    return slower * computing[computing.size() == 1 ? 0 : std::size_t(rank)][event];
  }
  double transfer(const Traffic& traffic) const {
    return transfer_seconds(traffic, ranks, costs.link);
  }
  double taken() const { return costs.taken; }
};

/// What a rank computes before each of its events, and behind the last; adds what it sends.
std::vector<double> between_events(const PlanView& plan, OnRank on, std::span<const double> seconds,
                                   double& sent) {
  std::vector<double> computing;
  TrafficList list;
  double so_far = 0;
  const std::span<const Instruction> program = plan.training.program;
  walk(program, loop_of(program), on.iterations, [&](int t, int iteration) {
    const Instruction& i = program[std::size_t(t)];
    so_far += seconds[std::size_t(t)];
    if (!i.kind->traffic) return;
    on.iteration = iteration;
    list.clear();
    (*i.kind->traffic)(plan.model, i, on, list);
    for (const Traffic& traffic : list) {
      computing.push_back(so_far);
      so_far = 0;
      if (traffic.does != Traffic::waits) sent += sent_bytes(traffic, on.ranks);
    }
  });
  computing.push_back(so_far);
  return computing;
}

}  // namespace

Forecast forecast(const PlanForRanks& plan, int ranks, const WorldCosts& costs,
                  std::span<const double> seconds) {
  const PlanView& view = plan.view();
  const std::span<const Instruction> program = view.training.program;
  const int iterations = costs.micro_batches;
  const bool alike = speak_alike(view.model, program, ranks, iterations, 1, ranks);
  std::vector<std::vector<double>> computing;
  double sent = 0;
  const int speakers = alike ? 1 : ranks;
  for (int r = 0; r < speakers; ++r)
    computing.push_back(between_events(view, {r, ranks, 0, iterations}, seconds, sent));
  const std::vector<RankProgram> programs(std::size_t(ranks), RankProgram{program, iterations});
  const Simulation world(view.model, programs, true, alike, StepTiming{computing, ranks, costs});
  require_fit(view.model, program, ranks, iterations, world.verdict);
  Forecast result;
  result.sent = sent / speakers;
  for (int r = 0; r < ranks; ++r) result.step = std::max(result.step, world.time(r).end);
  const RankTime usual = world.time(0);
  result.computing = usual.end - usual.exposed;
  result.exposed = result.step - result.computing;
  result.late = usual.late + result.step - usual.end;
  return result;
}

}  // namespace sinter
