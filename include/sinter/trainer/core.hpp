// SPDX-License-Identifier: Apache-2.0
// The trainer without its recipe's type.
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "sinter/comm/world.hpp"
#include "sinter/data/host_batch.hpp"
#include "sinter/data/source.hpp"
#include "sinter/files/load.hpp"
#include "sinter/files/shards.hpp"
#include "sinter/graph/names.hpp"
#include "sinter/kernels/decision.hpp"
#include "sinter/kernels/matmul_rate.hpp"
#include "sinter/plan/parameter.hpp"
#include "sinter/run/machine.hpp"
#include "sinter/trainer/outcome.hpp"
#include "sinter/trainer/recipe_view.hpp"
#include "sinter/trainer/snapshot.hpp"

namespace sinter {

class CheckpointReader;

namespace detail {
/// The form of an export.
struct ExportForm {
  std::uint64_t shard_bytes = default_shard_bytes;  ///< maximum size of a file of weights
  std::optional<Dtype> dtype{};                     ///< type of weights; if unset, that of masters
  /// The parameters of a plan in int8: those that it stores in int8 are written as I8 numbers and F16
  /// scales, a scale for each group.
  std::vector<Parameter> int8{};
  /// Writes the other files. It gets the folder, and config.json's text of the recipe, which is
  /// empty if Hugging Face does not have the architecture. If unset, that text is written.
  std::function<void(const std::filesystem::path& into, const std::string& config)> finish{};
};
}  // namespace detail

/// Settings of a trainer that are not part of its recipe.
struct TrainerSettings {
  std::uint64_t seed = 0;  ///< seed of the initial weights and of dropout
  /// Number of threads, over all ranks of this process. 0: one for each processor that the
  /// process may use; if ranks are processes of this host, the rank's share of them.
  int threads = 0;
  /// True if each thread is pinned to a processor of its own while it computes, among those that
  /// the process may use. A thread that LibTorch starts in a layer inherits the processor of the
  /// calling thread.
  bool pin = false;
  /// The rank of this process, on one host or several. On cards each rank is a process; on the CPU
  /// only if this is set (else ranks are threads of this process). All processes make their
  /// trainers at the same time, take the same steps and evaluations on the same batches, and always
  /// have the same weights. Each computes its part of a batch, and needs the content of only that
  /// part (TrainerCore::part()). Everything else, such as saving, each process does for itself,
  /// except:
  /// - If processes have shards (Model::shards), they save, export, show or copy content, and read
  ///   parameters, gradients and state at the same time. Each gets the whole.
  /// - If one rank updates for all (Model::at_root), only that rank has these, and others throw an
  ///   Error.
  World world{};
  /// Folder for state that a recipe offloads to disk (Offload). Each rank has an unnamed file in
  /// it, which disappears with the trainer. If empty: the folder that the environment variable
  /// TMPDIR names, if that is on a disk, else /var/tmp.
  std::filesystem::path scratch{};
  /// Steps of the whole run, for a schedule whose horizon is the run's length; 0: unknown. A Loop
  /// sets its own number (TrainerCore::set_run_steps()).
  std::int64_t steps = 0;
};

/// Owns everything that a recipe trains with: threads, ranks and their arenas. It has no global
/// state, so one process may have several trainers. Only one thread at a time may use a trainer.
class TrainerCore {
 public:
  /// Initialises the weights from settings.seed.
  /// throws    ArgumentError if an option is out of range, settings.steps is negative, or options
  ///           contradict each other, such as
  ///           a global batch that is no multiple of micro × ranks;
  /// throws    ArgumentError if settings.world does not fit the ranks, or threads are negative,
  ///           above 16 per processor, or pinned and more than processors;
  /// throws    Error if the device is missing, or lacks the memory for the weights
  TrainerCore(std::shared_ptr<detail::RecipeView> recipe, TrainerSettings settings);
  ~TrainerCore();

