// SPDX-License-Identifier: Apache-2.0
// One rank at work: its arena, its walk through programs, and what kinds of instruction see of it.
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

class AwayMemory;
class Communicator;
class TrafficCheck;
struct PlanView;
struct HostBatch;

/// A slice in which all parameters are treated alike.
struct UniformSlice : FlatSlice {
  bool decayed;          ///< whether weight decay acts on them
  double learning_rate;  ///< a factor of the step's
};

/// A layer call with its addresses.
struct BoundCall {
  void (*run)(const Call&);
  Call call;
};

/// An instruction with its addresses.
struct Bound {
  const Instruction* instruction;
  void (*run)(Machine&, const Bound&);
  const BoundCall* calls = nullptr;  ///< the layer calls that it makes
  int count = 0;
  void* value = nullptr;  ///< address of the first value that it touches, if it touches any
  /// Where the buffers are that it touches, as often and in the order as its kind says; null where one
  /// lives through all steps.
  std::byte* const* at = nullptr;
};

/// One step, evaluation or prediction, on a part of a batch.
struct Work {
  const HostBatch* batch = nullptr;       ///< the global batch
  int first_sequence = 0, sequences = 0;  ///< this rank's part
  /// Of the largest part of a rank, or 0 if there are no others: all ranks have as many micro-batches, of
  /// which the last may be empty. (An instruction in the loop may wait for all ranks.)
  int most_sequences = 0;
  std::int64_t step = 0;     ///< the one being taken, from 1
  std::uint64_t seed = 0;    ///< of dropout
  double loss_weight = 0;    ///< 1 / (predictions of the whole global batch)
  double loss_scale = 1;     ///< what the gradients are multiplied by
  double learning_rate = 0;  ///< of the step, all factors included
  double rate_factor = 1;    ///< the part of learning_rate that is not the optimizer's own
  kernel::Votes votes{};     ///< this rank's
  /// Of an evaluation: how many this rank adds to what ranks count together.
  std::int64_t predictions = 0;
};

/// Sees every instruction before and after it runs, and every layer call after it; for tests and
/// profilers. It does not see those that a micro-batch without sequences passes over. `position` is
/// that of the instruction in the program; `call` counts the instruction's layer calls from 0.
class Observer {
 public:
  virtual ~Observer() = default;
  /// Called before the instruction at `position` runs in this iteration of the loop.
  virtual void before(const Machine&, int position, int iteration) = 0;
  /// Called when one of its layer calls has returned.
  virtual void after_call(const Machine&, int /*position*/, int /*call*/) {}
  /// Called when it has run.
  virtual void after(const Machine&, int position, int iteration) = 0;
};

/// Runs the programs of a plan. It is not for users: a Trainer owns machines.
/// requires  plan and what it points to, parameters (list_parameters() of its model), stream,
///           communicator, options and states outlive the machine
class Machine {
 public:
  ///   away_folder   of the file in which state lies that a policy offloads to disk (AwayMemory)
  Machine(const PlanView& plan, const std::vector<Parameter>& parameters, kernel::Stream& stream,
          Communicator& communicator, std::vector<OptionsOf> options,
          std::vector<OptionsOf> states = {}, std::string away_folder = {});
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// Takes one training step on this rank's part of a batch, in micro-batches.
  /// requires  the batch fits the plan (check_batch); so do the next two
  void train(const Work&, Observer* = nullptr);
  /// Takes the losses of this rank's part, in micro-batches, and sums them over the ranks, and
  /// Work::predictions, too; a part may be empty.
  void evaluate(const Work&, Observer* = nullptr);
  /// Predicts at most one micro-batch.
  void predict(const Work&, Observer* = nullptr);
  /// Takes values of rows × columns in the compute type.
  using TakeRows = std::function<void(const OnHost& values, int rows, int columns)>;
  /// Predicts at most one micro-batch, for each of its rows; see TrainerCore::predict_rows().
  /// throws    ArgumentError if the model's predict() does not allow it
  void predict_rows(const Work&, const TakeRows&);

  /// The sum of the losses of the last train() or evaluate(), over all ranks.
  double loss_sum() const { return measured_.loss; }
  /// How many ranks have said so with the last train() or evaluate() (Work::votes). All ranks have the same.
  const kernel::Votes& votes() const { return measured_.votes; }
  /// Sums values over the ranks, 3 at most, when all have come.
  void sum_over_ranks(std::span<double> values);
  /// The sum of Work::predictions of the last evaluate(), over all ranks.
  std::int64_t predictions() const { return std::int64_t(measured_.predictions); }
  /// What the last train() has measured.
  StepFigures figures() const {
    return {measured_.loss * work_.loss_weight, measured_.norm, measured_.applied != 0};
  }
  /// Result number k of the last prediction: rows × columns in the compute type, one row for each
  /// row of its axis.
  OnHost result(int k, int& rows, int& columns);

