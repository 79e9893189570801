// SPDX-License-Identifier: Apache-2.0
// The version of Sinter.
#pragma once
#include <string_view>

namespace sinter {

/// The version of the library, as "0.2.0" (semver.org). It is that of CMake's project, and so of
/// binaries (--version), of the checkpoints that they write, and of packages.
std::string_view version();

}  // namespace sinter
