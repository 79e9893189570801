// SPDX-License-Identifier: Apache-2.0
// The record of a run's starts: run.json in its folder, a list with an object for each.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include "cli/arguments.hpp"

namespace sinter::cli {

/// Appends this start to the record, atomically and durably: the date, Sinter's version, the
/// command line and the folder in which it was given, the data's absolute paths, the seed, and the
/// step from which it goes on. Returns notes for people, one per line.
/// throws    FileError where the record cannot be written, or is no regular file
[[nodiscard]] std::string record_start(const std::filesystem::path& run, const RecipeView& recipe,
                                       const Arguments& arguments, const std::string& program,
                                       std::int64_t step);

/// Takes the data's paths, and whether to skip what cannot be read, from the newest start that says
/// them, unless --data is given. Returns notes for people, one per line.
/// throws    UsageError where --data is not given and there is no record of it; FileError where
///           the record is damaged and needed
[[nodiscard]] std::string take_over_data(const std::filesystem::path& run, Arguments& arguments);

/// Whether the record has the data's paths, so that --resume needs no --data. (Names that are no
/// UTF-8 cannot be written in it.)
[[nodiscard]] bool remembers_data(const Arguments& arguments);

}  // namespace sinter::cli
