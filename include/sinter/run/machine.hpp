// SPDX-License-Identifier: Apache-2.0
// One rank at work: its arena, the programs it runs, and its interface to kinds of instruction.
#pragma once
#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "sinter/hardware/memory.hpp"
#include "sinter/hardware/stream.hpp"
#include "sinter/kernels/decision.hpp"
#include "sinter/layer/context.hpp"
#include "sinter/plan/parameter.hpp"
#include "sinter/policy/slots.hpp"
#include "sinter/program/model.hpp"
#include "sinter/run/step_figures.hpp"

namespace sinter {

class Communicator;
struct HostBatch;

namespace detail {
struct BoundProgram;
class OffloadMemory;
class TrafficCheck;
struct PlanView;

/// A slice of parameters that an optimizer treats alike.
struct UniformSlice : FlatSlice {
  bool decayed;          ///< true if weight decay acts on them
  double learning_rate;  ///< factor of the step's learning rate
};

/// A layer call with the addresses of its operands, ready to run.
struct BoundCall {
  void (*run)(const Call&);  ///< the layer's function of the call's phase
  Call call;                 ///< its operands' addresses
};
}  // namespace detail

/// An instruction with the addresses of its buffers, ready to run.
struct Bound {
  const Instruction* instruction;            ///< the instruction that is bound
  void (*run)(Machine&, const Bound&);       ///< Kind::run
  const detail::BoundCall* calls = nullptr;  ///< the layer calls that it makes
  int count = 0;                             ///< number of layer calls
  void* value = nullptr;  ///< address of the first value that it touches; null if it touches none
  /// Addresses of the buffers that it touches, as often and in the order that its kind states; null
  /// for one that lives through all steps.
  std::byte* const* at = nullptr;
};

namespace detail {
/// What a Machine is to do: one step, evaluation or prediction, on a part of a batch.
struct Work {
  const HostBatch* batch = nullptr;       ///< the global batch
  int first_sequence = 0, sequences = 0;  ///< this rank's part
  /// Sequences of the largest part of any rank, or 0 without other ranks. All ranks run the micro-batches
  /// that this takes, even if empty, because an instruction in the loop may wait for all ranks.
  int most_sequences = 0;
  std::int64_t step = 0;     ///< the current step, from 1
  std::uint64_t seed = 0;    ///< seed of dropout
  double loss_weight = 0;    ///< 1 / (predictions of the whole global batch)
  double loss_scale = 1;     ///< the factor that gradients are multiplied by
  double learning_rate = 0;  ///< of the step, including all factors
  double rate_factor = 1;    ///< the product of all factors but the optimizer's own rate
  kernel::Votes votes{};     ///< this rank's votes
  /// In an evaluation: this rank's number of predictions, to be summed over ranks.
  std::int64_t predictions = 0;
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
}  // namespace detail

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
  /// Predicts at most one micro-batch.
  void predict(const detail::Work&, detail::Observer* = nullptr);
  /// Receives values of rows × columns in the compute type.
  using TakeRows = std::function<void(const detail::OnHost& values, int rows, int columns)>;
  /// Predicts for each row of at most one micro-batch (TrainerCore::predict_rows()).
  /// throws    ArgumentError if the model's predict() does not allow it
  void predict_rows(const detail::Work&, const TakeRows&);

  /// Sum over all ranks of the losses of the last train() or evaluate().
  double loss_sum() const { return measured_.loss; }
  /// Sum over ranks of the votes cast in the last train() or evaluate() (Work::votes); equal on all ranks.
  const kernel::Votes& votes() const { return measured_.votes; }
  /// Sums at most 3 values over the ranks, once all ranks have called this.
  void sum_over_ranks(std::span<double> values);
  /// Sum over all ranks of Work::predictions in the last evaluate().
  std::int64_t predictions() const { return std::int64_t(measured_.predictions); }
  /// The figures of the last train().
  StepFigures figures() const {
    return {measured_.loss * work_.loss_weight, measured_.norm, measured_.applied != 0};
  }
  /// Returns result number k of the last prediction: rows × columns in the compute type, one row
  /// for each row of its axis.
  detail::OnHost result(int k, int& rows, int& columns);

