// SPDX-License-Identifier: Apache-2.0
// Opens a recipe's data for the verbs.
#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "cli/arguments.hpp"

namespace sinter::detail::cli {

/// Opens the training data and the held-out part, with the order and the seed of the arguments.
/// throws    Error if the policy breaks a promise of open(), so that a run could not be resumed
OpenedData open_training_data(const RecipeView& recipe, const Arguments& arguments);

/// Opens all data for an evaluation.
/// throws    Error if the policy gives nothing to evaluate
OpenedData open_evaluation_data(const RecipeView& recipe, const Arguments& arguments);

/// Opens data to evaluate on beside training, in place of those that --data names.
/// throws    Error if the policy gives nothing to evaluate
OpenedData open_validation_data(const RecipeView& recipe, const Arguments& arguments,
                                const std::vector<std::string>& paths);

/// What --held-out evaluates.
struct HeldOutData {
  OpenedData first;  ///< what training chose the best checkpoint by
  /// Further sets of --validation, with their names.
  std::vector<std::pair<std::string, OpenedData>> more{};
};

/// Opens the data that training held out, or those that it evaluated on instead, cut into batches as in its evaluations. If the weights
/// are a checkpoint's, this uses the order and the options of its run.
/// throws    Error if nothing was held out; ArgumentError if the data are not the run's
HeldOutData open_held_out_data(RecipeView& recipe, const Arguments& arguments);

/// Watches the files of a run's data for changes.
class DataWatch {
 public:
  explicit DataWatch(std::function<std::string()> given) : changed(std::move(given)) {}

  /// Returns a warning once, when a file has changed; otherwise an empty text. It checks at most
  /// once a minute, or at once if `at_the_end`.
  std::string look(bool at_the_end = false);

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds interval{60};
  std::function<std::string()> changed;  // empty once it has warned
  Clock::time_point next = Clock::now() + interval;
};

}  // namespace sinter::detail::cli
