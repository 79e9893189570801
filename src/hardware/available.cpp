// SPDX-License-Identifier: Apache-2.0
// The machine's memory, as far as control groups allow.
#include "sinter/hardware/available.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>

#include "hardware/control_groups.hpp"

namespace sinter::detail {
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
std::optional<std::int64_t> number_in(const fs::path& path) {
  std::ifstream file(path);
  std::int64_t bytes = 0;
  if (file >> bytes) return bytes;
  return std::nullopt;
}

/// The names of a control group's files, and of two numbers in memory.stat: the pages of files that
/// the kernel caches, and frees if memory is short.
struct GroupFiles {
  const char *limit, *used, *cached[2];
};
constexpr GroupFiles version2{"memory.max", "memory.current", {"active_file", "inactive_file"}};
constexpr GroupFiles version1{
    "memory.limit_in_bytes", "memory.usage_in_bytes", {"total_active_file", "total_inactive_file"}};

/// Returns the bytes that a control group has taken and will not give back.
std::int64_t taken(const fs::path& group, const GroupFiles& files) {
  std::int64_t bytes = number_in(group / files.used).value_or(0);
  std::ifstream stat(group / "memory.stat");
  std::int64_t number = 0;
  for (std::string name; stat >> name >> number;)
    if (name == files.cached[0] || name == files.cached[1]) bytes -= number;
  return std::max<std::int64_t>(bytes, 0);
}

/// Takes over what the limit of a control group leaves.
void take_limit(AvailableMemory& least, const fs::path& group, const GroupFiles& files) {
  const auto limit = number_in(group / files.limit);
  if (!limit) return;
  const std::int64_t left = std::max<std::int64_t>(*limit - taken(group, files), 0);
  if (left < least.bytes)
    least = {left, "the control group's limit " + (group / files.limit).string() + " leaves"};
}

/// The number behind a name that begins a line of a file below proc; none if it is missing or no number.
std::optional<std::int64_t> number_behind(const fs::path& path, const std::string& name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (std::int64_t number = 0; line.starts_with(name)) {
      std::istringstream rest(line.substr(name.size()));
      if (rest >> number) return number;
    }
  return std::nullopt;
}

}  // namespace

AvailableMemory mappable_memory(const fs::path& root) {
  AvailableMemory least{std::numeric_limits<std::int64_t>::max(),
                        "no limit of the process is known:"};
  const auto take = [&](const char* limit, const char* used, const char* name) {
    const auto bytes = number_behind(root / "proc/self/limits", limit);
    if (!bytes) return;
    const std::int64_t taken = 1024 * number_behind(root / "proc/self/status", used).value_or(0);
    const std::int64_t left = std::max<std::int64_t>(*bytes - taken, 0);
    if (left < least.bytes) least = {left, std::string("the process' limit ") + name + " leaves"};
  };
  take("Max data size", "VmData:", "RLIMIT_DATA");
  take("Max address space", "VmSize:", "RLIMIT_AS");
  return least;
}

AvailableMemory available_memory(const fs::path& root) {
  AvailableMemory least{std::numeric_limits<std::int64_t>::max(), "what is known of it is"};
  if (const auto machine = machine_memory(root))
    least = {*machine, "this machine's free memory is"};
  each_control_group(root, "memory", [&](const fs::path& group, int version) {
    take_limit(least, group, version == 2 ? version2 : version1);
  });
  return least;
}

}  // namespace sinter::detail
