// SPDX-License-Identifier: Apache-2.0
// Errors of files that are named as data.
#pragma once
#include <string>

namespace sinter {

/// throws    FileError: "Cannot read '<path>' as data: <why>"
[[noreturn]] void refuse_data(const std::string& path, const std::string& why);
/// Does so with the meaning of an error of the system.
[[noreturn]] void refuse_data(const std::string& path, int error);

}  // namespace sinter
