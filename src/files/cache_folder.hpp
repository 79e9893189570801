// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>

namespace sinter::detail {

/// Where Sinter keeps what it can make or fetch again: $SINTER_CACHE, else $XDG_CACHE_HOME/sinter,
/// else ~/.cache/sinter. Empty if none of SINTER_CACHE, XDG_CACHE_HOME and HOME is set.
std::filesystem::path cache_folder();

}  // namespace sinter::detail
