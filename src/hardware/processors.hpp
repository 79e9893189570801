// SPDX-License-Identifier: Apache-2.0
// The processors that this process may use.
#pragma once
#include <filesystem>

namespace sinter::detail {

/// How many processors this process may use, at least 1: those that its affinity allows (taskset, a
/// launcher's binding, a control group's cpuset), and no more than whole ones in the quota of time of
/// its control groups, version 2 (cpu.max) or 1 (cpu.cfs_quota_us). `root` stands for "/".
int usable_processors(const std::filesystem::path& root = "/");

/// True if the process that started this one may run on more processors. So has a launcher that
/// binds each rank to its part of a host (mpirun, srun).
bool has_own_processors();

}  // namespace sinter::detail
