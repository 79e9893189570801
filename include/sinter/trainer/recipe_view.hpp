// SPDX-License-Identifier: Apache-2.0
// A recipe without its type, as the library trains it.
#pragma once
#include <memory>
#include <optional>
#include <span>

#include "sinter/comm/communicator.hpp"
#include "sinter/comm/world.hpp"
#include "sinter/data/batch_shape.hpp"
#include "sinter/data/data_view.hpp"
#include "sinter/evaluation/reply_writing.hpp"
#include "sinter/graph/names.hpp"
#include "sinter/layer/lora_options.hpp"
#include "sinter/metric/metric.hpp"
#include "sinter/model/hugging_face.hpp"
#include "sinter/plan/plan_view.hpp"
#include "sinter/policy/options.hpp"
#include "sinter/recovery/reaction.hpp"
#include "sinter/run/step_figures.hpp"
#include "sinter/stopping/early_stop.hpp"

namespace sinter::detail {

struct Alternative;

/// A recipe with its type erased, which RecipeOf<R> (recipe_of.hpp) implements. It owns the options
/// and the run state of the policies. Its functions use the options as they are at the call.
class RecipeView {
 public:
  RecipeView();
  RecipeView(const RecipeView&) = delete;
  RecipeView& operator=(const RecipeView&) = delete;
  virtual ~RecipeView();

  // ---- constants
  std::string name;                   ///< name of the recipe's type
  std::vector<std::string> policies;  ///< "slot: type", including defaults
  /// The hooks (policy/hooks.hpp) of each of `policies`, in the same order.
  std::vector<std::span<const std::string_view>> hooks;
  /// Names of slots that are not decisive (slots.hpp).
  std::vector<std::string_view> free_slots;
  const PlanView* plan = nullptr;  ///< a constant of the program
  /// Makes this recipe's view for a generator (generator.hpp). Null if its model does not continue
  /// texts with a cache, or if the program does not generate; `not_continued` then says why.
  std::shared_ptr<RecipeView> (*generation)() = nullptr;
  /// Makes the view for the generator by which evaluations write replies. Null if they write none, or
  /// if the model does not continue texts with a cache; `not_continued` then says why.
  std::shared_ptr<RecipeView> (*reply_generation)() = nullptr;
  /// Makes the view without quantization; null if `generation` has none.
  std::shared_ptr<RecipeView> (*plain_generation)() = nullptr;
  /// Makes the view for predictions and evaluations with weights as the recipe's Quantize stores them;
  /// null without that policy, or if the program does not ask for it.
  std::shared_ptr<RecipeView> (*quantized)() = nullptr;
  std::string not_continued;
  std::optional<LoraOptions> lora;     ///< of the adapters, if the recipe has Lora
  SamplingSettings sampling;           ///< what the recipe says of choosing tokens
  std::vector<ParameterGroup> groups;  ///< a parameter is in the first group that matches
  HuggingFace hugging_face;            ///< empty if Hugging Face does not have the architecture
  DataFacts data;                      ///< what the data policy offers to the verbs of a binary
  bool on_host = true;                 ///< true if the device is the processor
  bool joins_worlds = false;           ///< true if ranks can be processes
  bool changes_batches = false;  ///< true if policies change batches in the course of training
  bool chooses_predictions =
      false;  ///< true if a policy chooses what is predicted, such as MaskedLm
  /// The slot of the policy that decides on the reaction to a step that was not applied; if empty,
  /// training stops.
  std::string_view recovers;
  /// The slot of a policy that acts on validation losses; empty if none does.
  std::string_view acts_on_evaluations;
  /// The metric that this policy watches; empty for the loss.
  std::string_view watches;
  /// Weights of the classes in the loss of training; empty if all are 1.
  std::span<const double> class_weights;
  /// What an evaluation says beside the loss; Accuracy for a model of classes whose recipe does not say.
  std::span<const Metric> metrics;

  /// True if evaluations write no replies, whatever the recipe's Evaluate says, and leave its metrics of
  /// texts out. It is of this process alone: neither checkpoints nor runs' folders have it.
  bool skips_generation = false;

  /// True if evaluations write replies and score them.
  bool scores_replies() const;
  /// The plan of the generator by which evaluations write replies; null if they write none, or without one.
  const PlanView* reply_plan() const;
  /// True if an evaluation counts the predictions that are right (Loss::right).
  bool counts_right() const;

  // ---- options and run state
  std::vector<Option> options;            ///< of all policies, field by field
  std::vector<OptionsOf> policy_options;  ///< the same options, as whole structs, by slot
  /// The run state of all policies, such as a loss scale, field by field. Checkpoints hold it.
  std::vector<Option> run_state;
  std::vector<OptionsOf> policy_states;  ///< the same run state, as whole structs, by slot

  /// Steps of the whole run, those before a resume included; 0 if unknown. It is the horizon of a
  /// schedule that states none.
  std::int64_t run_steps = 0;

