// SPDX-License-Identifier: Apache-2.0
// The reaction of a loop to a step that was not applied.
#include <fmt/format.h>

#include <cmath>

#include "sinter/error.hpp"
#include "sinter/files/run_folder.hpp"
#include "sinter/trainer/loop.hpp"
#include "trainer/loop_state.hpp"

namespace sinter {
using namespace detail;
namespace {

/// Batches in a row without predictions, at which a loop gives up.
constexpr int most_unpredicted = 100;

bool is_finite(const Skipped& step) {
  return std::isfinite(step.loss.sum) && std::isfinite(step.gradient_norm);
}

/// Returns a sentence such as "step 3 is skipped", with the reason.
std::string with_reason(const std::string& what, const Skipped& step) {
  if (step.reason == SkipReason::nothing_to_predict)
    return what +
           ": there is nothing to predict in its batch, by the objective or by ClassWeights.";
  if (!is_finite(step)) return what + ": its loss or gradients are not finite.";
  return fmt::format(
      "{}: the recipe's guard refuses its loss ({:.4g}) or its gradient's norm ({:.4g}).", what,
      step.loss.mean(), step.gradient_norm);
}

/// Returns what is wrong with a step, to be followed by "of step 3 is …".
std::string bad_number(const Skipped& step) {
  const bool loss = !std::isfinite(step.loss.sum);
  const double value = loss ? step.loss.sum : step.gradient_norm;
  const char* number = std::isnan(value) ? "NaN" : value > 0 ? "infinite" : "minus infinite";
  return fmt::format("{} ({})", loss ? "loss" : "gradient's norm", number);
}

/// Names the policy that reacts to bad steps, and its limit.
std::string policy_that_gives_up(const RecipeView& recipe) {
  std::string name;
  const std::string slot = std::string(recipe.recovers) + ": ";
  for (const std::string& policy : recipe.policies)
    if (policy.starts_with(slot)) name = policy.substr(slot.size(), policy.find('<') - slot.size());
  for (const Option& option : recipe.options)
    if (option.slot == recipe.recovers && option.name == "most")
      return fmt::format("{} gives up ({} is {})", name, option.dotted(), text_of(option));
  return name + " gives up";
}

}  // namespace

void Loop::react_to(const SkippedStep& bad, SamplerState after, const LoopOptions& options) {
  if (bad.outcome.reason == SkipReason::nothing_to_predict) note_unpredicted(bad, options);
  switch (bad.outcome.reaction) {
    case Reaction::stop:
      return stop_at(bad);
    case Reaction::skip:
      data_ = std::move(after);
      if (options.on_warning) options.on_warning(skipped_text(bad));
      return;
    case Reaction::roll_back:
    case Reaction::repeat:
      return roll_back(bad, std::move(after), options);
  }
}

/// Notes a batch without predictions in the log.
/// throws    ArgumentError after so many in a row
void Loop::note_unpredicted(const SkippedStep& bad, const LoopOptions& options) {
  if (++unpredicted_ == most_unpredicted)
    throw ArgumentError(fmt::format(
        "In {} batches in a row there was nothing to predict, so training stops at step {}. Look "
        "whether the data have tokens that may be hidden, as MaskedLm hides no special ones, or "
        "classes whose weight is above 0.",
        most_unpredicted, trainer_.steps()));
  try {
    record_.note(bad.step, "skipped", skipped_text(bad));
  } catch (const FileError& error) {
    log_has_failed(error, options);
  }
}

std::string Loop::skipped_text(const SkippedStep& bad) const {
  const double scale = trainer_.loss_scale();
  return fmt::format("{} {}, state and schedule are as they were.",
                     with_reason(fmt::format("step {} is skipped", bad.step), bad.outcome),
                     scale == 1 || is_finite(bad.outcome)
                         ? "Weights"
                         : fmt::format("The loss scale is now {:g}; weights", scale));
}

/// Returns the newest checkpoint that rank 0 knows to be good; empty if there is none.
std::filesystem::path Loop::newest_good() const {
  if (!folder_) return "";
  constexpr double none = -1;
  double step = 0;  // for ranks that do not know
  if (folder_->writes()) {
    const std::filesystem::path& good = folder_->newest_good();
    step = none;
    for (const StepFolder& one : step_folders(folder_->path()))
      if (one.folder == good) step = double(one.step);
  }
  step = trainer_.sum_over_processes(step);
  return step == none ? "" : folder_->path() / step_folder_name(std::int64_t(step));
}

/// Goes back to the newest good checkpoint. Keeps the state of the policy that asks for this and,
/// unless batches are to be repeated, the place in the data. Saves the checkpoint again with these,
/// so that a resumed run need not fail again before it continues.
void Loop::roll_back(const SkippedStep& bad, SamplerState after, const LoopOptions& options) {
  end_save(options, false);
  const std::filesystem::path good = newest_good();
  if (good.empty()) stop_at(bad);
  const bool repeat = bad.outcome.reaction == Reaction::repeat;
  clock_.pause([&] {
    const CheckpointReader from(good, Links::refused);
    SavedLoop saved = loop_state_of(from.info());
    saved.data.end = data_.end;
    trainer_.roll_back(from);
    if (repeat) {
      read_.restore(saved.data);
      data_ = saved.data;
    } else {
      data_ = std::move(after);
    }
    state_ = saved.state;
    mend_best();
  });
  (void)trainer_.sum_over_processes(0);  // all have read it, before it is saved anew
  const std::string text = fmt::format(
      "{} Training goes back to step {} ({}), and on from there with {} and a learning rate of "
      "{:.3g}.",
      with_reason(fmt::format("step {} goes wrong", bad.step), bad.outcome), trainer_.steps(),
      good.string(), repeat ? "the same batches" : "the batches that come next",
      trainer_.recipe().learning_rate(trainer_.steps() + 1));
  try {
    if (save_) record_ = RecordStage(*folder_, kept_rows());
    record_.note(trainer_.steps(), "rolled back", text);
  } catch (const FileError& error) {
    log_has_failed(error, options);
  }
  if (options.on_warning) options.on_warning(text);
  save_if(true, options);
  make_up_evaluation(options);
}

void Loop::stop_at(const SkippedStep& bad) {
  const std::string step = std::to_string(bad.step);
  const bool wants_back =
      bad.outcome.reaction == Reaction::roll_back || bad.outcome.reaction == Reaction::repeat;
  const RecipeView& recipe = trainer_.recipe();
  const bool gives_up = !wants_back && !recipe.recovers.empty();
  if (!is_finite(bad.outcome))
    throw NonFiniteError(stop_text("The " + bad_number(bad.outcome) + " of step " + step +
                                       " is not finite" +
                                       (gives_up ? ", and " + policy_that_gives_up(recipe) : ""),
                                   wants_back));
  throw DivergedError(
      stop_text(with_reason("Step " + step + " goes wrong", bad.outcome) + " " +
                    (gives_up ? policy_that_gives_up(recipe) : "No policy says how to go on"),
                wants_back));
}

std::string Loop::stop_text(const std::string& what, bool wants_back) {
  try {
    if (save_.is_busy()) save_.end();
  } catch (const FileError&) {  // an older checkpoint is the last good one
  }
  if (folder_ && !folder_->writes())
    return what + ", so training stops. Rank 0 says which checkpoint is good.";
  const std::string good = folder_ ? folder_->newest_good().string() : "";
  std::string text = what + ", so training stops. ";
  if (!good.empty()) text += "The last good checkpoint is " + good + ".";
  if (good.empty()) text += "No checkpoint has been saved yet";
  if (good.empty() && wants_back)
    text += folder_ ? " to go back to: save earlier (save_every; --save-every N)"
                    : " to go back to, as this loop has no folder: give it one";
  if (good.empty()) text += ".";
  return text + " A lower learning rate, a longer warm-up or a lower clipping bound may help.";
}

}  // namespace sinter