  // The interface to kinds of instruction.
  const detail::PlanView& plan() const { return plan_; }  ///< the plan that the machine runs
  /// The model that is trained.
  const Model& model() const;
  /// The model of the program that runs: model(), or one that evaluates or predicts.
  /// requires  a program has begun
  const Model& program_model() const;
  /// The parameters of a unit.
  std::span<const detail::Parameter> parameters_of(int unit) const;
  /// The stream of optimizers and all other work outside of layers.
  kernel::Stream& stream() { return stream_; }
  /// This rank's communicator, for the traffic that the instruction's kind states (Kind::traffic).
  Communicator& communicator();
  /// What layer calls on the current micro-batch have in common.
  const detail::Now& now() const { return now_; }
  /// The learning rate of the current step, including all factors.
  double learning_rate() const { return work_.learning_rate; }
  /// The product of all factors of learning_rate() but the optimizer's own rate.
  double rate_factor() const { return work_.rate_factor; }
  /// The factor that the gradients of this step are multiplied by.
  double loss_scale() const { return work_.loss_scale; }
  /// The factor that turns the sum of this step's losses into their mean over the global batch.
  double loss_weight() const { return work_.loss_weight; }
  /// Number of updates since the weights were fresh, which optimizers use for bias correction.
  std::int64_t updates() const { return updates_; }
  /// Sets the number of updates, as when a checkpoint is restored.
  void set_updates(std::int64_t updates) { updates_ = updates; }
  /// The measurements of this step so far, in the device's memory, for kernels.
  kernel::Decision* decision() const { return decision_; }
  /// Computes the norm of all gradients and sums the losses of all ranks. From both follows the
  /// decision: whether the step is applied, and the factor and the bound of gradients. Ranks that share the
  /// update add squares of their shards, and sum these, too; else each rank has all gradients.
  void take_norm(const kernel::ClippingRule& rule);
  /// Adds the losses of a unit to the decision's.
  void take_loss(const Bound&);
  /// Copies the next micro-batch from the batch into the inputs, and pads it.
  void load_micro_batch();
  /// Fills the master weights with zeros on the threads that will update them: a page of memory is
  /// placed near the thread that touches it first.
  void clear_masters();
  /// Makes a slice of the copy of the weights from the master weights, if there is a copy. Must be
  /// called after master weights change other than by a step.
  /// requires  master weights are not split; also for masters_changed()
  void cast_weights(detail::FlatSlice slice);
  /// cast_weights() of all master weights.
  void masters_changed();
  /// Converts `size` master weights to weights as layers read them.
  void make_weights(const std::byte* masters, std::byte* to, std::int64_t size);

  /// A flat buffer; empty if the plan does not have it. T is std::byte or the type of its elements.
  /// requires  space is master, weights, gradient, running or a region
  /// throws    Error if the elements are of another type, or of several, as in a region with shapes
  template <class T>
  kernel::Flat<T> flat(Space space) const {
    const FlatBuffer& buffer = flat_[std::size_t(space)];
    if constexpr (!std::is_same_v<T, std::byte>)
      if (buffer.data && (buffer.element != element_of<T> || buffer.has_shapes))
        refuse(buffer, element_of<T>);
    return {reinterpret_cast<T*>(buffer.data), buffer.bytes / std::int64_t(sizeof(T))};
  }
  /// Where an element of a flat buffer lies; null in a region with shapes.
  /// requires  the plan has the buffer
  std::byte* address_in_flat(Space space, std::int64_t element) const {
    const FlatBuffer& buffer = flat_[std::size_t(space)];
    return buffer.has_shapes ? nullptr : buffer.data + element * detail::bytes_of(buffer.element);
  }
  /// A parameter's part of a persistent space.
  struct Part {
    std::byte* data;           ///< the first byte
    detail::StateShape shape;  ///< its rows, columns and type
  };
  /// throws    Error if the space is temporary or offloaded, or is split (Model::splits) and the parameter is
  ///           trained and not owned by this rank
  Part part(Space space, const detail::Parameter& parameter) const;
  /// The shape of all of a parameter's values in a space; without elements if it has none in it.
  detail::StateShape shape(Space space, const detail::Parameter& parameter) const;
  /// True if a parameter has no owner (Model::owned), or this rank is its owner.
  bool owns(const detail::Parameter& parameter) const;
  /// A part of a parameter's elements that a rank has in a space.
  struct Piece {
    std::int64_t begin, size;  ///< range in the parameter, or in its state in the space
    std::int64_t held;         ///< index of the first in the space
  };
  /// This rank's elements of a parameter: all of them or, if the space is split, or holds gradients of
  /// a split model, those in its shards.
  std::vector<Piece> pieces(Space space, const detail::Parameter& parameter) const;
  /// True if the space's values of a parameter are offloaded from the arena (Model::is_offloaded).
  bool is_offloaded(Space space, const detail::Parameter& parameter) const {
    return model().is_offloaded(space) && !parameter.frozen;
  }
  /// Start of the memory that holds `space` between steps for parameters stored like this one: in the arena,
  /// or offloaded, where the host may read and write it, in the same layout. Null if another rank does all
  /// updates.
  /// requires  no step is running, if the space is offloaded; also for kept_part()
  std::byte* kept(Space space, const detail::Parameter& parameter);
  /// A parameter's part of the memory at kept().
  /// requires  the rank has it, and it is not split, or the rank owns it
  Part kept_part(Space space, const detail::Parameter& parameter);
  /// Offset in bytes of an offloaded space in offload().
  std::int64_t offloaded_at(Space space) const { return flat_[std::size_t(space)].offloaded_at; }
  /// The memory for offloaded state.
  /// requires  has_offload(): state is offloaded, and this rank updates
  detail::OffloadMemory& offload() { return *offload_; }
  bool has_offload() const { return offload_ != nullptr; }  ///< true if offload() exists
  /// A parameter's part of its unit's state in a region with shapes, where the unit's state begins at `unit`.
  Part part_of_unit(Space space, const detail::Parameter& parameter, std::byte* unit) const;
  /// Writes a parameter's values into this rank's elements of a space and, if they are master
  /// weights, into the copy.
  ///   values   all values of the parameter, in the layout of part(); also for take()
  void put(Space space, const detail::Parameter& parameter, const std::byte* values);
  /// Copies this rank's elements of a parameter to their places among all its values.
  void take(Space space, const detail::Parameter& parameter, std::byte* values);
  /// Gives the host access to a part.
  detail::OnHost on_host(const Part& part, detail::Access access) {
    return {stream_, part.data, part.shape.bytes(), access};
  }
  /// The shared workspace, for an instruction whose kind asks for it.
  std::byte* workspace() const { return flat_address(Space::workspace); }
  /// The decayed or undecayed parameters of `count` consecutive units in Model::order.
  detail::FlatSlice flat_slice(int first, int count, bool decayed) const;
  /// This rank's slices of `count` consecutive units in Model::order: of each unit the decayed part, then
  /// the undecayed part, or what the rank owns of them. Some are empty.
  std::span<const detail::ShardSlice> shards(int first, int count) const {
    const std::size_t begin = first_shards_[std::size_t(first)];
    return std::span(shards_).subspan(begin, first_shards_[std::size_t(first + count)] - begin);
  }
  /// All trained parameters, in order, cut wherever their treatment by the optimizer changes.
  std::span<const detail::UniformSlice> uniform_slices() const { return uniform_slices_; }
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
  /// All memory of this rank.
  std::span<std::byte> arena() const { return arena_.bytes(); }

