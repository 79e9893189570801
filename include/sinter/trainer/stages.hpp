// SPDX-License-Identifier: Apache-2.0
// The stages around the training step. Each may be moved but not copied. A step takes a batch that
// was read, and the log a step that was applied, so these cannot be wired in another order.
//   read → ReadBatch → step → AppliedStep or SkippedStep → evaluate → record → save
// (A CPU has no upload: the program's instruction `load` copies from the batch.)
#pragma once
#include <chrono>
#include <filesystem>
#include <functional>
#include <future>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "sinter/data/any_source.hpp"
#include "sinter/data/reader.hpp"
#include "sinter/trainer/core.hpp"

namespace sinter {

class MetricsLog;
class RunFolder;

/// What a row of metrics.jsonl says of the examples of its step.
struct ExampleRecord {
  double examples_per_s = 0;  ///< this step's examples, divided by its time
  double padding = 0;         ///< the share of the step's rows that belong to no example
  double context_length = 0;  ///< mean rows of an example that predict nothing
  double label_length = 0;    ///< mean rows of an example that predict a token
  double truncated = 0;       ///< the share of the examples that were too long, and cut
};

/// A row of metrics.jsonl.
struct StepRecord {
  std::int64_t step = 0;     ///< from 1
  double loss = 0;           ///< mean over the predictions of the global batch, before the update
  double gradient_norm = 0;  ///< before clipping
  double learning_rate = 0;  ///< of the update
  std::int64_t tokens = 0;   ///< rows trained on so far, this step's included
  double tokens_per_s = 0;   ///< this step's rows, divided by its time
  /// Wall time since the end of the step before, without evaluation and saving.
  double step_ms = 0;
  std::optional<double> validation_loss;  ///< if it was evaluated
  /// Of step_ms, what the step waited for its batch; none in logs of older versions.
  std::optional<double> data_wait_ms{};
  std::optional<ExampleRecord> examples{};  ///< if the source counts them (HostBatch::examples)

  std::string to_json() const;
  /// throws    Error if the text is not such a row
  static StepRecord from_json(std::string_view json);
};

/// How far a run has come, beyond the trainer's own state. Checkpoints of a run hold it.
struct LoopState {
  StepRecord last;                                        ///< its step is 0 if there is none yet
  double best = std::numeric_limits<double>::infinity();  ///< the lowest validation loss
  std::int64_t best_step = 0;                             ///< at which it was
  bool evaluation_due = false;  ///< a stop has cut short the evaluation after the last step
};

/// A global batch that no step has used yet.
struct ReadBatch {
  HostBatch batch;
  SamplerState after;    ///< where the source stands after it
  double waited_ms = 0;  ///< how long it was waited for

  ReadBatch() = default;
  ReadBatch(ReadBatch&&) = default;
  ReadBatch& operator=(ReadBatch&&) = default;
};

/// A step that has advanced the weights.
struct AppliedStep {
  StepRecord record;
  SamplerState data;            ///< where the source stood after its batch
  bool evaluation_due = false;  ///< a stop has cut its evaluation short

  AppliedStep() = default;
  AppliedStep(AppliedStep&&) = default;
  AppliedStep& operator=(AppliedStep&&) = default;
};
/// A step that was not applied: nothing has advanced.
struct SkippedStep {
  std::int64_t step;
  Skipped outcome;
};

/// Gives the global batches of any data source. Threads of its own read them ahead.
class ReadStage {
  std::optional<AnySource> waiting;  // the source, until it is read
  ReaderOptions reader_options;
  std::unique_ptr<BackgroundReader<AnySource>> reader;
  HostBatch spare;

 public:
  /// Starts to read when start() is called, or the first batch is asked for.
  /// throws    ArgumentError unless the options are in their ranges
  ReadStage(AnySource source, ReaderOptions options = {});
  template <class Source>
    requires(!std::same_as<Source, ReadStage>)
  ReadStage(Source source, ReaderOptions options = {})
      : ReadStage(AnySource(std::move(source)), options) {}

  /// Says what is needed of each batch, in place of the options that it was made with.
  /// requires  it has not started to read
  void need(BatchPart part) { reader_options.part = part; }
  /// Whether it has started to read.
  bool has_started() const { return reader != nullptr; }
  /// Starts to read, if it has not.
  void start();
  /// Gives the next batch; none if the source has ended.
  [[nodiscard]] std::optional<ReadBatch> operator()();
  /// Takes back the memory of a batch that was used.
  void recycle(HostBatch used) { spare = std::move(used); }
  /// Where the source stands after the last batch that was given.
  SamplerState state() const;
  /// Goes on from there.
  void restore(const SamplerState& saved);
};

/// Measures the time between the ends of steps, without pauses.
class StepClock {
  using Clock = std::chrono::steady_clock;
  Clock::time_point since = Clock::now();
  Clock::duration paused{};

 public:
  /// Calls work(); its time does not count.
  void pause(auto work) {
    auto begin = Clock::now();
    work();
    paused += Clock::now() - begin;
  }
  void restart() { *this = StepClock(); }
  /// Returns the milliseconds since the last lap, and begins the next.
  double lap();
};

/// Trains on one batch.
class StepStage {
  TrainerCore* trainer;
  StepClock* clock;

