// SPDX-License-Identifier: Apache-2.0
// Runs the machines of a recipe on any placement of its programs: it does what Trainer does, but
// programs can be exchanged, and observers watch.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <thread>

#include "sinter/base/with_element.hpp"
#include "sinter/comm/communicator.hpp"
#include "sinter/hardware/offload_memory.hpp"
#include "sinter/hardware/stream.hpp"
#include "sinter/run/machine.hpp"
#include "sinter/trainer/core.hpp"
#include "sinter/trainer/view_of.hpp"
#include "support/device.hpp"

namespace sinter::detail::testing {

/// The three programs of a recipe, which may be changed.
struct Programs {
  Program training, evaluation, prediction;
};
inline Programs shipped(const PlanView& plan) {
  auto copy = [](const PlacementView& p) { return Program(p.program.begin(), p.program.end()); };
  return {copy(plan.training), copy(plan.evaluation), copy(plan.prediction)};
}

/// A plan whose programs are placed at run time.
class Placements {
  Programs programs;
  std::vector<Buffer> buffers[3];

  PlacementView placed(const Model& model, const Program& program, std::vector<Buffer>& kept) {
    Placement p = place(model, program);
    kept = p.buffers;
    return {program, kept, p.persistent, p.workspace, p.peak};
  }

 public:
  PlanView plan;

  Placements(const PlanView& from, Programs changed) : programs(std::move(changed)), plan(from) {
    plan.training = placed(plan.model, programs.training, buffers[0]);
    plan.evaluating = plan.model;  // in micro-batches as large as training's, in the same loop
    plan.evaluation_micro = plan.micro;
    plan.evaluation = placed(plan.model, programs.evaluation, buffers[1]);
    plan.prediction = placed(plan.predicting, programs.prediction, buffers[2]);
    plan.memory.total = std::max({plan.training.peak, plan.evaluation.peak, plan.prediction.peak});
  }
  Placements(const Placements&) = delete;
};

/// The number of predictions of a batch.
inline std::int64_t predictions(const HostBatch& batch) {
  if (batch.ids.empty()) return std::int64_t(batch.values[1].size());
  return std::ranges::count_if(batch.ids[1], [](int id) { return id >= 0; });
}

/// One machine for each rank, all from the same fresh weights.
class Ranks {
  const std::shared_ptr<RecipeView> recipe;  // owns the options
  std::vector<Parameter> parameters;
  std::vector<std::unique_ptr<kernel::Stream>> streams;
  std::vector<std::unique_ptr<Communicator>> communicators;
  std::vector<std::unique_ptr<Machine>> machines;

 public:
  const PlanView& plan;
  /// One observer per rank, which is called around every instruction; nullptr for none.
  std::vector<Observer*> observers;

  /// other: what the rank `other_rank` runs, if that is another program.
  Ranks(const PlanView& p, std::shared_ptr<RecipeView> r, int ranks = 1, int threads = 1,
        const PlanView* other = nullptr, int other_rank = 0)
      : recipe(std::move(r)),
        parameters(list_parameters(p.model)),
        plan(p),
        observers(std::size_t(ranks), nullptr) {
    if (ranks == 1) communicators.push_back(single_rank());
    if (ranks > 1) communicators = thread_ranks(ranks);
    for (int k = 0; k < ranks; ++k) {
      streams.push_back(std::make_unique<kernel::Stream>(threads));
      const PlanView& own = other && k == other_rank ? *other : plan;
      machines.push_back(std::make_unique<Machine>(own, parameters, *streams.back(),
                                                   *communicators[std::size_t(k)],
                                                   recipe->policy_options, recipe->policy_states));
      fill_weights(*machines.back());
    }
  }
  Machine& machine(int rank = 0) { return *machines[std::size_t(rank)]; }
  int count() const { return int(machines.size()); }

