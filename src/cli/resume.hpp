// SPDX-License-Identifier: Apache-2.0
// What a resumed run takes over from its checkpoint.
#pragma once
#include <string>

#include "cli/arguments.hpp"
#include "sinter/files/checkpoint.hpp"

namespace sinter::detail::cli {

/// Fills in what the command line leaves open, so that a resumed run is the run that was stopped:
/// options of policies, the seed and the order of the data. What is given stays, except the seed,
/// which cannot change. Returns notes for people, one per line.
/// throws    FileError where the checkpoint does not say it; UsageError where another seed is
///           given; ArgumentError where the options contradict
[[nodiscard]] std::string take_over(const CheckpointReader& checkpoint, RecipeView& recipe,
                                    Arguments& arguments);

}  // namespace sinter::detail::cli
