// SPDX-License-Identifier: Apache-2.0
// The control groups that limit this process.
#pragma once
#include <filesystem>
#include <functional>
#include <string_view>

namespace sinter::detail {

/// Calls visit(folder, version) for each control group of this process that may limit what
/// `controller`, such as "memory", counts: of version 2 and 1, its own and all above it, with their
/// folders, which may be missing. `root` stands for "/".
void each_control_group(const std::filesystem::path& root, std::string_view controller,
                        const std::function<void(const std::filesystem::path&, int)>& visit);

}  // namespace sinter::detail
