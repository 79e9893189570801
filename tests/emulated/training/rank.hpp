// SPDX-License-Identifier: Apache-2.0
// What a rank does in the tests of ranks that have a device each.
#pragma once
#include "emulated/training/steps.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/parallel/split_batch.hpp"
#include "sinter/parallel/zero.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing {

template <int Ranks, class Precision = Fp32, int Micro = 1>
using Shared = Made<TinyGpt, UpTo<context, vocabulary>, Batch<{.global = 4, .micro = Micro}>,
                    AdamW<{.lr = 1e-2, .weight_decay = .1}>, Precision, Cuda<>,
                    Ddp<{.bucket_bytes = 10'000, .ranks = Ranks}>>;

template <int Ranks, class Precision, int Stage = 1>
using Shards = Made<TinyGpt, UpTo<context, vocabulary>, Batch<{.global = 4, .micro = 1}>,
                    AdamW<{.lr = 1e-2, .weight_decay = .1}>, Precision, Cuda<>,
                    Zero<{.stage = Stage, .bucket_bytes = 10'000, .ranks = Ranks}>>;

template <int Ranks, class Precision>
using AtRoot =
    Made<TinyGpt, UpTo<context, vocabulary>, Batch<{.global = 4, .micro = 1}>,
         AdamW<{.lr = 1e-2, .weight_decay = .1}>, Precision, Cuda<>, SplitBatch<{.ranks = Ranks}>>;

/// What some steps of a rank leave.
struct Trace {
  std::vector<Measured> steps;
  std::vector<kernel::Votes> votes;  // of all ranks, in each of them
  double evaluated = 0;              // a sum of losses, after them
  NamedNumbers parameters;
  bool operator==(const Trace&) const = default;
};

/// What a rank says in a step.
inline kernel::Votes votes_of(int rank, int step) {
  return {.stop = double(rank == 1 && step >= 3),
          .save = double(rank == 0 && step == 2),
          .done = double(step == 3 || step == rank),
          .failed = double(rank == 1 && step == 4)};
}

template <class R>
Trace train(const World& world, bool graph = true) {
  Trainer<R> trainer({.seed = 3, .threads = 1, .world = world});
  LaunchesDirectly observer;
  if (!graph) trainer.observe({&observer});
  Trace trace;
  for (int s = 0; s < 6; ++s) {
    trainer.vote(votes_of(world.rank, s));
    trace.steps.push_back(take_step(trainer, s));
    trace.votes.push_back(trainer.votes());
  }
  trace.evaluated = trainer.evaluate(batch_of(1)).sum;
  if (world.rank == 0 || !trainer.plan().model.at_root()) trace.parameters = parameters_of(trainer);
  return trace;
}

}  // namespace sinter::detail::testing
