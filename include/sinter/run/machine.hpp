// One rank at work: its arena, and its walk through programs. What kinds of instruction see.
#pragma once
#include <cstddef>
#include <limits>
#include <memory>
#include <vector>

#include "sinter/device/memory.hpp"
#include "sinter/kernels/stream.hpp"
#include "sinter/layer/context.hpp"
#include "sinter/plan/parameter.hpp"
#include "sinter/recipe/slots.hpp"

namespace sinter {

class Communicator;
struct PlanView;
struct HostBatch;

/// What `norm` yields and `update` obeys: the global norm of all gradients; the factor that undoes
/// the loss scale and clips; the largest magnitude that each then may have; and whether norm and
/// loss are finite. Where they are not, nothing is updated.
struct Norm {
  double value = 0, scale = 1, limit = std::numeric_limits<double>::infinity();
  bool finite = true;
};

/// A part of a flat buffer, in elements.
struct FlatSlice {
  std::int64_t first, size;
};

/// One in which all parameters are treated alike. learning_rate: a factor of the step's.
struct UniformSlice : FlatSlice {
  bool decayed;
  double learning_rate;
};

struct BoundCall {
  void (*run)(const Call&);
  Call call;
};

/// An instruction with its addresses.
struct Bound {
  const Instruction* instruction;
  void (*run)(Machine&, const Bound&);
  const BoundCall* calls = nullptr;
  int count = 0;
  void* value = nullptr;  // what it takes or keeps: address of the first value that it touches
};

/// One step, evaluation or prediction, on a part of a batch.
struct Work {
  const HostBatch* batch = nullptr;
  int first_sequence = 0, sequences = 0;  // this rank's part
  std::int64_t step = 0;                  // the one being taken, from 1
  std::uint64_t seed = 0;                 // of dropout
  double loss_weight = 0;                 // 1 / (predictions of the whole global batch)
  double loss_scale = 1;                  // what the gradients are multiplied by
  double learning_rate = 0;
  double rate_factor = 1;  // what of learning_rate is not the optimizer's own
};

/// Called around every instruction, and after each layer call in it, by tests and profilers.
/// position: in the program; call: of the instruction's, from 0.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void before(const Machine&, int position, int iteration) = 0;
  virtual void after_call(const Machine&, int /*position*/, int /*call*/) {}
  virtual void after(const Machine&, int position, int iteration) = 0;
};

/// Not for users: Trainer owns machines.
/// requires  plan and what it points to, parameters (list_parameters() of its model), stream,
///           communicator and options outlive the machine
class Machine {
 public:
  Machine(const PlanView& plan, const std::vector<Parameter>& parameters, kernel::Stream& stream,
          Communicator& communicator, std::vector<OptionsOf> options);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// One training step or one evaluation (losses only) of this rank's part, in micro-batches; one
  /// prediction, of at most one micro-batch.
  /// requires  the batch fits the plan (check_batch)
  void train(const Work&, Observer* = nullptr);
  void evaluate(const Work&, Observer* = nullptr);
  void predict(const Work&, Observer* = nullptr);

  /// Of the last train or evaluate: over this rank, or over all once `norm` has run.
  double loss_sum() const { return loss_sum_; }
  /// Of the last prediction: result number k, one row for each of its axis, in the compute type.
  OnHost result(int k, int& rows, int& columns);

  // What kinds of instruction may use.
  const PlanView& plan() const { return plan_; }
  const Model& model() const;
  /// Those of a unit.
  std::span<const Parameter> parameters_of(int unit) const;
  /// For optimizers and all else that is no layer.
  kernel::Stream& stream() { return stream_; }
  Communicator& communicator() { return communicator_; }
  const Now& now() const { return now_; }
  double learning_rate() const { return work_.learning_rate; }
  double rate_factor() const { return work_.rate_factor; }
  double loss_scale() const { return work_.loss_scale; }
  /// Updates applied since the weights were fresh: the count that optimizers correct by.
  std::int64_t updates() const { return updates_; }
  void set_updates(std::int64_t updates) { updates_ = updates; }
  const Norm& norm() const { return norm_; }
  void set_norm(Norm norm) { norm_ = norm; }
  /// The norm of all gradients, and whether it and the loss of all ranks are finite.
  Norm measure_norm();
  void take_loss(const Bound&);
  void load_micro_batch();
  /// Zeros, which the threads write that will update them: a page lies near who touches it first.
  void clear_masters();
  /// Makes a part of the copy of the weights from the master weights, if there is a copy. Whoever
  /// changes master weights other than by a step calls it.
  void cast_weights(FlatSlice range);
  void masters_changed();  ///< cast_weights() of all

  /// Where a flat buffer begins. space: master, weights, gradient or a region.
  template <class T>
  T* flat(Space space) const {
    return reinterpret_cast<T*>(flat_address(space));
  }
  /// A parameter's part of a persistent space.
  struct Part {
    std::byte* data;
    StateShape shape;
  };
  Part part(Space space, const Parameter& parameter) const;
  /// The same where the host may reach it.
  OnHost on_host(const Part& part, Access access) {
    return {stream_, part.data, part.shape.bytes(), access};
  }
  /// The workspace that units share, for an instruction whose kind asks for it.
  std::byte* workspace() const { return flat_address(Space::workspace); }
  /// The decayed or undecayed parameters of a run of units in Model::order.
  FlatSlice flat_slice(int first, int count, bool decayed) const;
  /// All that is trained, cut where parameters are no longer treated alike, in order.
  std::span<const UniformSlice> uniform_slices() const { return uniform_slices_; }
  template <class P>
  const typename P::Options& options() const {
    return *static_cast<const typename P::Options*>(find_options(&tag_of<typename P::slot>));
  }
  std::span<std::byte> arena() const { return arena_.bytes(); }

 private:
  struct Programs;  // the three, bound (src/run/binder.hpp)

  std::byte* flat_address(Space space) const;
  const void* find_options(const void* slot) const;
  void begin(const Work&, bool training);
  void run(struct BoundProgram&, Observer*);
  void run_observed(const Bound&, int position, Observer&);

  const PlanView& plan_;
  const std::vector<Parameter>& parameters_;
  kernel::Stream& stream_;
  kernel::Stream layers_stream_;  // the same threads, for layer calls
  Communicator& communicator_;
  std::vector<OptionsOf> options_;
  std::vector<UniformSlice> uniform_slices_;
  DeviceMemory arena_;
  std::vector<std::int32_t> starts_, pooled_starts_;
  Now now_;
  Work work_;
  Norm norm_;
  double loss_sum_ = 0;
  std::int64_t updates_ = 0;
  std::unique_ptr<Programs> programs_;
};

}  // namespace sinter
