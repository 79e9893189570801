// SPDX-License-Identifier: Apache-2.0
// The links `last` and `best` of a run's folder. Where the file system has no symbolic links (FAT,
// some network file systems), each is a plain file that has the name of a checkpoint.
#pragma once
#include <filesystem>
#include <string>

namespace sinter::detail {

/// Returns the name of the checkpoint beside it that `last` or `best` stands for, such as
/// "step-00000040"; empty if it is missing or stands for none. The checkpoint may be missing.
std::string read_run_link(const std::filesystem::path& link);

/// Lets `link` stand for `target`, a name in the same folder, atomically and durably. Returns false
/// if the file system has no symbolic links, so that a plain file says it.
/// throws    FileError
bool write_run_link(const std::filesystem::path& link, const std::filesystem::path& target);

}  // namespace sinter::detail
