// SPDX-License-Identifier: Apache-2.0
// The trainer without its recipe's type.
#pragma once
#include <filesystem>

#include "sinter/comm/world.hpp"
#include "sinter/data/host_batch.hpp"
#include "sinter/data/source.hpp"
#include "sinter/files/load.hpp"
#include "sinter/files/shards.hpp"
#include "sinter/graph/names.hpp"
#include "sinter/kernels/decision.hpp"
#include "sinter/kernels/matmul_rate.hpp"
#include "sinter/trainer/outcome.hpp"
#include "sinter/trainer/recipe_view.hpp"
#include "sinter/trainer/snapshot.hpp"

namespace sinter {

class CheckpointReader;

/// What a trainer is made with beside its recipe.
struct TrainerSettings {
  std::uint64_t seed = 0;  ///< of initial weights and dropout
  /// Of all ranks of this process together; 0 takes one for each processor, and where ranks are
  /// processes of this host, a rank's share of them.
  int threads = 0;
  /// Whether each thread has a processor of its own while it computes, of those that the process
  /// may run on. Threads that LibTorch starts in a layer would stay on one of them.
  bool pin = false;
  /// Where ranks are processes, which of them this is: on cards always; on the CPU only if it is given
  /// (else ranks are threads of this process), on one host or several. Their trainers are made at the same
  /// time, take the same steps and evaluations on the same batches, of which each computes its part, and
  /// have the same weights throughout. A batch may have the content of the process's own part alone
  /// (TrainerCore::part()). What else they do, such as to save, each does for itself; but where
  /// they have shards (Model::shards), all of them save, export, show or copy content, and read
  /// parameters, gradients and state at the same time, and each gets the whole. Where one rank updates for
  /// all (Model::at_root), that one alone has these, and others throw an Error.
  World world{};
  /// Where state lies that a recipe offloads to disk (Offload): in a file without a name, for each rank, that
  /// is gone when the trainer is. If it is empty, that is what the environment variable TMPDIR names if that is
  /// on a disk, else /var/tmp.
  std::filesystem::path scratch{};
};

/// Owns everything that a recipe trains with: threads, ranks and their arenas. It has no global
/// state, so several may live in one process. One thread at a time may use it.
class TrainerCore {
 public:
  /// Makes fresh weights of settings.seed.
  /// throws    ArgumentError if an option is out of range, if options contradict (such as a global
  ///           batch that is no multiple of micro × ranks), if threads are negative or more
  ///           than 16 for each processor, or are to be pinned and more than processors, or if
  ///           settings.world is not that of the recipe's ranks;
  ///           Error if the device is not there, or does not have the memory for the weights
  TrainerCore(RecipeView recipe, TrainerSettings settings);
  ~TrainerCore();

  /// The recipe, with options as they are now.
  const RecipeView& recipe() const { return recipe_; }
  /// The plan that it trains by.
  const PlanView& plan() const { return *recipe_.plan; }
  const TrainerSettings& settings() const { return settings_; }
  /// The number of steps applied so far.
  std::int64_t steps() const { return steps_; }
  /// The sequences of a global batch; the most that it may have if policies change it in the course
  /// of training. (A loop of your own must then ask recipe().batch_shapes how large batches are.)
  int global_batch() const { return recipe_.global(); }
  /// Which sequences of each batch this process computes: all, unless ranks are processes. Batches for
  /// steps and evaluations may have the content of these alone, in all processes or in none.
  BatchPart part() const;

  /// Checks that the machine, and the control group that the process is in, have the memory that
  /// the plan needs to train, and takes the room outside of it that offloaded state needs. (To evaluate and to
  /// export takes less.)
  /// throws    Error that says what there is, and what change to the recipe would fit; FileError that says
  ///           what of the room is missing
  void require_memory_to_train();

  /// Takes one training step on one global batch, which is split over ranks and into micro-batches.
  /// It has at least one sequence, and at most global_batch(); a rank that gets none adds nothing. The loss
  /// is the mean over all predictions of the batch.
  /// throws    ArgumentError, before anything has changed, if the batch does not fit the recipe (where it
  ///           has the content of a part alone, the other processes lose this rank then);
  ///           Error if a policy says that training cannot go on; before the first step, also if
  ///           there is not the memory (require_memory_to_train())
  Outcome step(const HostBatch& batch);

