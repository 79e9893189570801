// SPDX-License-Identifier: Apache-2.0
// Opens a recipe's data for the verbs.
#pragma once
#include <chrono>
#include <string>

#include "cli/arguments.hpp"

namespace sinter::detail::cli {

/// Opens the data to train on and the part that is held out, in the order and with the seed that
/// the arguments say.
/// throws    Error where the policy breaks what open() promises, so that a run could not be resumed
OpenedData open_training_data(const RecipeView& recipe, const Arguments& arguments);

/// Opens all of the data to evaluate on.
/// throws    Error where the policy gives nothing to evaluate
OpenedData open_evaluation_data(const RecipeView& recipe, const Arguments& arguments);

/// Opens what training held out of the data, cut into batches as its evaluations were: where the
/// weights are a checkpoint's, with the order and the options of its run.
/// throws    Error where nothing was held out; ArgumentError where the data are not the run's
OpenedData open_held_out_data(RecipeView& recipe, const Arguments& arguments);

/// Looks now and then whether the files of a run's data are still as they were read.
class DataWatch {
 public:
  explicit DataWatch(std::function<std::string()> given) : changed(std::move(given)) {}

  /// Returns a warning the first time that something has changed, else nothing. It looks at most
  /// once a minute, or at once if `at_the_end`.
  std::string look(bool at_the_end = false);

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds interval{60};
  std::function<std::string()> changed;  // empty when there is nothing more to tell
  Clock::time_point next = Clock::now() + interval;
};

}  // namespace sinter::detail::cli