  /// The recipe, with the current values of its options.
  const detail::RecipeView& recipe() const { return *recipe_; }
  /// The plan of the recipe.
  const detail::PlanView& plan() const { return *recipe_->plan; }
  const TrainerSettings& settings() const { return settings_; }  ///< the settings that were given
  /// Number of steps applied so far.
  std::int64_t steps() const { return steps_; }
  /// Sets the number of steps of the whole run, in place of TrainerSettings::steps: the horizon of
  /// a schedule that states none. 0: unknown.
  /// throws    ArgumentError if it is negative
  void set_run_steps(std::int64_t steps);
  /// Number of sequences of a global batch, or the maximum if policies change it in the course of
  /// training. (Your own loop must then ask recipe().batch_shapes() for the size of each batch.)
  int global_batch() const { return recipe_->global_batch(); }
  /// The sequences of each batch that this process computes: all, unless ranks are processes. A
  /// batch for a step or an evaluation may have the content of only these, in all processes or in
  /// none.
  BatchPart part() const;

  /// Checks that the machine, and the control group of the process, have the memory for training.
  /// Also reserves the space for offloaded state. (Evaluating and exporting take less.)
  /// throws    Error that states what is available, and which change to the recipe would fit;
  ///           FileError that states how much space is missing
  void require_memory_to_train();

  /// Takes one training step on one global batch, which is split over ranks and into micro-batches.
  /// The batch has 1 to global_batch() sequences; a rank that gets none adds nothing. The loss is
  /// the mean over all predictions of the batch, with ClassWeights the weighted one. If the
  /// recipe's objective left none on any rank, the step is Skipped.
  /// throws    ArgumentError, before anything has changed, if the batch does not fit the recipe. If
  ///           the batch has the content of only a part, the other processes then lose this rank.
  ///           ArgumentError if the schedule's horizon is the run's length, and that is unknown
  ///           (TrainerSettings::steps).
  ///           Error if a policy ends the training; before the first step, also if memory does not
  ///           suffice (require_memory_to_train())
  [[nodiscard(
      "the step may be Skipped: where its loss or gradients are not finite, or nothing is to be "
      "predicted, weights, state and schedule are as they were")]] Outcome
  step(const HostBatch& batch);

  /// Returns the loss over any number of sequences, without LabelSmoothing and ClassWeights, and
  /// changes nothing. If ranks are processes, all
  /// get the same batch, and each computes its part.
  /// throws    ArgumentError if the batch does not fit the recipe
  Loss evaluate(const HostBatch& batch);
  /// Returns the loss over the rest of a finite source, of which each process reads its part.
  template <DataSource Source>
  Loss evaluate(Source& source) {
    Loss loss;
    if constexpr (!detail::can_be_evaluated<Source>()) return loss;
    HostBatch batch;
    BatchDraw draw;
    while (read_part(source, batch, draw)) loss += evaluate(batch);
    return loss;
  }
  /// Reads this process's part of the source's next batch (pull()). Returns false if there is none.
  /// If the source throws, the other processes lose this rank: their next call throws a RankError
  /// that names it.
  template <DataSource Source>
  bool read_part(Source& source, HostBatch& batch, BatchDraw& draw) {
    try {
      return detail::pull(source, batch, draw, part());
    } catch (...) {
      give_up();
      throw;
    }
  }
  /// Reports to the other processes that this one has failed and cannot go on, so that they do not
  /// wait for it. The destructor does the same. Without other processes, this does nothing.
  void give_up() noexcept;

  /// Passes a validation loss to the policies that act on it (Plateau), and with it the metrics of
  /// the evaluation, which one of them may watch.
  /// throws    ArgumentError if a policy watches a metric that is not among them
  void after_evaluation(double validation_loss, std::span<const MetricValue> metrics = {}) {
    recipe_->after_evaluation(validation_loss, metrics);
  }
  /// The factor that gradients are multiplied by in the next step; 1 without loss scaling.
  double loss_scale() const { return recipe_->loss_scale(); }

  /// Sets this process's votes, which its next steps and evaluations send to the other processes.
  /// At first they are zero. Votes travel with an exchange that each step has anyway.
  void vote(const kernel::Votes& own) { own_votes_ = own; }
  /// Sum over processes of the votes cast when the last step or evaluation began; equal in all of
  /// them. With one process, its own votes.
  const kernel::Votes& votes() const;
  /// Returns the sum of `value` over all processes, once all have called this; with one process,
  /// `value`. A process can broadcast a number if all others pass 0.
  double sum_over_processes(double value);
  /// Replaces each of the values by its sum over all processes.
  void sum_over_processes(std::span<double> values);
  /// Number of predictions in the content that the batch has: the whole, or this process's part.
  /// The sum over processes is HostBatch::predictions.
  std::int64_t predictions_in(const HostBatch& batch) const;