 private:
  struct Programs;  // the plan's three programs, bound (src/run/binder.hpp)
  /// A part of the arena that lives through all steps; empty if the plan does not have it.
  struct FlatBuffer {
    std::byte* data = nullptr;
    std::int64_t bytes = 0;
    Element element{};
    bool has_shapes = false;        // each parameter has a shape of its own
    std::int64_t offloaded_at = 0;  // offset in the offloaded memory, if it is offloaded
    const char* name = "";
  };

  std::byte* flat_address(Space space) const { return flat_[std::size_t(space)].data; }
  /// Offset in bytes of a parameter's values in a space that is not split.
  std::int64_t place_in(Space space, const detail::Parameter& parameter) const;
  void each_held(Space space, const detail::Parameter& parameter, detail::Access access,
                 const auto& visit);
  void find_flat_buffers();
  void find_offload_memory(std::string folder);
  void find_shards();
  /// throws    Error, for a buffer that is read as elements of another type
  [[noreturn]] static void refuse(const FlatBuffer&, Element);
  static const void* find(const std::vector<detail::OptionsOf>& list, const void* slot);
  void begin(const detail::Work&, bool training);
  void run(detail::BoundProgram&, detail::Observer*);
  std::array<float, kernel::Votes::count> own_votes() const;
  void clear_decision();
  void put_predictions(std::int64_t predictions);
  std::byte* decision_bytes() const { return reinterpret_cast<std::byte*>(decision_); }
  void read_decision();
  void run_all(detail::BoundProgram&, int iterations, detail::Observer*);
  void run_tail(detail::BoundProgram&, detail::Observer*);
  /// The rows of a micro-batch on an axis of tokens.
  struct MicroBatch {
    int first, last;  // sequences of the batch
    std::int32_t first_row;
    int rows, padding;
  };
  MicroBatch micro_batch(int iteration, int axis) const;
  bool second_axis_is_first() const;
  const std::int32_t* show_starts(int axis, std::span<const std::int32_t> starts);
  void load_starts();
  void execute(detail::BoundProgram&, int position, detail::Observer*);
  void pass_over(detail::BoundProgram&, int position);
  void run_observed(const Bound&, int position, detail::Observer&);

  const detail::PlanView& plan_;
  const std::vector<detail::Parameter>& parameters_;
  kernel::Stream& stream_;
  kernel::Stream layers_stream_;  // the same threads, for layer calls
  Communicator& communicator_;
  std::unique_ptr<detail::TrafficCheck>
      traffic_check_;  // of the communicator, in builds with assertions
  std::vector<detail::OptionsOf> options_, states_;
  std::vector<detail::UniformSlice> uniform_slices_;
  std::vector<detail::ShardSlice> shards_;
  std::vector<std::size_t> first_shards_;  // of each unit in Model::order, and the end
  detail::DeviceMemory arena_;
  std::unique_ptr<detail::OffloadMemory> offload_;  // for offloaded state
  std::array<std::vector<std::int32_t>, detail::token_axes> starts_;
  std::vector<std::int32_t> pooled_starts_;
  detail::DeviceMemory starts_memory_;  // for kernels that cannot read the host's memory
  const std::int32_t* pooled_starts_shown_ = nullptr;
  detail::Now now_;
  detail::Work work_;
  kernel::Decision measured_;  // by the last train() or evaluate(), on the host
  int position_ = 0;           // of the current instruction in the program
  std::int64_t updates_ = 0;
  std::unique_ptr<Programs> programs_;
  std::vector<FlatBuffer> flat_;  // by space
  kernel::Decision* decision_ = nullptr;
};

}  // namespace sinter