 public:
  StepStage(TrainerCore& t, StepClock& c) : trainer(&t), clock(&c) {}
  StepStage(StepStage&&) = default;

  /// Takes a step. Steps before it have trained on tokens_before rows. The batch stays as it is, so
  /// that its memory can be recycled.
  /// throws    ArgumentError if the batch does not fit the recipe
  [[nodiscard]] std::variant<AppliedStep, SkippedStep> operator()(ReadBatch& batch,
                                                                  std::int64_t tokens_before);
};

/// Takes the loss over all of a finite source that is held out, if there is one.
class EvaluateStage {
  std::optional<AnySource> source;
  SamplerState begin;
  HostBatch batch;
  BatchDraw drawn;

 public:
  EvaluateStage() = default;
  /// Evaluates on all that the source gives from where it stands now.
  EvaluateStage(AnySource held_out);
  template <class Source>
    requires(!std::same_as<Source, EvaluateStage>)
  EvaluateStage(Source held_out) : EvaluateStage(AnySource(std::move(held_out))) {}

  /// Whether there is a source.
  explicit operator bool() const { return source.has_value(); }
  /// Returns the mean loss; none if stop() returned true before a batch. The trainer's part of each
  /// batch is read.
  /// requires  there is a source
  /// throws    ArgumentError if it gives no batch
  [[nodiscard]] std::optional<double> operator()(TrainerCore& trainer,
                                                 const std::function<bool()>& stop);
};

/// Writes a step to the log, if there is one.
class RecordStage {
  std::unique_ptr<MetricsLog> log;

 public:
  RecordStage();
  /// Goes on with the log of a run's folder, whose rows after `kept_steps` are dropped.
  RecordStage(const RunFolder& folder, std::int64_t kept_steps);
  RecordStage(RecordStage&&) noexcept;
  RecordStage& operator=(RecordStage&&) noexcept;
  ~RecordStage();

  /// Writes a step, and then calls `tell`, unless it is empty.
  void operator()(const AppliedStep& step, const std::function<void(const StepRecord&)>& tell);
  /// Writes what has happened after a step, in words.
  void note(std::int64_t step, std::string_view event, std::string_view text);
  /// Makes what was recorded durable.
  void sync();
};

/// Saves checkpoints of a run, if it has a folder, one at a time. While one is being saved, nobody
/// else may use the folder. Where ranks are processes, and one does not have all alone (Model::at_root),
/// they save together, and all of them call the same functions at the same time: each writes what it has of the files,
/// or its share of what all have, and the first one makes a checkpoint of them when all have written.
/// Where one does not see the folder, the first one gathers and writes everything.
class SaveStage {
  TrainerCore* trainer;
  RunFolder* folder;  // if this process writes it
  std::unique_ptr<Snapshot> snapshot = std::make_unique<Snapshot>();
  std::future<std::filesystem::path> pending;  // its end waits for the thread
  std::unique_ptr<class SharedSave> shared;    // if ranks save together

 public:
  /// What is to be saved.
  struct Request {
    const LoopState& state;
    const SamplerState& data;
    bool best;                     ///< the checkpoint is the best so far
    std::function<void()> before;  ///< is called before anything is written, by the saving thread
  };

  /// The folder may be one that this process only sees, or none.
  SaveStage(TrainerCore& t, RunFolder* f);
  SaveStage(SaveStage&&) noexcept;
  /// Gives a checkpoint up that ranks save together. One that is saved alone is saved.
  ~SaveStage();

  /// Whether there is a folder that this process writes.
  explicit operator bool() const { return folder != nullptr; }
  /// Whether ranks save together.
  bool is_together() const { return shared != nullptr; }
  /// Begins to save a checkpoint. In the background a thread writes a copy of what is to be saved;
  /// else, or where a machine has no memory or thread for that, all is written before this
  /// returns. Returns whether it went as asked.
  /// requires  there is a folder, and is_busy() is false
  bool begin(const Request& request, bool in_background);
  /// Gives up what ranks save together, and saves a checkpoint before it returns, without the others.
  /// requires  there is a folder, and this process has all that is to be saved
  /// throws    FileError if it could not be saved
  std::filesystem::path save_alone(const Request& request);
  /// Whether a checkpoint was begun whose end nobody has asked for yet.
  bool is_busy() const;
  /// Where ranks save together: says in this rank's votes, before a step, how far its part is.
  void vote(kernel::Votes& own);
  /// Takes those of all after the step, by which they find out at the same time whether it is complete.
  void count(const kernel::Votes& all);
  /// Whether end() would return at once.
  bool has_ended() const;
  /// Waits for the checkpoint that was begun, and returns where it is.
  /// requires  is_busy()
  /// throws    FileError if it could not be saved: for whatever reason, where ranks save together
  std::filesystem::path end();
  /// Returns what the user should be told of the last checkpoint, or nothing, and forgets it.
  std::string take_note();
};

}  // namespace sinter
