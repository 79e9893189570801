// SPDX-License-Identifier: Apache-2.0
// What --validation names: data to evaluate on, in place of a part that is held out of --data, or
// beside it.
#pragma once
#include <string>
#include <vector>

#include "cli/arguments.hpp"
#include "sinter/data/data_view.hpp"
#include "sinter/trainer/stages.hpp"

namespace sinter::detail::cli {

/// The word that stands for the part of --data that training holds out. A file of this name is
/// ./held-out.
inline constexpr std::string_view held_out_word = "held-out";

/// Data to evaluate on, read together.
struct ValidationSet {
  std::string name;                ///< empty for the first set if it has none
  std::vector<std::string> paths;  ///< empty if the set is the part that is held out of --data
  bool is_held_out() const { return paths.empty(); }
};

/// Groups the words of --validation: NAME=PATH begins a set, a word without a name belongs to the set
/// before it. `held-out` is a set of its own, named held_out unless it is the first.
/// throws    UsageError if a name comes twice, or cannot be a key of the log; or if a path follows
///           held-out without a name
std::vector<ValidationSet> validation_sets(const std::vector<std::string>& words);

/// True if training holds a part of --data out to evaluate on it.
bool holds_out(const Arguments& arguments);

/// Takes the part that training holds out from its data, as data of their own.
/// throws    Error if there is none
OpenedData held_out_of(OpenedData& training);

/// The opened sets.
struct Validation {
  EvaluateStage stage;    ///< evaluates on all of them; the first chooses the best checkpoint
  std::int64_t size = 0;  ///< what an evaluation reads, as OpenedData::evaluation_size
  std::string text;       ///< lines for the header
  std::string notes;      ///< lines of notes
};

/// Opens what --validation names. Takes from the data of training what they hold out, if it is named.
/// throws    what opening data throws; Error if there is nothing to evaluate
Validation open_validation(const RecipeView& recipe, const Arguments& arguments,
                           OpenedData& training);

}  // namespace sinter::detail::cli
