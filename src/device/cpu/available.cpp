// SPDX-License-Identifier: Apache-2.0
// The device is the host: its memory is the machine's, as far as control groups allow.
#include "sinter/device/available.hpp"

#include <fstream>
#include <limits>
#include <optional>
#include <sstream>

namespace sinter {
namespace {

namespace fs = std::filesystem;

std::optional<std::int64_t> machine_memory(const fs::path& root) {
  std::ifstream file(root / "proc/meminfo");
  std::optional<std::int64_t> bytes;
  for (std::string name, unit; file >> name;) {
    std::int64_t number = 0;
    if (!(file >> number)) break;
    if (name == "MemAvailable:") bytes = bytes.value_or(0) + number * 1024;
    if (name == "SwapFree:" && bytes) *bytes += number * 1024;
    std::getline(file, unit);
  }
  return bytes;
}

/// The number in a file; none if it is missing, or says "max".
std::optional<std::int64_t> limit_in(const fs::path& path) {
  std::ifstream file(path);
  std::int64_t bytes = 0;
  if (file >> bytes) return bytes;
  return std::nullopt;
}

/// Takes over the limits of a control group and of those above it.
void take_limits(AvailableMemory& least, const fs::path& top, fs::path group, const char* name) {
  for (group = group.relative_path();; group = group.parent_path()) {
    const fs::path file = top / group / name;
    if (const auto limit = limit_in(file); limit && *limit < least.bytes)
      least = {*limit, "the control group's limit " + file.string() + " is"};
    if (group.empty()) return;
  }
}

}  // namespace

AvailableMemory available_memory(const fs::path& root) {
  AvailableMemory least{std::numeric_limits<std::int64_t>::max(), "what is known of it is"};
  if (const auto machine = machine_memory(root))
    least = {*machine, "this machine's free memory is"};
  const fs::path groups = root / "sys/fs/cgroup";
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {  // "0::/path", or "4:cpu,memory:/path"
    std::istringstream parts(line);
    std::string number, controllers, group;
    std::getline(parts, number, ':');
    std::getline(parts, controllers, ':');
    std::getline(parts, group);
    if (controllers.empty()) take_limits(least, groups, group, "memory.max");
    if (("," + controllers + ",").find(",memory,") != std::string::npos)
      take_limits(least, groups / "memory", group, "memory.limit_in_bytes");
  }
  return least;
}

}  // namespace sinter