  /// Predicts for each sequence whose content the batch has: all, or this process's part, which may
  /// be empty. The batch needs no targets. If processes have only their shards of the weights
  /// (Zero's stage 3), all of them predict at the same time, for the same batch or their parts of
  /// it. The same holds for predict_rows(), which takes whole batches.
  /// throws    ArgumentError if the model has no predict() or the batch does not fit it. If the
  ///           batch has the content of only a part, the other processes then lose this rank.
  Prediction predict(const HostBatch& batch);
  /// Predicts for each row of each sequence. If no row sees those after it, each result is that of
  /// predict() for a sequence that ends with the row. If predict() itself has a result for each
  /// row, these are the results. on_rows gets the rows in batch order, in parts as large as the
  /// arena has room for. No unit runs twice on a row.
  /// throws    ArgumentError if the model has no predict(), or one that takes the last rows
  ///           elsewhere than in its last unit, or if the batch does not fit it
  void predict_rows(const HostBatch& batch, const std::function<void(const Prediction&)>& on_rows);

  /// All parameters, in model order; a tied one is listed once.
  const std::vector<detail::Parameter>& parameters() const& { return parameters_; }
  /// All parameters of a temporary trainer. They outlive it, so that a loop may walk them.
  std::vector<detail::Parameter> parameters() && { return std::move(parameters_); }
  /// True if other processes have parts of what is to be saved, so that all must take part in each
  /// save.
  bool has_shards_elsewhere() const { return plan().model.shards > 1 && settings_.world.ranks > 1; }
  /// Returns a copy of a parameter's value, row-major.
  /// throws    ArgumentError if there is no such parameter; so do the next three
  std::vector<double> parameter(std::string_view name) const;
  /// Sets a parameter on all ranks, from row-major values.
  /// throws    ArgumentError also if the number of values is not the parameter's size
  void set_parameter(std::string_view name, std::span<const double> values);
  /// Copies the weights as layers read them to a trainer for generation, of the same model. If ranks are
  /// processes, all do so at the same time.
  void give_weights(TrainerCore& to) const;
  /// Returns a copy of the last step's gradient, before clipping and without the loss scale.
  std::vector<double> gradient(std::string_view name) const;

  /// Returns a copy of the state that an optimizer or another policy has for a parameter. `region`
  /// is the policy's name for it, such as "exp_avg".
  /// throws    ArgumentError also if there is no such region
  std::vector<double> state(std::string_view region, std::string_view parameter) const;

  // ---- files (src/trainer/core_files.cpp)
  /// Calls `use` with the content of this trainer's checkpoint files, as views that are valid until
  /// `use` returns.
  void show_content(const std::function<void(detail::CheckpointContent)>& use) const;
  /// Begins to copy this content into a snapshot. Later changes to the trainer wait for the copy: a
  /// step waits before it updates the weights, while its forward and backward run beside the copy.
  /// throws    std::bad_alloc if memory does not suffice (Snapshot::copy())
  void copy_content(detail::Snapshot& to) const;
  /// Returns the value of "trainer" in a checkpoint's manifest, as JSON: recipe, step, seed,
  /// policies, options, run state.
  std::string info() const;
  /// Restores all that show_content() and info() gave: the next step is bit for bit that of the
  /// saved trainer. So is the length of its run, unless TrainerSettings::steps states another.
  /// throws    FileError, before anything has changed, if the checkpoint is of another recipe
  void restore(const CheckpointReader& reader);
  /// Restores all but the run state of the policy that recovers from bad steps. That policy has
  /// counted them, and may have lowered the learning rate.
  void roll_back(const CheckpointReader& reader);
  /// Saves a checkpoint folder, atomically.
  void save(const std::filesystem::path& folder) const;
  /// Restores a checkpoint folder.
  void load(const std::filesystem::path& folder);
  /// Loads only the weights of a checkpoint, a run's folder, a Hugging Face folder or a safetensors
  /// file, and begins at step 0 with fresh state. Of a run's folder it takes the best checkpoint,
  /// or the last if there is no best; RUN@best, RUN@last or RUN@STEP names one. Returns a message
  /// for the user, which says what was taken, or nothing. If
  /// `state` names state of a policy, such as "ema", that is loaded in place of the weights it
  /// belongs to. Only checkpoints and runs' folders have it. `missing` decides what becomes of a
  /// head that the file lacks; a head that only the file has is left out. If the file has no adapter
  /// (Lora) at all, the trainer's adapters stay as they are.
  /// throws    FileError if something asked for is missing, or is of another model;
  ///           ArgumentError if `state` is given and `path` is no checkpoint and no run's folder
  std::string load_weights(const std::filesystem::path& path, std::string_view state = {},
                           detail::MissingHead missing = detail::MissingHead::refused);
  /// Loads adapters, and modules that were saved whole, from PEFT's folder. Returns a message for the
  /// user, or nothing.
  /// throws    FileError if the folder's adapters are of another kind than the recipe's, or of other
  ///           layers; ArgumentError if the recipe has no Lora
  std::string load_adapter(const std::filesystem::path& folder);
  /// Writes the adapters and modules that are trained whole as PEFT's folder, which appears only when it
  /// is complete. `base` is the model's name or path; it may be empty.
  /// throws    FileError if the folder exists and is not empty, or cannot be written; ArgumentError if
  ///           the recipe has no Lora, or transformers does not have the architecture
  void export_adapter(const std::filesystem::path& folder, const std::string& base) const;
  /// Writes the weights in files of up to `shard_bytes` each (write_shards) and, if Hugging Face
  /// has the architecture, config.json.
  /// throws    FileError if the folder exists and is not empty, or cannot be written
  void export_to(const std::filesystem::path& folder,
                 std::uint64_t shard_bytes = detail::default_shard_bytes) const;
  /// Writes an export in another form: weights of one type, and other files beside them.
  /// throws    what the first export_to() throws; ArgumentError if a weight is too large a number
  ///           for the type; what `finish` throws. Nothing is then left in the folder.
  void export_to(const std::filesystem::path& folder, const detail::ExportForm& form) const;

