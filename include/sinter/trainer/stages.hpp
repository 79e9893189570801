// SPDX-License-Identifier: Apache-2.0
// The stages around the training step. Each may be moved but not copied. Types fix their order: a
// step takes a batch that was read, and the log takes a step that was applied.
//    read → ReadBatch → step → AppliedStep or SkippedStep → evaluate → record → save
// (A CPU has no upload: the program's instruction `load` copies from the batch.)
#pragma once
#include <chrono>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "sinter/data/any_source.hpp"
#include "sinter/data/reader.hpp"
#include "sinter/trainer/core.hpp"
#include "sinter/trainer/evaluation.hpp"

namespace sinter {

namespace detail {
class MetricsLog;
}  // namespace detail
class RunFolder;

namespace detail {
/// The part of a row of metrics.jsonl that counts the examples of its step.
struct ExampleRecord {
  double examples_per_s = 0;  ///< number of examples, divided by the step's time
  double padding = 0;         ///< share of the step's rows that belong to no example
  double context_length = 0;  ///< mean rows of an example that predict nothing
  double label_length = 0;    ///< mean rows of an example that predict a token
  double truncated = 0;       ///< share of the examples that were too long, and cut
  /// Mean rows that would predict nothing, had nothing been left out. None in logs of older
  /// versions; so are the next three.
  std::optional<double> full_context_length{};
  std::optional<double> full_label_length{};  ///< the same of rows that predict a token
  std::optional<double> context_truncated{};  ///< share of the examples whose context was cut
  std::optional<double> label_truncated{};    ///< share of the examples whose label was cut
};

/// A row of metrics.jsonl.
struct StepRecord {
  std::int64_t step = 0;     ///< from 1
  double loss = 0;           ///< mean over the predictions of the global batch, before the update
  double gradient_norm = 0;  ///< before clipping
  double learning_rate = 0;  ///< of the update
  std::int64_t tokens = 0;   ///< rows on axis 0 trained on so far, including this step and padding
  double tokens_per_s = 0;   ///< this step's rows, divided by its time
  /// Wall time since the end of the previous step, without evaluation and saving.
  double step_ms = 0;
  std::optional<double> validation_loss;  ///< if the step was evaluated
  std::vector<MetricValue> metrics{};     ///< of the same evaluation, by the recipe's metrics
  /// Wall time of that evaluation; none in logs of older versions.
  std::optional<double> evaluation_ms{};
  /// Processor time of all threads of this process during step_ms; none in logs of older versions.
  std::optional<double> step_cpu_ms{};
  /// Part of step_ms spent waiting for the batch; none in logs of older versions.
  std::optional<double> data_wait_ms{};
  /// Predictions of this step, such as tokens; none in logs of older versions.
  std::optional<std::int64_t> predictions{};
  /// Rows of this step's batch on all axes, padding included; none in logs of older versions.
  std::optional<std::int64_t> rows{};
  std::optional<ExampleRecord> examples{};  ///< if the source counts them (HostBatch::examples)

  std::string to_json() const;  ///< The record as a line of metrics.jsonl.
  /// throws    Error if the text is not such a row
  static StepRecord from_json(std::string_view json);
};

/// Progress of a run beyond the trainer's own state. A run's checkpoints hold it.
struct LoopState {
  StepRecord last;  ///< step is 0 if there is none yet
  /// The lowest validation loss, or the best figure of the metric best_by; infinite if there is
  /// none.
  double best = std::numeric_limits<double>::infinity();
  std::int64_t best_step = 0;  ///< the step with the best figure
  std::string best_by{};       ///< the metric that chooses the best step; empty for the loss
  /// The best figure that early stopping has seen; infinite if there is none.
  double patient_best = std::numeric_limits<double>::infinity();
  int waited = 0;               ///< evaluations in a row since then
  bool evaluation_due = false;  ///< true if a stop has cut short the evaluation after the last step
};

/// A global batch that no step has used yet.
struct ReadBatch {
  HostBatch batch;       ///< the batch
  SamplerState after;    ///< state of the source after this batch
  double waited_ms = 0;  ///< time spent waiting for the batch

  ReadBatch() = default;
  ReadBatch(ReadBatch&&) = default;
  ReadBatch& operator=(ReadBatch&&) = default;
};

/// A step that has advanced the weights.
struct AppliedStep {
  StepRecord record;            ///< what metrics.jsonl says of it
  SamplerState data;            ///< state of the source after this step's batch
  bool evaluation_due = false;  ///< true if a stop has cut its evaluation short

