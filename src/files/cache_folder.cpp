// SPDX-License-Identifier: Apache-2.0
#include "files/cache_folder.hpp"

#include <cstdlib>

namespace sinter::detail {

namespace fs = std::filesystem;

fs::path cache_folder() {
  auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return fs::path(value ? value : "");
  };
  if (const fs::path own = variable("SINTER_CACHE"); !own.empty()) return own;
  if (const fs::path all = variable("XDG_CACHE_HOME"); !all.empty()) return all / "sinter";
  if (const fs::path home = variable("HOME"); !home.empty()) return home / ".cache/sinter";
  return {};
}

}  // namespace sinter::detail
