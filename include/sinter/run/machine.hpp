// One rank at work: its arena, and its walk through programs. What kinds of instruction see.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "../program.hpp"

namespace sinter {

class Communicator;
struct PlanView;
struct HostBatch;

/// What `norm` yields and `update` obeys: the global norm of all gradients, the scale that clipping
/// makes of it, and whether it and the loss are finite. Where they are not, nothing is updated.
struct Norm {
  double value = 0, scale = 1;
  bool finite = true;
};

/// A part of a flat buffer, in elements.
struct FlatRange {
  std::int64_t first, size;
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

/// The run-time options of a policy, by its slot.
struct OptionsOf {
  const void* slot;
  const void* options;
};

/// One step, evaluation or prediction, on a part of a batch.
struct Work {
  const HostBatch* batch = nullptr;
  int first_sequence = 0, sequences = 0;  // this rank's part
  std::int64_t step = 0;                  // the one being taken, from 1
  std::uint64_t seed = 0;                 // of dropout
  double loss_weight = 0;                 // 1 / (predictions of the whole global batch)
  double learning_rate = 0;
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
/// requires  plan and what it points to, stream, communicator and options outlive the machine
class Machine {
 public:
  Machine(const PlanView& plan, kernel::Stream& stream, Communicator& communicator,
          std::vector<OptionsOf> options);
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
  /// Of the last prediction: result number k, one row for each of its axis.
  const void* result(int k, int& rows, int& columns) const;

  // What kinds of instruction may use.
  const PlanView& plan() const { return plan_; }
  const Model& model() const;
  kernel::Stream& stream() { return stream_; }
  Communicator& communicator() { return communicator_; }
  const Now& now() const { return now_; }
  double learning_rate() const { return work_.learning_rate; }
  /// Updates applied since the weights were fresh: the count that optimizers correct by.
  std::int64_t updates() const { return updates_; }
  void set_updates(std::int64_t updates) { updates_ = updates; }
  const Norm& norm() const { return norm_; }
  void set_norm(Norm norm) { norm_ = norm; }
  /// The norm of all gradients, and whether it and the loss of all ranks are finite.
  Norm measure_norm();
  void take_loss(const Bound&);
  void load_micro_batch();
  /// Makes a part of the copy of the weights from the master weights, if there is a copy. Whoever
  /// changes master weights other than by a step calls it.
  void cast_weights(FlatRange range);
  void masters_changed();  ///< cast_weights() of all

  /// Where a flat buffer begins. space: master, weights, gradient or a region.
  template <class T>
  T* flat(Space space) const {
    return reinterpret_cast<T*>(flat_address(space));
  }
  /// The decayed or undecayed part of a range of groups in Model::order.
  FlatRange flat_range(int first, int count, bool decayed) const;
  template <class P>
  const typename P::Options& options() const {
    return *static_cast<const typename P::Options*>(find_options(&tag_of<typename P::slot>));
  }
  std::span<std::byte> arena() const { return arena_; }

 private:
  struct Programs;  // the three, bound (src/run/binder.hpp)

  std::byte* flat_address(Space space) const;
  const void* find_options(const void* slot) const;
  void begin(const Work&, bool training);
  void run(const struct BoundProgram&, int iterations, Observer*);
  void run_observed(const Bound&, int position, Observer&);

  const PlanView& plan_;
  kernel::Stream& stream_;
  Communicator& communicator_;
  std::vector<OptionsOf> options_;
  std::span<std::byte> arena_;
  std::vector<std::int32_t> starts_, pooled_starts_;
  Now now_;
  Work work_;
  Norm norm_;
  double loss_sum_ = 0;
  std::int64_t updates_ = 0;
  std::unique_ptr<Programs> programs_;
};

}  // namespace sinter
