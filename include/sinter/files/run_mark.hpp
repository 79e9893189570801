// SPDX-License-Identifier: Apache-2.0
// What a run's folder and a checkpoint are known by, for whoever must not take them for data.
#pragma once
#include <filesystem>

namespace sinter {

/// Whether a folder is that of a run: it holds a regular file `lock` as RunFolder writes it
/// ("pid …"), and beside it the log, the record of starts (run_record.hpp) or a checkpoint. Links
/// are not followed. Returns false where the folder cannot be read.
[[nodiscard]] bool looks_like_run(const std::filesystem::path& folder);

}  // namespace sinter