  AppliedStep() = default;
  AppliedStep(AppliedStep&&) = default;
  AppliedStep& operator=(AppliedStep&&) = default;
};
/// A step that was not applied: nothing has advanced.
struct SkippedStep {
  std::int64_t step;  ///< the step that was skipped
  Skipped outcome;    ///< why
};

/// Gives the global batches of any data source, which its own threads read ahead.
class ReadStage {
  std::optional<AnySource> waiting;  // the source, until reading starts
  ReaderOptions reader_options;
  std::unique_ptr<BackgroundReader> reader;
  HostBatch spare;

 public:
  /// Does not read until start() is called or the first batch is asked for.
  /// throws    ArgumentError unless the options are in their ranges
  ReadStage(AnySource source, ReaderOptions options = {});
  template <class Source>
    requires(!std::same_as<Source, ReadStage>)
  ReadStage(Source source, ReaderOptions options = {})
      : ReadStage(AnySource(std::move(source)), options) {}

  /// Sets the part of each batch that is needed, in place of the part in the constructor's options.
  /// requires  it has not started to read
  void need(BatchPart part) { reader_options.part = part; }
  /// True if it has started to read.
  bool has_started() const { return reader != nullptr; }
  /// Starts to read, unless it already has.
  void start();
  /// Returns the next batch, or none at the end of the source.
  [[nodiscard]] std::optional<ReadBatch> operator()();
  /// Takes back the memory of a used batch.
  void recycle(HostBatch used) { spare = std::move(used); }
  /// The state of the source after the last batch that was given.
  SamplerState state() const;
  /// Continues from a saved state of the source.
  void restore(const SamplerState& saved);
};

/// Measures the time between the ends of steps, without pauses.
class StepClock {
 public:
  /// Milliseconds of a clock on the wall, and of the processor for all threads of this process.
  struct Times {
    double wall_ms = 0, cpu_ms = 0;
  };

  /// Calls work(), whose time does not count.
  void pause(auto work) {
    const Times begin = now();
    work();
    const Times end = now();
    paused.wall_ms += end.wall_ms - begin.wall_ms;
    paused.cpu_ms += end.cpu_ms - begin.cpu_ms;
  }
  void restart() { *this = StepClock(); }  ///< Forgets earlier steps.
  /// Returns the times since the last lap, and starts the next.
  Times lap();

 private:
  static Times now();
  Times since = now(), paused{};
};

/// Trains on one batch.
class StepStage {
  TrainerCore* trainer;
  StepClock* clock;
  BatchShapes shapes;  // once a recipe that changes its batches has asked for them

 public:
  /// Trains `t`, and takes its times with `c`. Both must outlive the stage.
  StepStage(TrainerCore& t, StepClock& c) : trainer(&t), clock(&c) {}
  StepStage(StepStage&&) = default;

  /// Takes a step, after steps that have trained on tokens_before rows. The batch stays unchanged,
  /// so that its memory can be recycled.
  /// throws    ArgumentError if the batch does not fit the recipe
  [[nodiscard]] std::variant<AppliedStep, SkippedStep> operator()(ReadBatch& batch,
                                                                  std::int64_t tokens_before);
};

/// Evaluates on a finite held-out source, if there is one, and on others with a name each.
class EvaluateStage {
  struct HeldOut {
    std::string name;
    AnySource source;
    SamplerState begin;
    std::string origin{};  // where it comes from, for errors
  };
  std::vector<HeldOut> sources;  // the first has no name
  bool has_predictions = false;  // once require_predictions() has found some in each

 public:
  EvaluateStage() = default;
  /// Evaluates on everything from the source's current position on.
  /// throws    ArgumentError if the source never ends
  EvaluateStage(AnySource held_out);
  /// A source that never ends is a compile error.
  template <class Source>
    requires(!std::same_as<Source, EvaluateStage>)
  EvaluateStage(Source held_out) {
    if constexpr (can_be_evaluated<Source>()) *this = AnySource(std::move(held_out));
  }

  /// Adds a source, whose loss and metrics are metrics of the whole: NAME_loss, NAME_accuracy and
  /// so on.
  /// requires  there is a source, and none of this name
  void add(std::string name, AnySource held_out);
  /// Says where the source that was added last comes from, such as "--validation FILE", for errors.
  /// requires  there is a source
  void came_from(std::string origin) { sources.back().origin = std::move(origin); }

