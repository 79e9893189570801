// The stages around the training step. Each may be moved but not copied, and takes what the stage
// before it gives: a step needs a batch that was read, a row of the log a step that was applied, a
// checkpoint a row that is in the log. So a loop cannot be wired in another order.
//   read → ReadBatch → step → AppliedStep or SkippedStep → evaluate → record → RecordedStep → save
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

namespace sinter {

class MetricsLog;
class RunFolder;

/// A row of metrics.jsonl.
struct StepRecord {
  std::int64_t step = 0;     // from 1
  double loss = 0;           // mean over the predictions of the global batch, before the update
  double gradient_norm = 0;  // before clipping
  double learning_rate = 0;  // that the update used
  std::int64_t tokens = 0;   // rows trained on so far, this step's included
  double tokens_per_s = 0;   // this step's rows / step_ms
  double step_ms =
      0;  // wall time since the end of the previous step, without evaluation and saving
  std::optional<double> validation_loss;  // where evaluated

  std::string to_json() const;
  /// throws  Error where it is not such a row
  static StepRecord from_json(std::string_view json);
};

/// What a run has come to, beyond the trainer's own state. Checkpoints of a run hold it.
struct LoopState {
  StepRecord last;                                        // step 0: none yet
  double best = std::numeric_limits<double>::infinity();  // lowest validation loss
  std::int64_t best_step = 0;
  bool evaluation_due = false;  // a stop came between the last step and its evaluation
};

/// A global batch that no step has used, and where the source stands after it.
struct ReadBatch {
  HostBatch batch;
  SamplerState after;

  ReadBatch() = default;
  ReadBatch(ReadBatch&&) = default;
  ReadBatch& operator=(ReadBatch&&) = default;
};

/// A step that has advanced the weights.
struct AppliedStep {
  StepRecord record;
  SamplerState data;  // where the source stood after its batch
  bool evaluation_due = false;

  AppliedStep() = default;
  AppliedStep(AppliedStep&&) = default;
  AppliedStep& operator=(AppliedStep&&) = default;
};
/// A step whose loss or gradient was not finite: nothing has advanced.
struct SkippedStep {
  std::int64_t step;
  Skipped outcome;
};
/// An applied step that is in the log.
struct RecordedStep : AppliedStep {
  explicit RecordedStep(AppliedStep step) : AppliedStep(std::move(step)) {}
};

/// Gives global batches of any data source, read ahead by a thread of its own.
class ReadStage {
  std::unique_ptr<BackgroundReader<AnySource>> reader;
  HostBatch spare;

 public:
  ReadStage(AnySource source, int depth = 4);
  template <DataSource Source>
  ReadStage(Source source, int depth = 4) : ReadStage(AnySource(std::move(source)), depth) {}

  /// The next batch; none when the source has ended.
  std::optional<ReadBatch> operator()();
  /// Takes back the memory of a batch that was used.
  void recycle(HostBatch used) { spare = std::move(used); }
  SamplerState state() const;
  void restore(const SamplerState& saved);
};

/// Time between the ends of steps, less what is paused.
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
  /// Milliseconds since the last lap, and begins the next.
  double lap();
};

/// Trains on one batch.
class StepStage {
  TrainerCore* trainer;
  StepClock* clock;

 public:
  StepStage(TrainerCore& trainer, StepClock& clock) : trainer(&trainer), clock(&clock) {}
  StepStage(StepStage&&) = default;

  /// tokens_before: rows that steps before this one have trained on. The batch's memory stays
  /// usable.
  std::variant<AppliedStep, SkippedStep> operator()(ReadBatch& batch, std::int64_t tokens_before);
};

/// The loss over all of a finite source that is held out. Without a source: no evaluation.
class EvaluateStage {
  std::optional<AnySource> source;
  SamplerState begin;
  HostBatch batch;

 public:
  EvaluateStage() = default;
  EvaluateStage(AnySource source);
  template <DataSource Source>
  EvaluateStage(Source source) : EvaluateStage(AnySource(std::move(source))) {}

  explicit operator bool() const { return source.has_value(); }
  /// The mean loss; none if stop() said so between two batches.
  std::optional<double> operator()(TrainerCore& trainer, const std::function<bool()>& stop);
};

/// Writes the log, if there is one, and tells who listens.
class RecordStage {
  std::unique_ptr<MetricsLog> log;

 public:
  RecordStage();
  /// Rows after `kept_steps` are dropped.
  RecordStage(const RunFolder& folder, std::int64_t kept_steps);
  RecordStage(RecordStage&&) noexcept;
  RecordStage& operator=(RecordStage&&) noexcept;
  ~RecordStage();

  RecordedStep operator()(AppliedStep step, const std::function<void(const StepRecord&)>& tell);
  /// Makes what was recorded durable.
  void sync();
};

/// Saves checkpoints of a run, if it has a folder.
class SaveStage {
  TrainerCore* trainer;
  RunFolder* folder;

 public:
  SaveStage(TrainerCore& trainer, RunFolder* folder) : trainer(&trainer), folder(folder) {}
  SaveStage(SaveStage&&) = default;

  explicit operator bool() const { return folder != nullptr; }
  std::filesystem::path operator()(const LoopState& state, const SamplerState& data, bool best);
};

}  // namespace sinter