  /// Takes the loss over any number of sequences, and changes nothing. Where ranks are processes, all
  /// are given the same batch, and each computes its part.
  /// throws    ArgumentError if the batch does not fit the recipe
  Loss evaluate(const HostBatch& batch);
  /// Does so over all that is left of a finite source, of which a process reads its part.
  template <DataSource Source>
    requires(!std::is_void_v<decltype(std::declval<Source&>().next(std::declval<HostBatch&>()))>)
  Loss evaluate(Source& source) {
    Loss loss;
    HostBatch batch;
    BatchDraw draw;
    while (read_part(source, batch, draw)) loss += evaluate(batch);
    return loss;
  }
  /// Pulls the next batch of a source, of which a process gets its part (pull()). If the source throws, the
  /// others lose this rank: what they do next throws a RankError that names it.
  template <DataSource Source>
  bool read_part(Source& source, HostBatch& batch, BatchDraw& draw) {
    try {
      return pull(source, batch, draw, part());
    } catch (...) {
      give_up();
      throw;
    }
  }
  /// Says, where ranks are processes, that something has failed here alone and this one cannot go on, so
  /// that the others, who lose this rank, do not wait for it. So does the end of the trainer.
  void give_up() noexcept;

  /// Tells policies that act on validation losses (Plateau) of one.
  void after_evaluation(double validation_loss) { recipe_.state.after_evaluation(validation_loss); }
  /// What gradients are multiplied by in the next step; 1 without loss scaling.
  double loss_scale() const { return recipe_.state.loss_scale(); }

  /// What this process says to the others, where ranks are processes, in its next steps and evaluations; at
  /// first nothing. It costs no exchange of its own.
  void vote(const kernel::Votes& own) { own_votes_ = own; }
  /// How many processes have said so when the last step or evaluation began: all get the same answer. Of one
  /// process it is what vote() said last.
  const kernel::Votes& votes() const;
  /// Returns the sum of the values that all processes give, when all have come; one process gets its
  /// own. A number that one of them knows, and the others give 0 for, is known to all then.
  double sum_over_processes(double value);
  /// Does so with several values at once, of which there are at most 3.
  void sum_over_processes(std::span<double> values);
  /// How many predictions there are in the content that a batch has: in all of it, or in this process's
  /// part. What all processes have is their sum (HostBatch::predictions).
  std::int64_t predictions_in(const HostBatch& batch) const;

  /// Predicts for each sequence of which the batch has the content: for all, or for those of this process's
  /// part, of which there may be none. The batch need not have targets. Where ranks are processes that have
  /// their shards of the weights alone (Zero's stage 3), all of them predict at the same time, for the same
  /// batch or for their parts of it; so with predict_rows(), which is for whole batches.
  /// throws    ArgumentError if the model has no predict() or the batch does not fit it (where it has the
  ///           content of a part alone, the other processes lose this rank then)
  Prediction predict(const HostBatch& batch);
  /// Predicts for each row of each sequence. Where rows see none that follow them, that is what
  /// predict() predicts for a sequence that ends with the row; if predict() has a result for each
  /// row anyway, it is that one. on_rows gets the rows in the order of the batch, in parts as large
  /// as the arena has room for. No unit runs twice on a row.
  /// throws    ArgumentError if the model has no predict(), or one that takes the last rows
  ///           elsewhere than in its last unit, or if the batch does not fit it
  void predict_rows(const HostBatch& batch, const std::function<void(const Prediction&)>& on_rows);

  /// All parameters, in the order of the model; a tied one is listed once.
  const std::vector<Parameter>& parameters() const { return parameters_; }
  /// Whether other processes have parts of what is to be saved, so that all of them take part in each
  /// save.
  bool has_shards_elsewhere() const { return plan().model.shards > 1 && settings_.world.ranks > 1; }
  /// Copies a parameter's value, row-major.
  /// throws    ArgumentError if there is no such parameter; so do the next three
  std::vector<double> parameter(std::string_view name) const;
  /// Sets a parameter on all ranks, from values in the same order.
  /// throws    ArgumentError also if there are not as many values as it has elements
  void set_parameter(std::string_view name, std::span<const double> values);
  /// Copies the gradient of the last step, before clipping and without the loss scale.
  std::vector<double> gradient(std::string_view name) const;

  /// Copies what an optimizer or another policy keeps for a parameter in a region, which has the
  /// name that the policy gave it, such as "exp_avg".
  /// throws    ArgumentError also if there is no such region
  std::vector<double> state(std::string_view region, std::string_view parameter) const;