  /// True if there is a source.
  explicit operator bool() const { return !sources.empty(); }
  /// Reads the first batches of each source, until one has something to predict. All processes call it
  /// at the same time. A second call does nothing.
  /// throws    ArgumentError that names the first source with nothing to predict
  void require_predictions(TrainerCore& trainer);
  /// Returns loss and metrics, or none if stop() returned true before a batch. Reads the trainer's
  /// part of each batch.
  /// requires  there is a source
  /// throws    ArgumentError if a source has nothing to predict
  [[nodiscard]] std::optional<Evaluation> operator()(TrainerCore& trainer,
                                                     const std::function<bool()>& stop);
};

/// Writes steps to the log, if there is one.
class RecordStage {
  std::unique_ptr<MetricsLog> log;

 public:
  RecordStage();
  /// Continues the log of a run's folder; rows after step `kept_steps` are dropped.
  RecordStage(const RunFolder& folder, std::int64_t kept_steps);
  RecordStage(RecordStage&&) noexcept;
  RecordStage& operator=(RecordStage&&) noexcept;
  ~RecordStage();

  /// Writes a step, then calls on_step(), unless it is empty.
  void operator()(const AppliedStep& step, const std::function<void(const StepRecord&)>& on_step);
  /// Writes an event after a step, in words.
  void note(std::int64_t step, std::string_view event, std::string_view text);
  /// Makes all rows written so far durable.
  void sync();
};

/// Saves checkpoints of a run to its folder, if it has one, one at a time. No other code may use
/// the folder during a save. If ranks are processes, they save together, unless one rank has
/// everything (Model::at_root). They all call the same functions at the same time. Each writes the
/// files' parts that only it has, or its share of what all have. Rank 0 completes the checkpoint
/// when all have written. If a rank does not see the folder, rank 0 gathers and writes everything.
class SaveStage {
  TrainerCore* trainer;
  RunFolder* folder;  // if this process writes it
  std::unique_ptr<Snapshot> snapshot = std::make_unique<Snapshot>();
  std::unique_ptr<struct PendingSave> pending;  // its destructor waits for the thread
  std::unique_ptr<class SharedSave> shared;     // if ranks save together

 public:
  /// The content of a checkpoint.
  struct Request {
    const LoopState& state;        ///< progress of the run
    const SamplerState& data;      ///< state of the data source
    bool best;                     ///< true if the checkpoint is the best so far
    std::function<void()> before;  ///< called by the saving thread before it writes anything
  };

  /// The folder may be null, or one that this process sees but does not write.
  SaveStage(TrainerCore& t, RunFolder* f);
  SaveStage(SaveStage&&) noexcept;
  /// Abandons a checkpoint that ranks save together; completes one that only this process saves.
  ~SaveStage();

  /// True if there is a folder that this process writes.
  explicit operator bool() const { return folder != nullptr; }
  /// True if ranks save together.
  bool is_together() const { return shared != nullptr; }
  /// Begins to save a checkpoint. In the background, a thread writes a copy. Else, or if the
  /// machine has no memory or thread for that, everything is written before this returns. Returns
  /// true if it went as asked.
  /// requires  there is a folder, and is_busy() is false
  bool begin(const Request& request, bool in_background);
  /// Abandons what ranks save together, and at once saves a checkpoint without other ranks.
  /// requires  there is a folder, and this process has all that is to be saved
  /// throws    FileError if it could not be saved
  std::filesystem::path save_alone(const Request& request);
  /// True if a checkpoint was begun and end() has not been called since.
  bool is_busy() const;
  /// If ranks save together: adds the progress of this rank's part to its votes, before a step.
  void vote(kernel::Votes& own);
  /// Reads all ranks' votes after the step: all learn at the same time that it is complete.
  void count(const kernel::Votes& all);
  /// True if end() would return at once.
  bool has_ended() const;
  /// Waits for the checkpoint that was begun, and returns its path.
  /// requires  is_busy()
  /// throws    FileError if it could not be saved; if ranks save together, whatever the reason
  std::filesystem::path end();
  /// Returns a message for the user about the last checkpoint, or nothing, and clears it.
  std::string take_note();
};
}  // namespace detail

}  // namespace sinter
