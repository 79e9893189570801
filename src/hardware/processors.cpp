// SPDX-License-Identifier: Apache-2.0
#include "hardware/processors.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <optional>
#include <thread>
#include <vector>

#include "hardware/control_groups.hpp"

namespace sinter::detail {
namespace {

namespace fs = std::filesystem;

/// Returns the number of processors that a process may run on, 0 for this one; none if the system does not
/// say it.
std::optional<int> allowed_processors(pid_t process) {
  for (std::size_t sets = 1; sets <= 64;
       sets *= 2) {  // a set has 1024 processors; some hosts have more
    std::vector<cpu_set_t> allowed(sets);
    const std::size_t bytes = sets * sizeof(cpu_set_t);
    if (sched_getaffinity(process, bytes, allowed.data()) == 0)
      return CPU_COUNT_S(bytes, allowed.data());
    if (errno != EINVAL) break;
  }
  return std::nullopt;
}

/// Returns how many processors' time a control group may take; none if it has no limit.
std::optional<double> quota_of(const fs::path& group, int version) {
  double quota = 0, period = 0;
  if (version == 2) {
    std::ifstream file(group / "cpu.max");  // "150000 100000", or "max 100000"
    if (!(file >> quota >> period)) return std::nullopt;
  } else if (!(std::ifstream(group / "cpu.cfs_quota_us") >> quota) ||
             !(std::ifstream(group / "cpu.cfs_period_us") >> period)) {
    return std::nullopt;
  }
  if (quota <= 0 || period <= 0) return std::nullopt;  // version 1 says -1 for no limit
  return quota / period;
}

}  // namespace

int usable_processors(const fs::path& root) {
  int usable = allowed_processors(0).value_or(int(std::thread::hardware_concurrency()));
  each_control_group(root, "cpu", [&](const fs::path& group, int version) {
    if (const auto quota = quota_of(group, version); quota && *quota < usable) usable = int(*quota);
  });
  return std::max(usable, 1);
}

bool has_own_processors() {
  const auto own = allowed_processors(0), parents = allowed_processors(getppid());
  return own && parents && *own < *parents;
}

}  // namespace sinter::detail
