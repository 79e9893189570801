// SPDX-License-Identifier: Apache-2.0
// What came with a run's weights and tokenizer. The run keeps a copy, so that an export is whole
// after the folders that it came from are gone.
#pragma once
#include <filesystem>
#include <string>

#include "cli/arguments.hpp"
#include "cli/run_record.hpp"
#include "hugging_face/origin.hpp"

namespace sinter::detail::cli {

/// What is known of the origin of --weights: what its run has kept, or what is in its folder. A run
/// that has kept nothing, as older ones, has the tokenizer that run.json names, if that is there.
/// throws    FileError if there are no such weights, or a file cannot be read
hugging_face::Origin origin_of(const std::string& weights);

/// Keeps the origin of a run that starts, or starts again at `step`, in the folder origin-N of the
/// run's folder. N is the first number that is free; nothing is replaced. Returns the folder's name:
/// an earlier one if it holds the same, or none if nothing is known. Of an earlier one that was
/// removed only the tokenizer is kept again, if that is still where it was.
/// throws    FileError
std::string keep_origin(const std::filesystem::path& run, const RunRecord& record,
                        const RecipeView& recipe, const Arguments& arguments, std::int64_t step);

}  // namespace sinter::detail::cli
