// SPDX-License-Identifier: Apache-2.0
// The folder of a new run.
#pragma once
#include <filesystem>
#include <string>

namespace sinter::detail::cli {

/// Makes the folder runs/RECIPE-N in the current folder, where N is the first free number. Returns
/// its path.
[[nodiscard]] std::filesystem::path make_run_folder(const std::string& recipe);

}  // namespace sinter::detail::cli
