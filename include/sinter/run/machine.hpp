// SPDX-License-Identifier: Apache-2.0
// One rank at work: its arena, the programs it runs, and its interface to kinds of instruction.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sinter/policy/slots.hpp"
#include "sinter/run/inputs.hpp"
#include "sinter/run/parameter_store.hpp"
#include "sinter/run/step_figures.hpp"

namespace sinter {

class Communicator;

namespace detail {
class TrafficCheck;

/// A layer call with the addresses of its operands, ready to run.
struct BoundCall {
  void (*run)(const Call&);  ///< the layer's function of the call's phase
  Call call;                 ///< its operands' addresses
};

/// Sees every instruction before and after it runs, and every layer call after it; for tests and
/// profilers. Not called for instructions that a micro-batch without sequences skips. `position` is
/// the instruction's place in the program; `call` counts the instruction's layer calls from 0.
class Observer {
 public:
  virtual ~Observer() = default;
  /// Called before the instruction at `position` runs in this iteration of the loop.
  virtual void before(const Machine&, int position, int iteration) = 0;
  /// Called when one of the instruction's layer calls has returned.
  virtual void after_call(const Machine&, int /*position*/, int /*call*/) {}
  /// Called when the instruction at `position` has run.
  virtual void after(const Machine&, int position, int iteration) = 0;
};

/// Computes the norm of all gradients and sums the losses of all ranks. From both follows the
/// decision: whether the step is applied, and the factor and the bound of gradients. Ranks that
/// share the update add squares of their shards, and sum these, too; else each rank has all
/// gradients.
void take_norm(Machine& machine, const kernel::ClippingRule& rule);
}  // namespace detail

/// An instruction with the addresses of its buffers, ready to run.
struct Bound {
  const Instruction* instruction;            ///< the instruction that is bound
  void (*run)(Machine&, const Bound&);       ///< Kind::run
  const detail::BoundCall* calls = nullptr;  ///< the layer calls that it makes
  int count = 0;                             ///< number of layer calls
  void* value = nullptr;  ///< address of the first value that it touches; null if it touches none
  /// Addresses of the buffers that the instruction touches, in the order of its kind's touches. The
  /// address of a buffer that lives through all steps is null: Machine::flat() has it.
  std::byte* const* at = nullptr;
};

/// Runs the programs of a plan. Not for users: a Trainer owns machines.
/// requires  plan and what it points to, parameters (list_parameters() of its model), stream,
///           communicator, options and states outlive the machine
class Machine {
 public:
  ///   offload_folder   folder of the file for state that a policy offloads to disk (OffloadMemory)
  Machine(const detail::PlanView& plan, const std::vector<detail::Parameter>& parameters,
          kernel::Stream& stream, Communicator& communicator,
          std::vector<detail::OptionsOf> options, std::vector<detail::OptionsOf> states = {},
          std::string offload_folder = {});
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// Takes one training step on this rank's part of a batch, in micro-batches.
  /// requires  the batch fits the plan (check_batch); also for the next two functions
  void train(const detail::Work&, detail::Observer* = nullptr);
  /// Computes the losses of this rank's part, which may be empty, in micro-batches. Sums them and
  /// Work::predictions over the ranks.
  void evaluate(const detail::Work&, detail::Observer* = nullptr);
  /// Predicts at most one micro-batch. The encoder does not run if there is Work::encoded.
  /// requires  with Work::encoded: the plan is a generator's, and its encoder has one encoded_value()
  void predict(const detail::Work&, detail::Observer* = nullptr);
  /// Adds one row to each text of a batch, of a plan that continues texts; predict() adds rows to one.
  void decode(const detail::Work&, detail::Observer* = nullptr);
  /// Receives values of rows × columns in the compute type.
  using TakeRows = std::function<void(const detail::OnHost& values, int rows, int columns)>;
  /// Predicts for each row of at most one micro-batch (TrainerCore::predict_rows()).
  /// throws    ArgumentError if the model's predict() does not allow it
  void predict_rows(const detail::Work&, const TakeRows&);
  /// Returns result number k of the last prediction or decode(): rows × columns in the compute type,
  /// one row for each row of its axis.
  detail::OnHost result(int k, int& rows, int& columns);
  /// The decision of the last train() or evaluate(). Losses, votes and predictions are sums over
  /// all ranks, and equal on them.
  const kernel::Decision& measured() const { return measured_; }
  /// The figures of the last train().
  StepFigures figures() const {
    return {measured_.loss * loss_weight(), measured_.norm, measured_.applied != 0};
  }
  /// Number of targets of this rank's part whose logit was the largest, in the last evaluate().
  /// requires  it counted them (Work::counts_right)
  std::int64_t right() { return inputs_.right(); }
  /// Sums values over the ranks, once all ranks have called this.
  void sum_over_ranks(std::span<double> values);
  /// Sets the number of updates, as when a checkpoint is restored.
  void set_updates(std::int64_t updates) { updates_ = updates; }
  /// All memory of this rank.
  std::span<std::byte> arena() const { return arena_.bytes(); }

