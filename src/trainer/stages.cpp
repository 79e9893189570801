// SPDX-License-Identifier: Apache-2.0
#include "sinter/trainer/stages.hpp"

#include <fmt/format.h>

#include <time.h>

#include <algorithm>
#include <future>
#include <new>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "sinter/error.hpp"
#include "sinter/files/metrics_log.hpp"
#include "sinter/files/run_folder.hpp"
#include "trainer/background.hpp"
#include "trainer/example_means.hpp"
#include "trainer/loop_state.hpp"
#include "trainer/shared_save.hpp"

namespace sinter::detail {

namespace {

/// Checks that a batch has the recipe's shape. A source that knows nothing of shapes would break
/// it.
void require_shape(const BatchShapes& shapes, const ReadBatch& read) {
  const HostBatch& batch = read.batch;
  const auto sequences = std::uint64_t(batch.sequences());
  if (read.after.items < sequences)
    throw ArgumentError(
        "The recipe changes its batches in the course of training, but the data source does not "
        "count what it hands out (SamplerState::items). Count it, or leave the policy out.");
  const BatchShape shape = shapes(read.after.items - sequences);
  int longest = 0;
  for (int s = 0; s < batch.sequences(); ++s)
    longest = std::max(longest, batch.starts[s + 1] - batch.starts[s]);
  if (batch.sequences() <= shape.sequences && longest <= shape.length) return;
  throw ArgumentError(fmt::format(
      "The data source gave {} sequences of up to {} rows, but the recipe's next batch is of {} "
      "sequences of up to {}. Give the source the trainer's recipe().batch_shapes().",
      batch.sequences(), longest, shape.sequences, shape.length));
}

/// Returns the record of a step's examples, if the source has counted them.
std::optional<ExampleRecord> record_of(const HostBatch& batch, double ms) {
  if (!batch.examples || batch.sequences() == 0) return std::nullopt;
  ExampleRecord record = means_of(*batch.examples, batch.sequences());
  record.examples_per_s = ms > 0 ? batch.sequences() / ms * 1000 : 0;
  record.padding = double(batch.examples->padding) / double(batch.all_rows());
  return record;
}

/// Returns the predictions of a batch, over all processes.
double predictions_of_all(TrainerCore& trainer, const HostBatch& batch) {
  if (!batch.part.is_whole() && batch.predictions) return double(*batch.predictions);
  const auto here = double(trainer.predictions_in(batch));
  return batch.part.is_whole() ? here : trainer.sum_over_processes(here);
}

[[noreturn]] void refuse_to_evaluate(const std::string& name, const std::string& origin) {
  throw ArgumentError(fmt::format(
      "The data for evaluation{}{} have nothing to predict: their source gave no batch, or no "
      "target in any, such as MaskedLm where a text has only special tokens. Give others by "
      "--validation, or none by --eval-every 0.",
      name.empty() ? "" : " '" + name + "'", origin.empty() ? "" : " (" + origin + ")"));
}

double milliseconds_since(std::chrono::steady_clock::time_point begin) {
  const auto now = std::chrono::steady_clock::now();
  return std::chrono::duration<double, std::milli>(now - begin).count();
}

}  // namespace

StepClock::Times StepClock::now() {
  timespec cpu{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
  const std::chrono::duration<double, std::milli> wall =
      std::chrono::steady_clock::now().time_since_epoch();
  return {wall.count(), 1e3 * double(cpu.tv_sec) + 1e-6 * double(cpu.tv_nsec)};
}

StepClock::Times StepClock::lap() {
  const Times end = now();
  const Times lap{end.wall_ms - since.wall_ms - paused.wall_ms,
                  std::max(0.0, end.cpu_ms - since.cpu_ms - paused.cpu_ms)};
  since = end;
  paused = {};
  return lap;
}

ReadStage::ReadStage(AnySource source, ReaderOptions given)
    : waiting(std::move(source)), reader_options(given) {
  require_in_range(reader_options);
}

void ReadStage::start() {
  if (has_started()) return;
  reader = std::make_unique<BackgroundReader>(*std::move(waiting), reader_options);
  waiting.reset();
}

SamplerState ReadStage::state() const { return has_started() ? reader->state() : waiting->state(); }

void ReadStage::restore(const SamplerState& saved) {
  has_started() ? reader->restore(saved) : waiting->restore(saved);
}

std::optional<ReadBatch> ReadStage::operator()() {
  start();
  ReadBatch read;
  read.batch = std::move(spare);
  const auto begin = std::chrono::steady_clock::now();
  if (!reader->next(read.batch)) return std::nullopt;
  read.waited_ms = milliseconds_since(begin);
  read.after = reader->state();
  return read;
}

std::variant<AppliedStep, SkippedStep> StepStage::operator()(ReadBatch& batch,
                                                             std::int64_t tokens_before) {
  std::int64_t number = trainer->steps() + 1;
  if (const RecipeView& recipe = trainer->recipe(); recipe.changes_batches) {
    if (!shapes) shapes = recipe.batch_shapes();
    require_shape(shapes, batch);
  }
  Outcome outcome = trainer->step(batch.batch);
  const StepClock::Times times = clock->lap();
  const double ms = times.wall_ms;
  if (auto* skipped = std::get_if<Skipped>(&outcome)) return SkippedStep{number, *skipped};
  const Applied& applied = std::get<Applied>(outcome);
  AppliedStep step;
  step.record.step = number;
  step.record.loss = applied.loss.mean();
  step.record.gradient_norm = applied.gradient_norm;
  step.record.learning_rate = applied.learning_rate;
  step.record.tokens = tokens_before + batch.batch.rows();
  step.record.tokens_per_s = ms > 0 ? batch.batch.rows() / ms * 1000 : 0;
  step.record.step_ms = ms;
  step.record.step_cpu_ms = times.cpu_ms;
  step.record.data_wait_ms = batch.waited_ms;
  step.record.predictions = applied.loss.count;
  step.record.rows = batch.batch.all_rows();
  step.record.examples = record_of(batch.batch, ms);
  step.data = batch.after;
  return step;
}

EvaluateStage::EvaluateStage(AnySource given) { add("", std::move(given)); }

void EvaluateStage::add(std::string name, AnySource given) {
  if (given.never_ends())
    throw ArgumentError(
        "a source to evaluate on never ends, so an evaluation would last for ever. Of arrays, take "
        "EvaluationArrays, which gives each row once; else a source whose next() returns false at "
        "its end.");
  SamplerState begin = given.state();
  sources.push_back({std::move(name), std::move(given), std::move(begin)});
  has_predictions = false;
}

void EvaluateStage::require_predictions(TrainerCore& trainer) {
  if (std::exchange(has_predictions, true)) return;
  for (HeldOut& held_out : sources) {
    held_out.source.restore(held_out.begin);
    HostBatch batch;
    BatchDraw draw;
    bool found = false;
    while (!found && trainer.read_part(held_out.source, batch, draw))
      found = predictions_of_all(trainer, batch) > 0;
    held_out.source.restore(held_out.begin);
    if (!found) refuse_to_evaluate(held_out.name, held_out.origin);
  }
}

std::optional<Evaluation> EvaluateStage::operator()(TrainerCore& trainer,
                                                    const std::function<bool()>& stop) {
  std::optional<Evaluation> whole;
  for (HeldOut& held_out : sources) {
    held_out.source.restore(held_out.begin);
    std::optional<Evaluation> found = evaluate_all(trainer, held_out.source, stop);
    if (!found) return std::nullopt;
    if (found->loss.count == 0) refuse_to_evaluate(held_out.name, held_out.origin);
    if (!whole) {
      whole = std::move(found);
      continue;
    }
    whole->metrics.push_back({held_out.name + "_loss", found->loss.mean()});
    for (const MetricValue& metric : found->metrics)
      whole->metrics.push_back({held_out.name + "_" + metric.name, metric.value});
  }
  return whole;
}

RecordStage::RecordStage() = default;
RecordStage::RecordStage(RecordStage&&) noexcept = default;
RecordStage& RecordStage::operator=(RecordStage&&) noexcept = default;
RecordStage::~RecordStage() = default;

RecordStage::RecordStage(const RunFolder& folder, std::int64_t kept_steps)
    : log(std::make_unique<MetricsLog>(folder.metrics_path(), kept_steps)) {}

void RecordStage::operator()(const AppliedStep& step,
                             const std::function<void(const StepRecord&)>& on_step) {
  if (log) log->append(step.record.to_json());
  if (on_step) on_step(step.record);
}

void RecordStage::note(std::int64_t step, std::string_view event, std::string_view text) {
  const nlohmann::ordered_json row{{"step", step}, {"event", event}, {"text", text}};
  if (log) log->append(row.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void RecordStage::sync() {
  if (log) log->sync();
}

namespace {

std::string info_of(const TrainerCore& trainer, const LoopState& state, const SamplerState& data) {
  nlohmann::ordered_json info{{"trainer", nlohmann::ordered_json::parse(trainer.info())}};
  add_loop_state(info, state, data);
  return info.dump();
}

/// Copies the content. Returns false if there was no memory for it.
bool copied(const TrainerCore& trainer, Snapshot& snapshot) try {
  trainer.copy_content(snapshot);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

}  // namespace

/// A checkpoint that a thread of this process writes alone.
struct PendingSave {
  std::future<std::filesystem::path> saved;  ///< its destructor waits for the thread
};

SaveStage::SaveStage(TrainerCore& t, RunFolder* f)
    : trainer(&t), folder(f && f->writes() ? f : nullptr) {
  if (f && t.settings().world.ranks > 1 && !t.plan().model.at_root())
    shared = std::make_unique<SharedSave>(t, *f, *snapshot);
}
SaveStage::SaveStage(SaveStage&&) noexcept = default;
SaveStage::~SaveStage() = default;

bool SaveStage::begin(const Request& request, bool in_background) {
  const std::string info = info_of(*trainer, request.state, request.data);
  if (shared) return shared->begin(info, request.best, request.before, in_background);
  auto save = [folder = folder, step = trainer->steps(), best = request.best,
               before = request.before, info](const CheckpointContent& content) {
    if (before) before();
    return folder->save(
        step, info, [&](CheckpointWriter& writer) { content.add_to(writer); }, best);
  };
  if (in_background && copied(*trainer, *snapshot)) try {
      pending = std::make_unique<PendingSave>(
          std::async(std::launch::async, [save, trainer = trainer, copy = snapshot.get()] {
            yield_to_others();
            trainer->recipe().open_device();
            return save(copy->content());
          }));
      return true;
    } catch (const std::system_error&) {  // the machine gives no thread
    }
  trainer->show_content([&](const CheckpointContent& content) {
    std::packaged_task<std::filesystem::path()> task([&] { return save(content); });
    pending = std::make_unique<PendingSave>(task.get_future());
    task();
  });
  return !in_background;
}

std::filesystem::path SaveStage::save_alone(const Request& request) {
  shared.reset();
  begin(request, false);
  return end();
}

bool SaveStage::is_busy() const { return shared ? shared->is_busy() : pending != nullptr; }

void SaveStage::vote(kernel::Votes& own) {
  if (shared && shared->is_busy()) shared->vote(own);
}

void SaveStage::count(const kernel::Votes& all) {
  if (shared && shared->is_busy()) shared->count(all);
}

bool SaveStage::has_ended() const {
  if (shared) return shared->is_busy() && shared->has_ended();
  return is_busy() && pending->saved.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

std::filesystem::path SaveStage::end() {
  if (shared) return shared->end();
  const std::unique_ptr<PendingSave> ended = std::move(pending);
  return ended->saved.get();
}

std::string SaveStage::take_note() { return shared ? shared->take_note() : ""; }

}  // namespace sinter::detail
