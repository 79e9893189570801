// SPDX-License-Identifier: Apache-2.0
// How many processors a process may use: by its affinity, and by files as Linux writes them.
#include "hardware/processors.hpp"

#include <doctest/doctest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "support/folder.hpp"
#include "support/one_processor.hpp"

using namespace sinter;
using namespace sinter::detail;
namespace fs = std::filesystem;
using testing::OneProcessor;

namespace {

/// A root folder with the files of control groups.
class System {
  testing::TemporaryFolder folder;

 public:
  fs::path root() const { return folder.path(); }
  void write(const std::string& name, const std::string& content) {
    fs::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << content;
  }
  int processors() const { return usable_processors(root()); }
};

int allowed() {
  cpu_set_t set;
  REQUIRE(sched_getaffinity(0, sizeof set, &set) == 0);
  return CPU_COUNT(&set);
}

/// What `ask` answers in a process that this one starts, which then has one processor if `narrowed`.
bool in_child(bool narrowed, bool (*ask)()) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    if (narrowed) {
      const OneProcessor one;
      _exit(ask() ? 1 : 0);
    }
    _exit(ask() ? 1 : 0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status) == 1;
}

}  // namespace

TEST_CASE("without a quota, the processors are those that the affinity allows") {
  System system;
  CHECK(system.processors() == allowed());
  const OneProcessor narrowed;
  CHECK(system.processors() == 1);
  CHECK(usable_processors() == 1);
}

TEST_CASE("a quota of version 2, of the group or one above it, bounds the processors") {
  System system;
  system.write("proc/self/cgroup", "0::/pods/one\n");
  system.write("sys/fs/cgroup/pods/one/cpu.max", "max 100000\n");
  CHECK(system.processors() == allowed());
  system.write("sys/fs/cgroup/pods/cpu.max", "100000 100000\n");
  CHECK(system.processors() == 1);
  system.write("sys/fs/cgroup/pods/cpu.max", "6400000 100000\n");
  CHECK(system.processors() == std::min(allowed(), 64));
  system.write("sys/fs/cgroup/cpu.max", "150000 100000\n");  // as in a container
  CHECK(system.processors() == 1);
}

TEST_CASE("a quota of version 1 bounds the processors") {
  System system;
  system.write("proc/self/cgroup", "5:cpuset:/a\n4:cpu,cpuacct:/docker/x\n1:name=systemd:/\n");
  system.write("sys/fs/cgroup/cpu/docker/x/cpu.cfs_quota_us", "-1\n");
  system.write("sys/fs/cgroup/cpu/docker/x/cpu.cfs_period_us", "100000\n");
  CHECK(system.processors() == allowed());
  system.write("sys/fs/cgroup/cpu/docker/x/cpu.cfs_quota_us", "50000\n");
  CHECK(system.processors() == 1);  // at least one
}

TEST_CASE("a process that its parent has bound has processors of its own") {
  if (allowed() < 2) return;
  CHECK(in_child(true, has_own_processors));
  CHECK(!in_child(false, has_own_processors));
  const OneProcessor narrowed;
  CHECK(!in_child(true, has_own_processors));
}
