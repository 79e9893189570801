// SPDX-License-Identifier: Apache-2.0
// Errors of files that are named as data.
#pragma once
#include <cstddef>
#include <string>

namespace sinter::detail {

/// throws    FileError: "Cannot read '<path>' as data: <why>"
[[noreturn]] void refuse_data(const std::string& path, const std::string& why);
/// Does so with the meaning of an error of the system.
[[noreturn]] void refuse_data(const std::string& path, int error);
/// Does so where all files are empty; `path` is that of the first.
[[noreturn]] void refuse_empty_data(const std::string& path, std::size_t files);

}  // namespace sinter::detail