  /// Restores the initial run state, for the current options.
  virtual void reset_state() = 0;
  /// Checks the options of the policies that change batches.
  /// throws    ArgumentError if they contradict each other
  virtual void check_batches() const = 0;
  /// A policy whose options may contradict each other, and how they do.
  struct Combination {
    std::string_view slot;        ///< the slot of the policy
    Contradiction contradiction;  ///< empty if its options fit together
  };
  /// Returns all policies that may have such options, with `steps` as the horizon of a schedule that
  /// states none; 0: that is not looked at.
  virtual std::vector<Combination> combinations(std::int64_t steps = 0) const = 0;
  /// Returns lines in which policies report choices.
  virtual std::vector<std::string> notes() const = 0;
  /// Returns the policies that the rules allow in place of the recipe's own.
  virtual std::vector<Alternative> alternatives() const = 0;

  // ---- ranks and their device
  /// Returns the number of ranks.
  virtual int ranks() const = 0;
  /// Lets the calling thread compute on the device (DevicePolicy).
  /// throws    Error if the device is missing
  virtual void open_device() const = 0;
  /// Makes the communicator of a rank that is a process.
  /// requires  joins_worlds
  virtual std::unique_ptr<Communicator> join_world(kernel::Stream& stream,
                                                   const World& world) const = 0;

  // ---- steps
  /// Returns the number of sequences of the global batch.
  virtual int global_batch() const = 0;
  /// Returns the shapes of batches, for the data source; empty unless changes_batches. The shapes
  /// keep the current options.
  virtual BatchShapes batch_shapes() const = 0;
  /// Returns the last step of the schedule as its options state it: 0 if that is the run's length;
  /// none if the schedule has no such step.
  virtual std::optional<std::int64_t> stated_horizon() const = 0;
  /// True if the schedule needs the run's length, and run_steps is unknown.
  bool lacks_length() const { return stated_horizon() == 0 && run_steps == 0; }
  /// Returns the schedule's factor of the learning rate in a step, from 1.
  virtual double schedule_factor(std::int64_t step) const = 0;
  /// The learning rate of a step.
  struct Rate {
    double learning_rate;  ///< including all factors
    double factor;         ///< the product of all factors but the optimizer's rate
  };
  /// Returns the rate of a step whose global batch has `sequences` sequences.
  virtual Rate rate(std::int64_t step, int sequences) const = 0;
  /// Returns the learning rate of a step with a whole global batch.
  double learning_rate(std::int64_t step) const { return rate(step, global_batch()).learning_rate; }
  /// Returns the factor that the gradients of the next step are multiplied by.
  virtual double loss_scale() const = 0;
  /// Returns the share of a target that cross-entropies divide among all classes in training.
  virtual double label_smoothing() const = 0;
  /// Passes a step to the policies. Returns how to react if the step was not applied.
  /// throws    Error if a policy ends the training
  virtual Reaction after_step(const StepFigures& step) = 0;
  /// Passes a validation loss, and the metrics of the evaluation, to the policies.
  /// requires  the metrics have what the policies watch
  virtual void after_evaluation(double loss, std::span<const MetricValue> metrics) = 0;
  /// Returns when a run ends before its last step, if a policy says so.
  virtual std::optional<EarlyStopping> early_stop() const = 0;
  /// Returns how evaluations write replies, if a policy says so.
  virtual std::optional<ReplyWriting> writes() const = 0;

  // ---- data (data/data_view.hpp)
  /// Opens the data that a verb asks for.
  /// requires  data.opens
  virtual OpenedData open(const DataRequest& request) const = 0;
  /// Returns the data policy's own tokenizer.
  /// requires  data.has_tokenizer
  virtual Tokenizer tokenizer() const = 0;
  /// Returns the prompt that the model gets for a text. By default this is what the tokenizer puts
  /// before a text (Tokenizer::before) and the text's tokens, which may be none.
  virtual Prompt prompt(const Tokenizer& tokenizer, std::string_view text) const;
  /// Returns the batching of the recipe's policy for global batches of at most `sequences`, if
  /// there is one.
  virtual std::optional<Batching> batching(int sequences) const = 0;
};

/// Finds the recipe's metric of this name; none for "" or "loss", which is the validation loss.
/// throws    ArgumentError that lists the recipe's metrics, or says that the metric needs replies and none
///           are written (skips_generation); `asks` is the option that names this one
const Metric* metric_named(const RecipeView& recipe, std::string_view name, std::string_view asks);

/// Returns the figure of an evaluation that a policy watches: the metric of this name, or the loss for "".
/// throws    ArgumentError if the recipe or the evaluation does not have it
Watched figure_of(const RecipeView& recipe, std::string_view name, double loss,
                  std::span<const MetricValue> metrics);

/// Checks that numbers are in their policies' ranges and do not contradict each other. A trainer's
/// constructor does the same.
/// throws    ArgumentError that names the option, its value and what is allowed
void check_options(const RecipeView& recipe);

/// A fault of a model in words: what it is and, if `node` is not empty, the layer call.
std::string fault_text(const char* what, const char* unit, const char* node);

}  // namespace sinter::detail
