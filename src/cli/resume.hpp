// SPDX-License-Identifier: Apache-2.0
// What a resumed run, or another verb, takes over from a run's checkpoint.
#pragma once
#include <string>

#include "cli/arguments.hpp"
#include "sinter/files/checkpoint.hpp"

namespace sinter::detail::cli {

/// Restores a run's options, seed and order of data, unless the command line gives them. A resumed
/// run is then the run that was stopped. The seed cannot change. Returns notes for people, one per
/// line.
/// throws    FileError if the checkpoint does not have them; UsageError if another seed is given;
///           ArgumentError if the options contradict each other
[[nodiscard]] std::string take_over(const CheckpointReader& checkpoint, RecipeView& recipe,
                                    Arguments& arguments);

/// Sets the options by which the run of --weights read its data, and of `eval` also those by which it
/// wrote replies, unless the command line gives them. Does nothing where the weights are of no run,
/// or of one whose policy is another, or cannot be found. Returns notes for people, one per line.
/// throws    FileError if the run has a value that cannot be; ArgumentError if the options contradict
///           each other
[[nodiscard]] std::string take_over_options_of_run(RecipeView& recipe, const Arguments& arguments);

}  // namespace sinter::detail::cli
