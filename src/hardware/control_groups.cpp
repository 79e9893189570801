// SPDX-License-Identifier: Apache-2.0
#include "hardware/control_groups.hpp"

#include <fstream>
#include <sstream>
#include <string>

namespace sinter::detail {
namespace fs = std::filesystem;

void each_control_group(const fs::path& root, std::string_view controller,
                        const std::function<void(const fs::path&, int)>& visit) {
  const auto visit_all = [&](const fs::path& top, fs::path group, int version) {
    for (group = group.relative_path();; group = group.parent_path()) {
      visit(top / group, version);
      if (group.empty()) return;
    }
  };
  const fs::path groups = root / "sys/fs/cgroup";
  const std::string sought = "," + std::string(controller) + ",";
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {  // "0::/path", or "4:cpu,memory:/path"
    std::istringstream parts(line);
    std::string number, controllers, group;
    std::getline(parts, number, ':');
    std::getline(parts, controllers, ':');
    std::getline(parts, group);
    if (controllers.empty()) visit_all(groups, group, 2);
    if (("," + controllers + ",").find(sought) != std::string::npos)
      visit_all(groups / controller, group, 1);
  }
}

}  // namespace sinter::detail