  /// Takes a step on a global batch. Returns the mean loss over all ranks.
  double train(const HostBatch& batch, std::int64_t step, double learning_rate = 0.05) {
    Work work{.batch = &batch, .step = step, .seed = 7, .learning_rate = learning_rate};
    work.loss_weight = 1 / double(predictions(batch));
    on_all([&](int rank) { machine(rank).train(part(work, rank), observers[std::size_t(rank)]); });
    return machine().measured().loss * work.loss_weight;
  }
  /// Takes a step without a learning rate on micro-batch number k alone of each rank; the loss is weighed
  /// as in a step on the whole batch.
  void train_one(const HostBatch& batch, std::int64_t step, int k) {
    Work work{.batch = &batch, .step = step, .seed = 7};
    work.loss_weight = 1 / double(predictions(batch));
    on_all([&](int rank) {
      Work own = part(work, rank);
      const int first = k * plan.micro;
      own.first_sequence += first;
      own.sequences = std::clamp(own.sequences - first, 0, plan.micro);
      own.max_sequences = std::clamp(own.max_sequences - first, 0, plan.micro);
      machine(rank).train(own);
    });
  }
  /// The sum of the losses of all ranks.
  double evaluate(const HostBatch& batch) {
    Work work{.batch = &batch, .seed = 7};
    on_all(
        [&](int rank) { machine(rank).evaluate(part(work, rank), observers[std::size_t(rank)]); });
    double sum = 0;
    for (auto& m : machines) sum += m->measured().loss;
    return sum;
  }
  /// The first result of rank 0 for a batch of at most one micro-batch; the others predict the same, if it
  /// must hear from them.
  std::vector<std::byte> predict(const HostBatch& batch) {
    const Work work{.batch = &batch, .sequences = batch.sequences()};
    const auto speaks = [](const Instruction& i) { return i.kind->traffic.has_value(); };
    if (std::ranges::any_of(plan.prediction.program, speaks)) {
      on_all([&](int rank) { machine(rank).predict(work, rank == 0 ? observers[0] : nullptr); });
    } else {
      machine().predict(work, observers[0]);
    }
    int rows = 0, columns = 0;
    const OnHost result = machine().result(0, rows, columns);
    const std::byte* at = result.data();
    return {at, at + std::int64_t(rows) * columns * plan.model.sizes.of(Type::compute)};
  }

  /// Everything that lives from step to step: weights, gradients, state, also outside of the arena.
  std::vector<std::byte> persistent(int rank = 0) {
    const OpenMemory open;
    auto arena = machine(rank).arena();
    std::vector<std::byte> all{arena.begin(), arena.begin() + plan.training.persistent};
    OffloadMemory* const offload = machine(rank).parameters().offload();
    if (!offload) return all;
    const std::span<std::byte> bytes = offload->bytes();
    all.insert(all.end(), bytes.begin(), bytes.end());
    return all;
  }

 private:
  Work part(Work work, int rank) const {
    int n = work.batch->sequences();
    work.first_sequence = n * rank / count();
    work.sequences = n * (rank + 1) / count() - work.first_sequence;
    work.max_sequences = (n + count() - 1) / count();
    return work;
  }
  void on_all(const auto& body) {
    std::vector<std::exception_ptr> errors(machines.size());
    auto guarded = [&](int rank) {
      try {
        body(rank);
      } catch (...) {
        errors[std::size_t(rank)] = std::current_exception();
        communicators[std::size_t(rank)]->abort();
      }
    };
    std::vector<std::thread> threads;
    for (int r = 1; r < count(); ++r) threads.emplace_back(guarded, r);
    guarded(0);
    for (std::thread& thread : threads) thread.join();
    for (auto& error : errors)
      if (error) std::rethrow_exception(error);
  }
  void fill_weights(Machine& m) const {
    with_element(plan.model.sizes.element[int(Type::master)], [&]<class T>(T) {
      std::vector<T> values;
      std::int64_t first = 0;  // the same for all ways of padding
      for (const Parameter& p : parameters) {
        values.resize(std::size_t(p.size));
        for (std::int64_t k = 0; k < p.size; ++k)
          values[std::size_t(k)] =
              T((p.init.how == Init::How::ones) + 0.3 * std::sin(double(first + 3 * k) * 1.7));
        first += p.size;
        m.parameters().write(Space::master, p, reinterpret_cast<const std::byte*>(values.data()));
      }
    });
  }
};

}  // namespace sinter::detail::testing