  // What kinds of instruction may use.
  const PlanView& plan() const { return plan_; }
  /// The model as it is trained.
  const Model& model() const;
  /// The model whose program runs: that, or one that evaluates or predicts.
  /// requires  one has begun
  const Model& program_model() const;
  /// The parameters of a unit.
  std::span<const Parameter> parameters_of(int unit) const;
  /// The stream of optimizers and all else that is no layer.
  kernel::Stream& stream() { return stream_; }
  /// What this rank says to the others, as the instruction's kind states it (Kind::traffic).
  Communicator& communicator();
  /// What layer calls on the micro-batch at hand have in common.
  const Now& now() const { return now_; }
  /// Of the step being taken, all factors included.
  double learning_rate() const { return work_.learning_rate; }
  /// The part of it that is not the optimizer's own.
  double rate_factor() const { return work_.rate_factor; }
  /// What the gradients of this step are multiplied by.
  double loss_scale() const { return work_.loss_scale; }
  /// What the sum of this step's losses is multiplied by to be their mean over the global batch.
  double loss_weight() const { return work_.loss_weight; }
  /// Updates applied since the weights were fresh: the count by which optimizers correct.
  std::int64_t updates() const { return updates_; }
  /// Sets that count, as when a checkpoint is restored.
  void set_updates(std::int64_t updates) { updates_ = updates; }
  /// What this step has measured so far, in the device's memory: for kernels.
  kernel::Decision* decision() const { return decision_; }
  /// Takes the norm of all gradients, sums the losses of all ranks, and has the decision follow from
  /// both: whether the step is applied, and what gradients are multiplied by and bounded to.
  void take_norm(const kernel::ClippingRule& rule);
  /// Does so where each rank has the sums of its shards alone: the squares are summed over the ranks, too.
  void take_norm_of_shards(const kernel::ClippingRule& rule);
  /// Adds the losses of a unit to the decision's.
  void take_loss(const Bound&);
  /// Copies the next micro-batch from the batch into the inputs, and pads it.
  void load_micro_batch();
  /// Fills the master weights with zeros, by the threads that will update them: a page of memory
  /// lies near the thread that touches it first.
  void clear_masters();
  /// Makes a slice of the copy of the weights from the master weights, if there is a copy. It must
  /// be called after changing master weights other than by a step.
  /// requires  master weights are not split; so does masters_changed()
  void cast_weights(FlatSlice slice);
  /// Does so for all of them.
  void masters_changed();
  /// Makes a shard's slice of the copy from the master weights that this rank holds.
  void cast_shard(const ShardSlice& shard);
  /// Makes weights as layers read them of as many master weights.
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
  /// A parameter's part of a persistent space.
  struct Part {
    std::byte* data;
    StateShape shape;
  };
  /// throws    Error if the space is split (Model::splits), and the parameter trained, unless this rank owns it,
  ///           or if it comes and goes
  Part part(Space space, const Parameter& parameter) const;
  /// The shape of all of a parameter's values in a space; without elements if it has none there.
  StateShape shape(Space space, const Parameter& parameter) const;
  /// Whether a parameter has no owner (Model::owned), or this rank is it.
  bool owns(const Parameter& parameter) const;
  /// Where a rank holds elements of a parameter in a space.
  struct Piece {
    std::int64_t begin, size;  ///< which of the parameter's, or of what the space keeps of it
    std::int64_t held;         ///< where they begin in the space
  };
  /// What this rank has of a parameter: all of it or, where the space is split, or holds gradients of a
  /// split model, what is in its shards.
  std::vector<Piece> pieces(Space space, const Parameter& parameter) const;
  /// Whether what a space has of a parameter lives outside of the arena (Model::is_away).
  bool is_away(Space space, const Parameter& parameter) const {
    return model().is_away(space) && !parameter.frozen;
  }
  /// Where what this rank keeps of a space from step to step begins, so far as parameters like this one go: in
  /// the arena, or outside of it, where the host may read and write it. The two are laid out alike. Null where
  /// the rank keeps nothing, as another alone updates.
  /// requires  no step is being taken, if it lives outside of the arena; so of kept_part()
  std::byte* kept(Space space, const Parameter& parameter);
  /// A parameter's part of that.
  /// requires  the rank keeps it, and it is not split, or the rank owns it
  Part kept_part(Space space, const Parameter& parameter);
  /// Where a space that lives outside of the arena begins there, in bytes.
  std::int64_t away_at(Space space) const { return flat_[std::size_t(space)].away_at; }
  /// The memory there.
  /// requires  there is some: state lives outside of the arena, and this rank updates
  AwayMemory& away() { return *away_; }
  bool has_away() const { return away_ != nullptr; }  ///< whether there is some
  /// Where a parameter begins in what this rank has of its unit in a space without shapes, where that comes and
  /// goes, in elements.
  /// requires  the parameter is not split, or the rank owns it
  std::int64_t place_in_unit(const Parameter& parameter) const;
  /// A parameter's part of what a unit has of a space of state, where that lies at `unit`.
  Part part_of_unit(Space space, const Parameter& parameter, std::byte* unit) const;
  /// Puts values of a parameter into what this rank holds of a space and, if they are master weights,
  /// into the copy.
  ///   values   all of the parameter's, as part() would have them; so of take()
  void put(Space space, const Parameter& parameter, const std::byte* values);
  /// Copies what this rank has of a parameter to its places among all of the parameter's values.
  void take(Space space, const Parameter& parameter, std::byte* values);
  /// A part where the host may reach it.
  OnHost on_host(const Part& part, Access access) {
    return {stream_, part.data, part.shape.bytes(), access};
  }
  /// The shared workspace, for an instruction whose kind asks for it.
  std::byte* workspace() const { return flat_address(Space::workspace); }
  /// The decayed or undecayed parameters of a run of `count` units in Model::order.
  FlatSlice flat_slice(int first, int count, bool decayed) const;
  /// What this rank works on of a run of `count` units in Model::order: of each the decayed part, then the
  /// undecayed one, or what it owns of them. Some are empty.
  std::span<const ShardSlice> shards(int first, int count) const {
    const std::size_t begin = first_shards_[std::size_t(first)];
    return std::span(shards_).subspan(begin, first_shards_[std::size_t(first + count)] - begin);
  }
  /// All that is trained, in order, cut where parameters are no longer treated alike.
  std::span<const UniformSlice> uniform_slices() const { return uniform_slices_; }
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
  /// All of the memory of this rank.
  std::span<std::byte> arena() const { return arena_.bytes(); }

