// SPDX-License-Identifier: Apache-2.0
// How long `train` runs, by flags and data.
#pragma once
#include <string>

#include "cli/arguments.hpp"
#include "sinter/data/any_source.hpp"
#include "sinter/files/checkpoint.hpp"

namespace sinter::detail::cli {

/// Checks that at most one of --steps, --epochs and --examples is given.
/// throws    UsageError
void require_one_length(const Arguments& a);

/// Returns the number of steps by --steps, else that of a run that is told nothing. On a resume,
/// recipe.run_steps is that of the checkpoint.
/// throws    UsageError if nothing says it
std::int64_t last_step(const RecipeView& recipe, const Arguments& a);

/// The length of a run with --epochs or --examples.
struct LengthByData {
  std::int64_t steps;  ///< of the whole run
  std::string text;    ///< what they come to, for the header
};
/// Ends the source where --epochs or --examples say, and counts the steps. `resumed` is the checkpoint
/// to resume, or nullptr.
/// throws    Error if the source cannot end exactly there
LengthByData length_by_data(AnySource& training, const Arguments& a,
                            const CheckpointReader* resumed);

/// Ends the source of a resumed run where its data were to end, if they were.
void keep_end(AnySource& training, const CheckpointReader* resumed);

}  // namespace sinter::detail::cli