  /// Shows the weights by their names in files, for as long as the call takes. Adapters are merged into
  /// the weights of their layers.
  void show_weights(const std::function<void(std::span<const detail::TensorView>)>& use) const;

  /// Sets one observer per rank for steps and evaluations. An empty list removes them.
  /// requires  there are none or as many as ranks, and they outlive their use
  void observe(std::vector<detail::Observer*> observers) { observers_ = std::move(observers); }
  /// True if there are observers.
  bool is_observed() const { return !observers_.empty(); }

  /// The machine of a rank, for tests.
  Machine& machine(int rank = 0) { return *machines_[rank]; }

 private:
  class RankThreads;

  void initialise();
  /// Adds what must be equal in the trainers of all processes.
  void add_facts(std::vector<detail::Fact>& facts) const;
  /// Sets the step count, and copies the first rank's state to all ranks.
  void set_steps(std::int64_t steps);
  /// Calls work(rank) on each rank of this process, counted from 0.
  /// throws    the failure of the first rank that failed by itself
  void on_ranks(const std::function<void(int)>& work);
  void on_predicting_ranks(const std::function<void(int)>& work);
  detail::Observer* observer(int rank) const {
    return observers_.empty() ? nullptr : observers_[rank];
  }
  int ranks_here() const { return int(machines_.size()); }
  std::int64_t all_predictions_in(const HostBatch& batch);
  double all_weights_in(const HostBatch& batch, std::int64_t predictions);
  std::int64_t count_right();
  /// Checks a batch for this model; it may have the content of only this process's part.
  void check_part(const HostBatch& batch, const Model& model);
  void check_predicts() const;
  void on_micro_batches(const HostBatch& batch,
                        const std::function<void(const detail::Work&)>& use) const;
  const detail::Parameter& find(std::string_view name) const;
  std::vector<double> read(Space space, std::string_view name) const;

  std::shared_ptr<detail::RecipeView> recipe_;
  TrainerSettings settings_;
  std::vector<detail::Parameter> parameters_;
  std::vector<int> processors_;  // of all threads, rank by rank; empty unless threads are pinned
  std::vector<std::unique_ptr<kernel::Stream>> streams_;
  std::vector<std::unique_ptr<class Communicator>> communicators_;
  std::vector<std::unique_ptr<Machine>> machines_;
  std::unique_ptr<RankThreads> threads_;
  std::vector<detail::Observer*> observers_;
  std::int64_t steps_ = 0;
  kernel::MatmulWorkspace beside_;  // of LibTorch's products, for all threads of this process
  bool memory_suffices_ = false;    // true once the memory to train has been checked
  kernel::Votes own_votes_;
};

}  // namespace sinter