 private:
  struct Programs;  // the plan's three programs, bound (src/run/binder.hpp)
  /// A part of the arena that lives through all steps; empty if the plan does not have it.
  struct FlatBuffer {
    std::byte* data = nullptr;
    std::int64_t bytes = 0;
    Element element{};
    bool has_shapes = false;   // of its own for each parameter
    std::int64_t away_at = 0;  // where it begins outside of the arena, if it lives there
    const char* name = "";
  };

  std::byte* flat_address(Space space) const { return flat_[std::size_t(space)].data; }
  /// Where a parameter's values begin in a space that is not split, in bytes.
  std::int64_t place_in(Space space, const Parameter& parameter) const;
  void each_held(Space space, const Parameter& parameter, Access access, const auto& visit);
  void find_flat_buffers();
  void find_away_memory(std::string folder);
  void find_shards();
  void cast(std::int64_t from, FlatSlice to);
  /// throws    Error, for a buffer that was taken as elements of another type
  [[noreturn]] static void refuse(const FlatBuffer&, Element);
  static const void* find(const std::vector<OptionsOf>& list, const void* slot);
  void begin(const Work&, bool training);
  void run(struct BoundProgram&, Observer*);
  std::array<float, kernel::Votes::count> own_votes() const;
  void clear_decision();
  void put_predictions(std::int64_t predictions);
  std::byte* decision_bytes() const { return reinterpret_cast<std::byte*>(decision_); }
  void read_decision();
  void run_all(struct BoundProgram&, int iterations, Observer*);
  void run_tail(struct BoundProgram&, Observer*);
  /// The rows that a micro-batch has on an axis of tokens.
  struct MicroBatch {
    int first, last;  // sequences of the batch
    std::int32_t first_row;
    int rows, padding;
  };
  MicroBatch micro_batch(int iteration, int axis) const;
  bool second_axis_is_first() const;
  const std::int32_t* show_starts(int axis, std::span<const std::int32_t> starts);
  void load_starts();
  void execute(struct BoundProgram&, int position, Observer*);
  void pass_over(struct BoundProgram&, int position);
  void run_observed(const Bound&, int position, Observer&);

  const PlanView& plan_;
  const std::vector<Parameter>& parameters_;
  kernel::Stream& stream_;
  kernel::Stream layers_stream_;  // the same threads, for layer calls
  Communicator& communicator_;
  std::unique_ptr<TrafficCheck> traffic_check_;  // of the communicator, in builds with assertions
  std::vector<OptionsOf> options_, states_;
  std::vector<UniformSlice> uniform_slices_;
  std::vector<ShardSlice> shards_;
  std::vector<std::size_t> first_shards_;  // of each unit in Model::order, and behind the last
  DeviceMemory arena_;
  std::unique_ptr<AwayMemory> away_;  // for state that lives outside of it
  std::array<std::vector<std::int32_t>, token_axes> starts_;
  std::vector<std::int32_t> pooled_starts_;
  DeviceMemory starts_memory_;  // for kernels, where they cannot read the host's
  const std::int32_t* pooled_starts_shown_ = nullptr;
  Now now_;
  Work work_;
  kernel::Decision measured_;  // by the last train() or evaluate(), on the host
  int position_ = 0;           // of the instruction at hand in the program
  std::int64_t updates_ = 0;
  std::unique_ptr<Programs> programs_;
  std::vector<FlatBuffer> flat_;  // by space
  kernel::Decision* decision_ = nullptr;
};

}  // namespace sinter
