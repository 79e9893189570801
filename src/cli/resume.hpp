// SPDX-License-Identifier: Apache-2.0
// What a resumed run takes over from its checkpoint.
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

}  // namespace sinter::detail::cli
