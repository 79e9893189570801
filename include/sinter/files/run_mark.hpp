// SPDX-License-Identifier: Apache-2.0
// Recognizes a run's folder, for code that must not take it for data.
#pragma once
#include <filesystem>

namespace sinter::detail {

/// True if a folder is that of a run: it holds a regular file `lock` as RunFolder writes it
/// ("pid …"), and beside it the log, the record of starts (run_record.hpp) or a checkpoint. Links
/// are not followed. False if the folder cannot be read.
[[nodiscard]] bool looks_like_run(const std::filesystem::path& folder);

}  // namespace sinter::detail
