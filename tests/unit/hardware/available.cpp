// SPDX-License-Identifier: Apache-2.0
// How much memory may be taken, from files as Linux writes them.
#include "sinter/hardware/available.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <limits>

#include "support/folder.hpp"

using namespace sinter;
using namespace sinter::detail;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kib = 1024, gib = std::int64_t(1) << 30;

/// A root folder with the files that say it.
class System {
  testing::TemporaryFolder folder;

 public:
  fs::path root() const { return folder.path(); }
  void write(const std::string& name, const std::string& content) {
    fs::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << content;
  }
  System() {
    write("proc/meminfo",
          "MemTotal:       65536000 kB\nMemFree:         1000 kB\nMemAvailable:   33554432 kB\n"
          "HugePages_Total:       0\nSwapTotal:       9999 kB\nSwapFree:        2048 kB\n");
  }
  std::int64_t bytes() const { return available_memory(root()).bytes; }
};

}  // namespace

TEST_CASE("a machine without control groups has what is free, swap included") {
  System system;
  CHECK(system.bytes() == (33554432 + 2048) * kib);
  CHECK(available_memory(system.root()).bound == "this machine's free memory is");
}

TEST_CASE("control groups of version 2, with all above, bound available memory") {
  System system;
  system.write("proc/self/cgroup", "0::/user.slice/run.scope\n");
  system.write("sys/fs/cgroup/user.slice/run.scope/memory.max", "max\n");
  CHECK(system.bytes() == (33554432 + 2048) * kib);
  system.write("sys/fs/cgroup/user.slice/memory.max", "8589934592\n");
  CHECK(system.bytes() == 8 * gib);
  CHECK(available_memory(system.root()).bound ==
        "the control group's limit " +
            (system.root() / "sys/fs/cgroup/user.slice/memory.max").string() + " leaves");
  system.write("sys/fs/cgroup/memory.max", "4294967296\n");  // as in a container
  CHECK(system.bytes() == 4 * gib);
  system.write("proc/self/cgroup", "0::/\n");
  CHECK(system.bytes() == 4 * gib);
  system.write("proc/self/cgroup", "0::/elsewhere/seen/from/outside\n");
  CHECK(system.bytes() == 4 * gib);
}

TEST_CASE("control groups of version 1 bound available memory") {
  System system;
  system.write("proc/self/cgroup", "5:cpuset:/a\n4:cpu,memory:/docker/x\n1:name=systemd:/\n");
  system.write("sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes", "1073741824\n");
  system.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  CHECK(system.bytes() == gib);
}

TEST_CASE("memory that a control group has taken is not free, but its cached files are") {
  System system;
  system.write("proc/self/cgroup", "0::/run.scope\n");
  system.write("sys/fs/cgroup/run.scope/memory.max", "8589934592\n");
  system.write("sys/fs/cgroup/run.scope/memory.current", "5368709120\n");
  CHECK(system.bytes() == 3 * gib);
  system.write("sys/fs/cgroup/run.scope/memory.stat",
               "anon 3221225472\nfile 2147483648\nshmem 0\ninactive_file 1073741824\n"
               "active_file 1073741824\nslab_reclaimable 0\n");
  CHECK(system.bytes() == 5 * gib);
  system.write("sys/fs/cgroup/memory.max", "9663676416\n");  // the one above has more in it
  system.write("sys/fs/cgroup/memory.current", "8589934592\n");
  CHECK(system.bytes() == gib);
  system.write("sys/fs/cgroup/memory.current", "99999999999\n");
  CHECK(system.bytes() == 0);
}

TEST_CASE("in version 1, memory that a control group has taken is not free, but cached files are") {
  System system;
  system.write("proc/self/cgroup", "4:cpu,memory:/docker/x\n");
  system.write("sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes", "4294967296\n");
  system.write("sys/fs/cgroup/memory/docker/x/memory.usage_in_bytes", "3221225472\n");
  system.write("sys/fs/cgroup/memory/docker/x/memory.stat",
               "cache 5\ninactive_file 7\ntotal_cache 2147483648\n"
               "total_inactive_file 1073741824\ntotal_active_file 1073741824\n");
  CHECK(system.bytes() == 3 * gib);
}

TEST_CASE("if no limit is known, nothing is refused; on this machine one is known") {
  testing::TemporaryFolder empty;
  CHECK(available_memory(empty.path()).bytes > std::int64_t(1) << 60);
  CHECK(available_memory().bytes > 0);
  CHECK(available_memory().bytes < std::int64_t(1) << 60);
}

TEST_CASE("limits of the process bound what it may map") {
  System system;
  CHECK(mappable_memory(system.root()).bytes == std::numeric_limits<std::int64_t>::max());
  system.write("proc/self/status", "Name:\tsome\nVmSize:\t    2048 kB\nVmData:\t    1024 kB\n");
  system.write("proc/self/limits",
               "Limit                     Soft Limit           Hard Limit           Units     \n"
               "Max data size             unlimited            unlimited            bytes     \n"
               "Max address space         unlimited            unlimited            bytes     \n");
  CHECK(mappable_memory(system.root()).bytes == std::numeric_limits<std::int64_t>::max());
  system.write("proc/self/limits",
               "Max data size             8388608              unlimited            bytes     \n"
               "Max address space         unlimited            unlimited            bytes     \n");
  CHECK(mappable_memory(system.root()).bytes == 7 * 1024 * kib);
  CHECK(mappable_memory(system.root()).bound == "the process' limit RLIMIT_DATA leaves");
  system.write("proc/self/limits",
               "Max data size             8388608              unlimited            bytes     \n"
               "Max address space         4194304              4194304              bytes     \n");
  CHECK(mappable_memory(system.root()).bytes == 2 * 1024 * kib);
  CHECK(mappable_memory(system.root()).bound == "the process' limit RLIMIT_AS leaves");
}
