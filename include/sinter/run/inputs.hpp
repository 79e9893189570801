// SPDX-License-Identifier: Apache-2.0
// The micro-batches of a rank's part of a batch, as a program and its layer calls read them.
#pragma once
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "sinter/hardware/memory.hpp"
#include "sinter/kernels/decision.hpp"
#include "sinter/layer/context.hpp"

namespace sinter {

struct HostBatch;

namespace detail {
struct BoundProgram;
struct PlanView;

/// Where sequences continue texts, by sequence of the batch.
struct Continued {
  std::array<std::span<const std::int32_t>, token_axes> before;  ///< rows before each, by axis
  std::array<std::span<const std::int32_t>, token_axes> slots;   ///< of caches, by axis
  std::span<const std::int32_t> sources{};  ///< see kernel::Cache; may be empty
  int source_rows = 0;                      ///< numbers for each sequence
};

/// What a Machine is to do: one step, evaluation or prediction, on a part of a batch.
struct Work {
  const HostBatch* batch = nullptr;       ///< the global batch
  int first_sequence = 0, sequences = 0;  ///< this rank's part
  /// Sequences of the largest part of any rank, or 0 without other ranks. All ranks run the
  /// micro-batches that this takes, even if empty, because an instruction in the loop may wait for
  /// all ranks.
  int max_sequences = 0;
  std::int64_t step = 0;   ///< the current step, from 1
  std::uint64_t seed = 0;  ///< seed of dropout
  /// 1 / (predictions of the whole global batch), or with class weights 1 / (the sum of their
  /// weights)
  double loss_weight = 0;
  double label_smoothing = 0;               ///< of cross-entropies in training
  std::span<const double> class_weights{};  ///< of cross-entropies in training; empty: all 1
  bool counts_right = false;                ///< in an evaluation: true if right() is wanted
  double loss_scale = 1;                    ///< the factor that gradients are multiplied by
  double learning_rate = 0;                 ///< of the step, including all factors
  double rate_factor = 1;  ///< the product of all factors but the optimizer's own rate
  kernel::Votes votes{};   ///< this rank's votes
  /// In an evaluation: this rank's number of predictions, to be summed over ranks.
  std::int64_t predictions = 0;
  const Continued* continued = nullptr;  ///< of programs that continue texts
  /// In a prediction: all rows of the model's encoded_value(), in the compute type, if the encoder is
  /// not to run.
  std::span<const std::byte> encoded{};
};

/// Cuts a rank's part of a batch into micro-batches, and loads each into the inputs of a program.
class Inputs {
 public:
  /// Prepares for the programs of a plan.
  /// requires  stream outlives the inputs
  Inputs(kernel::Stream& stream, const PlanView& plan);
  Inputs(const Inputs&) = delete;

  /// Begins a program's work, before its first micro-batch.
  /// requires  the batch and the program outlive the run
  void begin(const Work& work, BoundProgram& program, bool training);
  const Work& work() const { return work_; }  ///< the work that has begun last
  /// What layer calls on the current micro-batch have in common. Its `iteration` says which it is.
  Now& now() { return now_; }
  const Now& now() const { return now_; }  ///< to read
  /// Number of micro-batches, which all ranks run.
  int iterations() const;
  /// Number of the first micro-batches that have sequences of this rank.
  int filled() const;
  /// Appends the numbers of sequences, rows and padding rows of all micro-batches, and whether
  /// sequences have padding of their own.
  void append_shape(std::vector<std::int64_t>& numbers) const;
  /// Tells layers where the sequences of the current micro-batch start on each axis.
  void load_starts();
  /// Number of targets whose logit was the largest, in the evaluation that has begun last.
  /// requires  it counts them (Work::counts_right)
  std::int64_t right();
  /// Copies the current micro-batch from the batch into the program's inputs, and pads it.
  void load();

 private:
  /// The rows of a micro-batch on an axis of tokens, on which sequences start at `starts`.
  struct MicroBatch {
    int first, last;  // sequences of the batch
    std::int32_t first_row;
    int rows, padding;
  };
  MicroBatch micro_batch(int iteration, std::span<const std::int32_t> starts) const;
  bool second_axis_is_first() const;
  void begin_loss(const Work& work, bool training);
  const std::int32_t* show_starts(int place, std::span<const std::int32_t> starts);
  void load_padding();
  void load_continued(const Continued& texts);

  kernel::Stream& stream_;
  kernel::Stream layers_stream_;  // the same threads, for layer calls
  std::array<std::vector<std::int32_t>, token_axes> starts_;
  std::vector<std::int32_t> lengths_;        // without padding, of axis 1
  std::vector<std::int32_t> pooled_starts_;  // 0, 1, 2 …
  DeviceMemory starts_memory_;               // for kernels that cannot read the host's memory
  const std::int32_t* pooled_starts_shown_;
  std::optional<DeviceMemory> class_weights_, right_;  // once they are asked for
  std::optional<DeviceMemory> continued_;              // of a plan that continues texts
  Element statistic_;                                  // the type of class weights
  Now now_;
  Work work_;
  BoundProgram* program_ = nullptr;
};

}  // namespace detail

}  // namespace sinter
