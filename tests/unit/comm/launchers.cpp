// SPDX-License-Identifier: Apache-2.0
// Real launchers start ranks, which find each other by what they say. Each rank is this binary, which
// runs the one test case that is skipped otherwise.
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <set>

#include "sinter/comm/hosts.hpp"
#include "sinter/comm/launched_world.hpp"
#include "sinter/comm/shared_memory.hpp"
#include "support/folder.hpp"
#include "support/free_port.hpp"
#include "support/python.hpp"

namespace sinter::detail::testing::launchers_tests {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// Joins the world and writes what it finds to a file of its own in the folder SINTER_TEST_FOLDER. With
/// SINTER_TEST_FAILS the last rank fails before that, unless it has been started again.
TEST_CASE("a rank of a launcher" * doctest::skip()) {
  auto launched = launched_world();
  REQUIRE(launched);
  World& world = launched->world;
  world.timeout = std::chrono::minutes(1);
  const std::string restarts = variable("TORCHELASTIC_RESTART_COUNT");
  const fs::path file =
      variable("SINTER_TEST_FOLDER") + "/" + std::to_string(world.rank) + "-" + restarts;
  const bool of_hosts = !world.meeting.address.empty();
  // Hosts that are agents of one machine share no memory, as if they were machines.
  if (of_hosts) world.host = "agent " + variable("GROUP_RANK");
  const auto end = of_hosts ? hosts_rank(world) : shared_memory_rank(world);
  double sum = world.rank + 1;
  end->sum(&sum);
  if (!variable("SINTER_TEST_FAILS").empty() && world.rank + 1 == world.ranks && restarts == "0")
    ::_exit(3);
  end->sum(&sum);
  std::ofstream(file) << launched->launcher << "\n"
                      << world.id << "\n"
                      << sum << "\n"
                      << variable("TORCHELASTIC_USE_AGENT_STORE") << "\n";
}

struct Rank {
  std::string file, launcher, id, sum, agent_store;
};

/// Lets launchers, which end with a blank, start ranks at the same time, and reads what each has written.
std::vector<Rank> ranks_of(const std::vector<std::string>& launchers) {
  const TemporaryFolder folder;
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  std::string command = "export SINTER_TEST_FOLDER='" + folder.path().string() + "'; { ";
  for (const std::string& launcher : launchers) {
    command += launcher + "'" + self +
               "' --no-skip --test-case='a rank of a launcher' & all=\"$all $!\"; ";
  }
  command += "s=0; for one in $all; do wait $one || s=1; done; exit $s; } > '" +
             folder.path().string() + "/.out' 2>&1";
  const int status = std::system(command.c_str());
  std::ifstream out(folder / ".out");
  INFO(std::string(std::istreambuf_iterator<char>(out), {}));
  CHECK(status == 0);
  std::vector<Rank> ranks;
  for (const auto& entry : fs::directory_iterator(folder.path())) {
    Rank rank;
    rank.file = entry.path().filename().string();
    if (rank.file == ".out") continue;
    std::ifstream in(entry.path());
    for (std::string* line : {&rank.launcher, &rank.id, &rank.sum, &rank.agent_store})
      std::getline(in, *line);
    ranks.push_back(rank);
  }
  return ranks;
}

std::vector<Rank> ranks_of(const std::string& launcher) { return ranks_of(std::vector{launcher}); }

/// Checks that three ranks have come and summed, and returns the id of their world.
std::string check_three(const std::vector<Rank>& ranks, const std::string& launcher,
                        const std::string& agent_store = "") {
  CHECK(ranks.size() == 3);
  std::set<std::string> files, ids;
  for (const Rank& rank : ranks) {
    CHECK(rank.launcher == launcher);
    CHECK(rank.sum == "18");  // each has 1 + 2 + 3
    CHECK(rank.agent_store == agent_store);
    files.insert(rank.file);
    ids.insert(rank.id);
  }
  CHECK(files.size() == 3);
  REQUIRE(ids.size() == 1);
  return *ids.begin();
}

bool runs(const std::string& command) {
  return std::system((command + " > /dev/null 2>&1").c_str()) == 0;
}

/// torchrun beside the Python that SINTER_PYTHON names, with what each call needs; empty if it is not
/// there.
std::string torchrun() {
  const auto python = python_with("torch.distributed.run");
  if (!python) return "";
  return "'" + *python + "' -m torch.distributed.run --no-python --nproc-per-node 3 ";
}

TEST_CASE("torchrun starts ranks, with its own store and with the ranks'") {
  const std::string command = torchrun();
  if (command.empty()) return;
  std::set<std::string> ids;
  ids.insert(check_three(ranks_of(command + "--standalone "), "torchrun", "True"));
  ids.insert(
      check_three(ranks_of("TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1 " + command + "--standalone "),
                  "torchrun", "False"));
  CHECK(ids.size() == 2);
}

TEST_CASE("torchrun starts ranks again, in another world") {
  const std::string command = torchrun();
  if (command.empty()) return;
  const auto ranks = ranks_of("SINTER_TEST_FAILS=1 " + command + "--standalone --max-restarts 1 ");
  check_three(ranks, "torchrun", "True");
  for (const Rank& rank : ranks) CHECK(rank.file.ends_with("-1"));
}

TEST_CASE("agents of torchrun on two hosts find each other in both of its ways") {
  const auto python = python_with("torch.distributed.run");
  if (!python) return;
  const auto agents = [&](const std::string& before, const std::string& options) {
    std::vector<std::string> both;
    for (const char* each :
         {"--node-rank 0 --nproc-per-node 2 ", "--node-rank 1 --nproc-per-node 1 "})
      both.push_back(before + "'" + *python + "' -m torch.distributed.run --no-python --nnodes 2 " +
                     options + each);
    return ranks_of(both);
  };
  const auto place = [] { return std::to_string(free_port()); };
  std::set<std::string> ids;
  ids.insert(check_three(agents("", "--master-addr 127.0.0.1 --master-port " + place() + " "),
                         "torchrun", "True"));
  const auto meeting = [&] {
    return "--rdzv-backend c10d --rdzv-id a --rdzv-endpoint 127.0.0.1:" + place() + " ";
  };
  ids.insert(check_three(agents("", meeting()), "torchrun", "True"));
  ids.insert(
      check_three(agents("TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1 ", meeting()), "torchrun", "False"));
  CHECK(ids.size() == 3);
}

TEST_CASE("Open MPI's mpirun starts ranks") {
  if (!runs("mpirun --version | grep 'Open MPI'")) {
    MESSAGE("skipped: there is no mpirun of Open MPI here");
    return;
  }
  const std::string command = "mpirun --allow-run-as-root --oversubscribe -n 3 ";
  std::set<std::string> ids;
  for (int k = 0; k < 2; ++k) ids.insert(check_three(ranks_of(command), "Open MPI's mpirun"));
  CHECK(ids.size() == 2);
}

TEST_CASE("MPICH's mpiexec starts ranks") {
  if (!runs("mpiexec.hydra --version | grep HYDRA")) {
    MESSAGE("skipped: there is no mpiexec.hydra here");
    return;
  }
  check_three(ranks_of("mpiexec.hydra -genv SINTER_WORLD first -n 3 "),
              "mpiexec of MPICH or Intel MPI");
}

}  // namespace sinter::detail::testing::launchers_tests