  // The interface to kinds of instruction.
  const detail::PlanView& plan() const { return plan_; }  ///< the plan that the machine runs
  /// The model that is trained.
  const Model& model() const { return parameters_.model(); }
  /// The model of the program that runs: model(), or one that evaluates or predicts.
  /// requires  a program has begun
  const Model& program_model() const;
  /// The stream of optimizers and all other work outside of layers.
  kernel::Stream& stream() { return stream_; }
  /// This rank's communicator, for the traffic that the instruction's kind states (Kind::traffic).
  Communicator& communicator();
  /// What this rank stores of parameters, gradients and policies' state.
  detail::ParameterStore& parameters() { return parameters_; }
  const detail::ParameterStore& parameters() const { return parameters_; }  ///< to read
  /// The micro-batches of the work at hand.
  detail::Inputs& inputs() { return inputs_; }
  /// What layer calls on the current micro-batch have in common.
  const detail::Now& now() const { return inputs_.now(); }
  /// The learning rate of the current step, including all factors.
  double learning_rate() const { return inputs_.work().learning_rate; }
  /// The product of all factors of learning_rate() but the optimizer's own rate.
  double rate_factor() const { return inputs_.work().rate_factor; }
  /// The factor that the gradients of this step are multiplied by.
  double loss_scale() const { return inputs_.work().loss_scale; }
  /// The factor that turns the sum of this step's losses into their mean over the global batch.
  double loss_weight() const { return inputs_.work().loss_weight; }
  /// Number of updates since the weights were fresh, which optimizers use for bias correction.
  std::int64_t updates() const { return updates_; }
  /// The measurements of this step so far, in the device's memory, for kernels.
  kernel::Decision* decision() const { return decision_; }
  /// A flat buffer; empty if the plan does not have it. T is std::byte or the type of its elements.
  /// requires  space is master, weights, gradient, running or a region
  /// throws    Error if the elements are of another type, or of several, as in a region with shapes
  template <class T>
  kernel::Flat<T> flat(Space space) const {
    return parameters_.flat<T>(space);
  }
  /// The shared workspace, for an instruction whose kind asks for it.
  std::byte* workspace() const { return parameters_.flat<std::byte>(Space::workspace); }
  /// The run-time options of the policy P.
  /// throws    Error if the recipe has no options in the policy's slot
  template <class P>
  const typename P::Options& options() const {
    return *static_cast<const typename P::Options*>(find(options_, &tag_of<typename P::slot>));
  }
  /// The run state of the policy P, as it was before the step.
  /// throws    Error if the recipe has no run state in the policy's slot
  template <class P>
  const typename P::State& state() const {
    return *static_cast<const typename P::State*>(find(states_, &tag_of<typename P::slot>));
  }

 private:
  struct Programs;  // the plan's programs, bound (src/run/binder.hpp)

  static const void* find(const std::vector<detail::OptionsOf>& list, const void* slot);
  void begin(const detail::Work&, detail::BoundProgram&, bool training);
  void run(detail::Observer*);
  void run_all(detail::Observer*);
  void run_tail(detail::BoundProgram&, detail::Observer*);
  void run_behind_encoder();
  void execute(detail::BoundProgram&, const Bound&, int position, detail::Observer*);
  void skip(detail::BoundProgram&, int position);
  void run_observed(const Bound&, int position, detail::Observer&);

  const detail::PlanView& plan_;
  kernel::Stream& stream_;
  Communicator& communicator_;
  std::unique_ptr<detail::TrafficCheck> traffic_check_;  // in builds with assertions
  std::vector<detail::OptionsOf> options_, states_;
  detail::DeviceMemory arena_;
  detail::ParameterStore parameters_;
  detail::Inputs inputs_;
  std::unique_ptr<Programs> programs_;
  kernel::Decision* const decision_;
  kernel::Decision measured_;  // on the host
  int position_ = 0;           // of the current instruction in the program
  std::int64_t updates_ = 0;
};

}  // namespace sinter
