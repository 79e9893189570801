// The trainer without its recipe's type.
#pragma once
#include <filesystem>

#include "sinter/data/host_batch.hpp"
#include "sinter/data/source.hpp"
#include "sinter/graph/names.hpp"
#include "sinter/trainer/outcome.hpp"
#include "sinter/trainer/recipe_view.hpp"

namespace sinter {

class CheckpointReader;
class CheckpointWriter;

/// seed: of initial weights and dropout. threads: of all ranks together; 0: one for each processor.
struct TrainerSettings {
  std::uint64_t seed = 0;
  int threads = 0;
};

/// Owns everything that a recipe trains with: threads, ranks, their arenas. No global state:
/// several may live in one process. One thread at a time may use it.
class TrainerCore {
 public:
  /// Fresh weights of settings.seed.
  /// throws  ArgumentError where options contradict (global not a multiple of micro × ranks), Error
  ///         where the machine cannot give the memory
  TrainerCore(RecipeView recipe, TrainerSettings settings);
  ~TrainerCore();

  const RecipeView& recipe() const { return recipe_; }
  const PlanView& plan() const { return *recipe_.plan; }
  const TrainerSettings& settings() const { return settings_; }
  /// Steps applied so far.
  std::int64_t steps() const { return steps_; }
  /// Sequences that a global batch has; at most, where policies change it in the course of training
  /// (RecipeView::batch_shapes, which a loop of your own must ask for the size of its batches).
  int global_batch() const { return recipe_.global(); }

  /// One optimizer step on one global batch: 1 to global_batch() sequences, split into
  /// micro-batches and over ranks. The loss is the mean over all predictions of the batch. throws
  /// ArgumentError, before anything has changed, where the batch does not fit the recipe
  Outcome step(const HostBatch& batch);

  /// The loss over any number of sequences. Changes nothing.
  Loss evaluate(const HostBatch& batch);
  /// The same over all that is left of a finite source.
  template <DataSource Source>
    requires(!std::is_void_v<decltype(std::declval<Source&>().next(std::declval<HostBatch&>()))>)
  Loss evaluate(Source& source) {
    Loss loss;
    HostBatch batch;
    while (source.next(batch)) loss += evaluate(batch);
    return loss;
  }

  /// Tells policies that wait for it (Plateau) of a validation loss.
  void after_evaluation(double validation_loss) { recipe_.state.after_evaluation(validation_loss); }
  /// What gradients are multiplied by in the next step. 1 without loss scaling.
  double loss_scale() const { return recipe_.state.loss_scale(); }

  /// The model's prediction for each sequence; targets are not asked for.
  Prediction predict(const HostBatch& batch);

  const std::vector<Parameter>& parameters() const { return parameters_; }
  /// A copy of a parameter's value, row-major. throws ArgumentError: no such parameter.
  std::vector<double> parameter(std::string_view name) const;
  void set_parameter(std::string_view name, std::span<const double> values);
  /// The gradient of the last step, before clipping.
  std::vector<double> gradient(std::string_view name) const;

  /// What an optimizer or another policy keeps for a parameter. region: the name that the policy
  /// gave it, such as "exp_avg".
  std::vector<double> state(std::string_view region, std::string_view parameter) const;

  // ---- files (src/trainer/files.cpp)
  /// Adds weights, config.json and the state of optimizer and policies to a checkpoint.
  void add_to(CheckpointWriter& writer) const;
  /// What a checkpoint's manifest must say of this trainer, under the key "trainer": recipe,
  /// options, step, seed. JSON.
  std::string info() const;
  /// Restores all of it: the next step is, bit for bit, that of the trainer that was saved.
  /// throws FileError, before anything has changed, where the checkpoint is of another recipe
  void restore(const CheckpointReader& reader);
  /// A checkpoint folder of its own, atomically.
  void save(const std::filesystem::path& folder) const;
  void load(const std::filesystem::path& folder);
  /// Weights alone, from a checkpoint, run folder, Hugging Face folder or safetensors file;
  /// optimizer state is fresh. Returns what the user should be told, or nothing.
  /// state: of a policy, to be taken in place of the weights that it is of, such as "ema"; only a
  /// checkpoint and a run's folder have it.
  std::string load_weights(const std::filesystem::path& path, std::string_view state = {});
  /// model.safetensors and, for architectures that Hugging Face has, config.json.
  void export_to(const std::filesystem::path& folder) const;

  /// Who is called around the instructions of each rank's steps and evaluations; empty: nobody.
  /// requires  as many as ranks, which outlive their use
  void observe(std::vector<Observer*> observers) { observers_ = std::move(observers); }

  /// For tests: the machine of a rank.
  Machine& machine(int rank = 0) { return *machines_[rank]; }

 private:
  class RankThreads;

  void initialise();
  /// Goes on at this step, with all ranks as the first one is.
  void set_steps(std::int64_t steps);
  /// Calls work(rank) on every rank; the first failure of a rank is thrown.
  void on_ranks(const std::function<void(int)>& work);
  Observer* observer(int rank) const { return observers_.empty() ? nullptr : observers_[rank]; }
  Work part_of(const HostBatch& batch, int rank) const;
  const Parameter& find(std::string_view name) const;
  std::vector<double> read(Space space, std::string_view name) const;

  RecipeView recipe_;
  TrainerSettings settings_;
  std::vector<Parameter> parameters_;
  std::vector<std::unique_ptr<kernel::Stream>> streams_;
  std::vector<std::unique_ptr<class Communicator>> communicators_;
  std::vector<std::unique_ptr<Machine>> machines_;
  std::unique_ptr<RankThreads> threads_;
  std::vector<Observer*> observers_;
  std::int64_t steps_ = 0;
};

/// "h.3", "h.0 … h.3, ln_f", or nothing: what an instruction works on.
std::string subject(const Model& model, const Instruction& instruction);

}  // namespace sinter