  // ---- files (src/trainer/core_files.cpp)
  /// Shows `use` what the files of a checkpoint hold of this trainer. The views are good until it
  /// returns.
  void show_content(const std::function<void(CheckpointContent)>& use) const;
  /// Begins to copy the same into a snapshot. All that changes the trainer afterwards waits for that:
  /// a step where it would update the weights, so that its forward and backward go on beside it.
  /// throws    std::bad_alloc if there is not the memory (Snapshot::copy())
  void copy_content(Snapshot& to) const;
  /// What a checkpoint's manifest says of this trainer under the key "trainer", as JSON: recipe,
  /// step, seed, policies, options, run state.
  std::string info() const;
  /// Restores all that show_content() and info() gave: the next step is, bit for bit, that of the
  /// trainer that was saved.
  /// throws    FileError, before anything has changed, if the checkpoint is of another recipe
  void restore(const CheckpointReader& reader);
  /// Does so, but for the run state of the policy that recovers from a step that went wrong, which
  /// goes on: it counts how often, and may have lowered the learning rate.
  void roll_back(const CheckpointReader& reader);
  /// Saves a checkpoint folder, atomically.
  void save(const std::filesystem::path& folder) const;
  /// Restores a checkpoint folder.
  void load(const std::filesystem::path& folder);
  /// Takes weights alone from a checkpoint, a run's folder, a Hugging Face folder or a safetensors
  /// file, and begins at step 0 with fresh state. `state` names state of a policy, such as "ema",
  /// that is taken in place of the weights that it is of; only checkpoints and runs' folders have
  /// it. Of a head that the weights lack `missing` says what becomes; one of theirs that the model
  /// lacks is left out. Returns what the user should be told, or nothing.
  /// throws    FileError if what is asked for is not there, or is of another model;
  ///           ArgumentError if state is asked for, but not of a checkpoint or a run's folder
  std::string load_weights(const std::filesystem::path& path, std::string_view state = {},
                           MissingHead missing = MissingHead::refused);
  /// Writes weights in files of up to `shard_bytes` each (write_shards) and, if Hugging Face has
  /// the architecture, config.json.
  /// throws    FileError if the folder exists and is not empty, or cannot be written
  void export_to(const std::filesystem::path& folder,
                 std::uint64_t shard_bytes = default_shard_bytes) const;

  /// Sets the observers of the ranks' steps and evaluations, one for each rank. No observers are
  /// called if this is empty.
  /// requires  there are none or as many as ranks, and they outlive their use
  void observe(std::vector<Observer*> observers) { observers_ = std::move(observers); }

  /// For tests: the machine of a rank.
  Machine& machine(int rank = 0) { return *machines_[rank]; }

 private:
  class RankThreads;

  void initialise();
  /// Adds what trainers of ranks that are processes must have in common.
  void add_facts(std::vector<Fact>& facts) const;
  /// Goes on after so many steps, with all ranks as the first one is.
  void set_steps(std::int64_t steps);
  /// Calls work(rank) on every rank of this process, which are counted from 0.
  /// throws    the failure of the first rank that failed by itself
  void on_ranks(const std::function<void(int)>& work);
  void on_predicting_ranks(const std::function<void(int)>& work);
  Observer* observer(int rank) const { return observers_.empty() ? nullptr : observers_[rank]; }
  int ranks_here() const { return int(machines_.size()); }
  std::int64_t all_predictions_in(const HostBatch& batch);
  /// Checks a batch for this model, which may have the content of this process's part.
  void check_part(const HostBatch& batch, const Model& model);
  void check_predicts() const;
  void on_micro_batches(const HostBatch& batch, const std::function<void(const Work&)>& use) const;
  const Parameter& find(std::string_view name) const;
  std::vector<double> read(Space space, std::string_view name) const;

  RecipeView recipe_;
  TrainerSettings settings_;
  std::vector<Parameter> parameters_;
  std::vector<int> processors_;  // of all threads, rank by rank; none where they are not pinned
  std::vector<std::unique_ptr<kernel::Stream>> streams_;
  std::vector<std::unique_ptr<class Communicator>> communicators_;
  std::vector<std::unique_ptr<Machine>> machines_;
  std::unique_ptr<RankThreads> threads_;
  std::vector<Observer*> observers_;
  std::int64_t steps_ = 0;
  kernel::MatmulWorkspace beside_;  // of LibTorch's products, for all threads of this process
  bool memory_suffices_ = false;    // to train, as far as it has been checked
  kernel::Votes own_votes_;
};

}  // namespace sinter
