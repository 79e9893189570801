// SPDX-License-Identifier: Apache-2.0
// What --validation names: data to evaluate on, in place of a part that is held out of --data.
#pragma once
#include <string>
#include <vector>

#include "cli/arguments.hpp"
#include "sinter/trainer/stages.hpp"

namespace sinter::detail::cli {

/// Data to evaluate on, read together.
struct ValidationSet {
  std::string name;  ///< empty for the first set if it has none
  std::vector<std::string> paths;
};

/// Groups the words of --validation: NAME=PATH begins a set, a word without a name belongs to the set
/// before it.
/// throws    UsageError if a name comes twice, or cannot be a key of the log
std::vector<ValidationSet> validation_sets(const std::vector<std::string>& words);

/// The opened sets.
struct Validation {
  EvaluateStage stage;    ///< evaluates on all of them; the first chooses the best checkpoint
  std::int64_t size = 0;  ///< what an evaluation reads, as OpenedData::evaluation_size
  std::string text;       ///< lines for the header
  std::string notes;      ///< lines of notes
};

/// Opens what --validation names.
/// throws    what opening data throws; Error if there is nothing to evaluate
Validation open_validation(const RecipeView& recipe, const Arguments& arguments);

}  // namespace sinter::detail::cli
