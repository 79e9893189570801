// SPDX-License-Identifier: Apache-2.0
// The contestants of bench/optimizers.cpp that are ours, and which peers each of them meets.
#pragma once
#include <functional>
#include <limits>

#include "contest.hpp"
#include "recipes.hpp"

namespace sinter::detail::bench {

constexpr double lr = 1e-3, weight_decay = 0.1, momentum = 0.9, max_norm = 1.0;

/// A recipe whose step has only one sequence, so that it does little beside the update.
template <Gpt2Options Shape, class Optimizer>
struct tuned : Recipe<Gpt2<Shape>, Tokens<Shape.positions, Shape.vocabulary>, Optimizer,
                      ClipNorm<{.max = max_norm}>, Batch<{.global = 1, .micro = 1}>> {};

struct OptimizerPeer {
  const char *name, *word;  // for the table; on the command line of bench/peers/optimizers.py
  double tolerance;         // how far apart the updates of a first step may be
};

struct OptimizerContest {
  std::string name;
  Gpt2Options shape;
  int steps;  // of a round
  TrainerCore (*trainer)(TrainerSettings);
  std::vector<OptimizerPeer> peers;
};

/// Tolerances. Weights are rounded by 6e-5 of a change of 1e-3 to a weight of 1, and by more where
/// an update divides by a small root. Muon's peer rounds to bf16.
inline constexpr double same = 1e-3, bf16 = 5e-2;

template <Gpt2Options Shape>
void add_contests(std::vector<OptimizerContest>& all, const std::string& shape, int steps) {
  auto add = [&]<class Optimizer>(Optimizer, const char* name, std::vector<OptimizerPeer> peers) {
    all.push_back({name + (", " + shape), Shape, steps, make_trainer<tuned<Shape, Optimizer>>,
                   std::move(peers)});
  };
  add(AdamW<{.lr = lr, .weight_decay = weight_decay}>(), "AdamW",
      {{"torch AdamW, fused", "adamw", same}, {"torch AdamW, compiled", "adamw-compiled", same}});
  add(Adam<{.lr = lr}>(), "Adam", {{"torch Adam, fused", "adam", same}});
  add(Sgd<{.lr = lr, .momentum = momentum}>(), "SGD with momentum",
      {{"torch SGD, fused", "sgd", same}});
  add(Sgd<{.lr = lr, .momentum = momentum, .nesterov = true}>(), "SGD, Nesterov",
      {{"torch SGD, fused", "nesterov", same}});
  add(Adafactor<{.lr = lr}>(), "Adafactor", {{"transformers Adafactor", "adafactor", same}});
  add(Adafactor<{.lr = lr, .scale_parameter = true}>(), "Adafactor, scaled by parameters",
      {{"torch Adafactor, foreach", "torch-adafactor", same}});
  constexpr MuonOptions muon{
      .lr = lr, .weight_decay = weight_decay, .adamw_lr = lr, .adamw_weight_decay = weight_decay};
  constexpr MuonOptions rounded = [](MuonOptions o) { return o.rounded = true, o; }(muon);
  add(Muon<muon>(), "Muon", {{"torch Muon in fp32, fused AdamW", "muon-fp32", same}});
  add(Muon<rounded>(), "Muon, inputs of products rounded",
      {{"torch Muon (bf16), fused AdamW", "muon", bf16},
       {"the same, Muon compiled", "muon-compiled", bf16}});
  add(AdamW8bit<{.lr = lr, .weight_decay = weight_decay}>(), "AdamW8bit",
      {{"bitsandbytes AdamW8bit", "adamw8bit", same}});
  add(Lion<{.lr = lr, .weight_decay = weight_decay}>(), "Lion",
      {{"bitsandbytes Lion", "lion", same}});
  // The others have no peer yet.
  using Raced = PolicyList<AdamW<>, Adam<>, Sgd<>, Adafactor<>, Muon<>, AdamW8bit<>, Lion<>>;
  for_each_policy(OthersThan<Raced, shipped::optimizer>(),
                  [&]<class P>(P*) { add(P(), short_type_name<P>().c_str(), {}); });
}

inline const std::vector<OptimizerContest>& optimizer_contests() {
  static const std::vector<OptimizerContest> contests = [] {
    std::vector<OptimizerContest> all;
    add_contests<{.layers = 4, .heads = 8, .width = 256, .vocabulary = 256, .positions = 128}>(
        all, "GPT 256 wide, 4 layers, bytes", 5);
    add_contests<{.layers = 6, .heads = 8, .width = 512, .vocabulary = 4096, .positions = 128}>(
        all, "GPT 512 wide, 6 layers, vocabulary 4096", 2);
    return all;
  }();
  return contests;
}

/// Takes a step, which must be applied.
inline void step_of(TrainerCore& trainer, const OptimizerContest& w, std::uint64_t number) {
  HostBatch batch;
  add_sequence(batch, kernel::mix(number), w.shape.positions, w.shape.vocabulary);
  if (!std::holds_alternative<Applied>(trainer.step(batch)))
    throw Error("A step of " + w.name + " was skipped.");
}

/// Measures what a step does after its micro-batches: clipping and the update.
class AfterLoop final : public Observer {
  using Clock = std::chrono::steady_clock;
  int end = 0;  // where the loop over micro-batches ends
  Clock::time_point began;

 public:
  double milliseconds = 0;

  explicit AfterLoop(std::span<const Instruction> program) {
    while (program[std::size_t(end)].kind->role != Role::end) ++end;
  }
  void before(const Machine&, int, int) override { began = Clock::now(); }
  void after(const Machine&, int position, int) override {
    if (position <= end) return;
    milliseconds += std::chrono::duration<double, std::milli>(Clock::now() - began).count();
  }
};

/// Runs the contestant that the command line names: bench_optimizers --contestant NUMBER THREADS.
inline void contest_of_optimizer(std::size_t number, int threads) {
  const OptimizerContest& w = optimizer_contests().at(number);
  TrainerCore trainer = w.trainer({.seed = 1, .threads = threads});
  AfterLoop timer(trainer.plan().training.program);
  trainer.observe({&timer});
  std::printf("FACT state %.17g\n",
              double(trainer.plan().memory.optimizer) / double(trainer.plan().parameters));
  std::uint64_t batch = 0;
  serve(w.steps, [&](int steps) {
    timer.milliseconds = 0;
    for (int s = 0; s < steps; ++s) step_of(trainer, w, batch++);
    return Round{timer.milliseconds / steps, 0};
  });
}

}  // namespace sinter::detail::bench
