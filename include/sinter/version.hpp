// SPDX-License-Identifier: Apache-2.0
// The version of Sinter.
#pragma once
#include <string_view>

namespace sinter {

/// The version of the library, as "0.2.0" (semver.org). It equals the version of CMake's project,
/// of binaries (--version), of packages and of checkpoints that they write.
std::string_view version();

}  // namespace sinter
