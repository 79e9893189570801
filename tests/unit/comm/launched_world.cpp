// SPDX-License-Identifier: Apache-2.0
// The place that launchers give a process, by the variables that they set.
#include "sinter/comm/launched_world.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <map>
#include <set>
#include <vector>

#include "support/message_of.hpp"

namespace sinter::detail::testing::launched_world_tests {

using Variables = std::map<std::string, std::string>;

/// All that any launcher says; a launcher may have started this test, too.
constexpr const char* all_names[]{"SINTER_RANK",
                                  "SINTER_RANKS",
                                  "SINTER_WORLD",
                                  "RANK",
                                  "WORLD_SIZE",
                                  "LOCAL_RANK",
                                  "LOCAL_WORLD_SIZE",
                                  "MASTER_ADDR",
                                  "MASTER_PORT",
                                  "TORCHELASTIC_RUN_ID",
                                  "TORCHELASTIC_RESTART_COUNT",
                                  "TORCHELASTIC_ERROR_FILE",
                                  "TORCHELASTIC_USE_AGENT_STORE",
                                  "OMPI_COMM_WORLD_RANK",
                                  "OMPI_COMM_WORLD_SIZE",
                                  "OMPI_COMM_WORLD_LOCAL_SIZE",
                                  "OMPI_COMM_WORLD_LOCAL_RANK",
                                  "PMIX_NAMESPACE",
                                  "OMPI_MCA_ess_base_jobid",
                                  "PMI_RANK",
                                  "PMI_SIZE",
                                  "MPI_LOCALNRANKS",
                                  "MPI_LOCALRANKID",
                                  "SLURM_JOB_ID",
                                  "SLURM_STEP_ID",
                                  "SLURM_PROCID",
                                  "SLURM_NTASKS",
                                  "SLURM_STEP_NUM_TASKS",
                                  "SLURM_NNODES",
                                  "SLURM_STEP_NUM_NODES",
                                  "SLURM_LOCALID",
                                  "SLURM_STEP_NODELIST",
                                  "SLURM_JOB_NODELIST",
                                  "SLURM_RESTART_COUNT"};

std::optional<LaunchedWorld> world_of(const Variables& variables) {
  for (const char* name : all_names) ::unsetenv(name);
  for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
  return launched_world();
}

/// What a launcher sets in rank 2 of 4. The numbers in `rank` and `ranks` are those of these variables.
struct Launcher {
  std::string name, rank, ranks;
  Variables variables;
  std::vector<std::string> job;  // what another run, or a restart, has otherwise
};

Launcher sinter_launch() {
  return {"./sinter launch",
          "SINTER_RANK",
          "SINTER_RANKS",
          {{"SINTER_RANK", "2"}, {"SINTER_RANKS", "4"}, {"SINTER_WORLD", "5-7"}},
          {"SINTER_WORLD"}};
}
Launcher torchrun() {
  return {"torchrun",
          "RANK",
          "WORLD_SIZE",
          {{"RANK", "2"},
           {"WORLD_SIZE", "4"},
           {"LOCAL_RANK", "2"},
           {"LOCAL_WORLD_SIZE", "4"},
           {"MASTER_ADDR", "127.0.0.1"},
           {"MASTER_PORT", "29500"},
           {"TORCHELASTIC_RUN_ID", "none"},
           {"TORCHELASTIC_RESTART_COUNT", "0"},
           {"TORCHELASTIC_ERROR_FILE", "/t/none_1/attempt_0/2/error.json"}},
          {"MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT"}};
}
Launcher open_mpi() {
  return {"Open MPI's mpirun",
          "OMPI_COMM_WORLD_RANK",
          "OMPI_COMM_WORLD_SIZE",
          {{"OMPI_COMM_WORLD_RANK", "2"},
           {"OMPI_COMM_WORLD_SIZE", "4"},
           {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
           {"PMIX_NAMESPACE", "1375338497"}},
          {"PMIX_NAMESPACE"}};
}
Launcher hydra() {
  return {"mpiexec of MPICH or Intel MPI",
          "PMI_RANK",
          "PMI_SIZE",
          {{"PMI_RANK", "2"}, {"PMI_SIZE", "4"}, {"MPI_LOCALNRANKS", "4"}, {"SINTER_WORLD", "a"}},
          {"SINTER_WORLD"}};
}
Launcher srun() {
  return {"srun",
          "SLURM_PROCID",
          "SLURM_STEP_NUM_TASKS",
          {{"SLURM_PROCID", "2"},
           {"SLURM_STEP_NUM_TASKS", "4"},
           {"SLURM_NTASKS", "8"},
           {"SLURM_STEP_NUM_NODES", "1"},
           {"SLURM_NNODES", "2"},
           {"SLURM_JOB_ID", "77"},
           {"SLURM_STEP_ID", "0"}},
          {"SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_RESTART_COUNT"}};
}
std::vector<Launcher> launchers() {
  return {sinter_launch(), torchrun(), open_mpi(), hydra(), srun()};
}

/// Checks that a launcher is refused where one of its variables has another value, or none if it is
/// empty.
void check_refused(Launcher launcher, const std::string& variable, const std::string& value,
                   const std::string& why) {
  CAPTURE(launcher.name);
  CAPTURE(variable);
  CAPTURE(value);
  launcher.variables[variable] = value;
  const std::string said = message_of<ArgumentError>([&] { (void)world_of(launcher.variables); });
  CHECK(said ==
        "by its environment this process was started by " + launcher.name + ", but " + why + ".");
}

TEST_CASE("a process has the place that its launcher says") {
  for (Launcher launcher : launchers()) {
    CAPTURE(launcher.name);
    const auto found = world_of(launcher.variables);
    REQUIRE(found);
    CHECK(found->launcher == launcher.name);
    CHECK(found->world.rank == 2);
    CHECK(found->world.ranks == 4);
    CHECK(found->world.id.size() == 32);
    CHECK(found->world.facts.empty());
  }
}

TEST_CASE("without a launcher, or with one process of it, there is no world") {
  CHECK(!world_of({}));
  CHECK(!world_of({{"SINTER_WORLD", "left over"}}));
  for (const Launcher& launcher : launchers()) {
    CAPTURE(launcher.name);
    // It need not say more.
    Variables alone{{launcher.rank, "0"}, {launcher.ranks, "1"}};
    if (launcher.name == "torchrun") alone["TORCHELASTIC_RUN_ID"] = "none";
    if (launcher.name == "srun") alone["SLURM_STEP_ID"] = "0";
    CHECK(!world_of(alone));
    // Nor is it the one around it that counts.
    if (launcher.name == "srun") continue;
    Variables inside = srun().variables;
    inside.merge(alone);
    if (launcher.name != "mpiexec of MPICH or Intel MPI") CHECK(!world_of(inside));
  }
}

TEST_CASE("variables of no launcher are let alone") {
  CHECK(!world_of({{"RANK", "many"}, {"WORLD_SIZE", "4"}}));
  // The shell of a batch script, which runs once whatever the number of tasks.
  CHECK(!world_of({{"SLURM_JOB_ID", "77"},
                   {"SLURM_PROCID", "0"},
                   {"SLURM_NTASKS", "4"},
                   {"SLURM_NNODES", "1"}}));
}

TEST_CASE("the variables of torch.distributed do without torchrun") {
  Launcher launcher = torchrun();
  for (const char* name :
       {"TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "TORCHELASTIC_ERROR_FILE"})
    launcher.variables.erase(name);
  const auto found = world_of(launcher.variables);
  REQUIRE(found);
  CHECK(found->world.rank == 2);
}

TEST_CASE("srun's tasks are those of the step, or of the job") {
  Launcher launcher = srun();
  launcher.variables.erase("SLURM_STEP_NUM_TASKS");
  launcher.variables.erase("SLURM_STEP_NUM_NODES");
  launcher.variables["SLURM_NNODES"] = "1";
  const auto found = world_of(launcher.variables);
  REQUIRE(found);
  CHECK(found->world.ranks == 8);
}

TEST_CASE("the inner launcher counts") {
  Variables all;
  for (const Launcher& launcher : {srun(), open_mpi(), torchrun(), sinter_launch()}) {
    for (const auto& [name, value] : launcher.variables) all[name] = value;
    CHECK(world_of(all).value().launcher == launcher.name);
  }
  // Hydra may start its helpers by srun, and srun may speak PMI.
  Variables both = srun().variables;
  both.merge(hydra().variables);
  CHECK(world_of(both).value().launcher == hydra().name);
  both.erase("MPI_LOCALNRANKS");
  CHECK(world_of(both).value().launcher == "srun");
}

TEST_CASE("the id is that of all ranks, and of no other run") {
  for (const Launcher& launcher : launchers()) {
    CAPTURE(launcher.name);
    std::set<std::string> ids{world_of(launcher.variables).value().world.id};
    Variables other = launcher.variables;
    other[launcher.rank] = "3";
    if (launcher.name == "torchrun") {
      other["LOCAL_RANK"] = "3";
      other["TORCHELASTIC_ERROR_FILE"] = "/t/none_1/attempt_0/3/error.json";
    }
    CHECK(ids.contains(world_of(other).value().world.id));
    for (const std::string& variable : launcher.job) {
      CAPTURE(variable);
      Variables changed = launcher.variables;
      changed[variable] = "1";
      CHECK(ids.insert(world_of(changed).value().world.id).second);
    }
  }
  Variables again = torchrun().variables;  // of the same port, without --rdzv-id
  again["TORCHELASTIC_ERROR_FILE"] = "/t/none_2/attempt_0/2/error.json";
  CHECK(world_of(again).value().world.id != world_of(torchrun().variables).value().world.id);
}

TEST_CASE("variables that are not numbers are refused") {
  for (const Launcher& launcher : launchers()) {
    for (const char* value : {"-1", "2 ", " 2", "+2", "2x", "0x2", "2.0", "two", "99999999999"})
      check_refused(launcher, launcher.rank, value,
                    launcher.rank + " is \"" + value + "\", and must be a whole number from 0");
    for (const char* value : {"0", "-4", "4.", "99999999999"})
      check_refused(launcher, launcher.ranks, value,
                    launcher.ranks + " is \"" + value + "\", and must be a whole number from 1");
    check_refused(launcher, launcher.rank, "4",
                  launcher.rank + " is 4 and " + launcher.ranks + " 4: ranks are counted from 0");
  }
}

TEST_CASE("missing variables are named") {
  const auto without = [](const Launcher& launcher, const std::string& variable,
                          const std::string& names) {
    check_refused(launcher, variable, "", "the environment has no " + names);
  };
  without(sinter_launch(), "SINTER_RANK", "SINTER_RANK");
  without(sinter_launch(), "SINTER_RANKS", "SINTER_RANKS");
  without(sinter_launch(), "SINTER_WORLD", "SINTER_WORLD");
  for (const char* name : {"RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"})
    without(torchrun(), name, name);
  for (const char* name :
       {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"})
    without(open_mpi(), name, name);
  without(open_mpi(), "PMIX_NAMESPACE", "PMIX_NAMESPACE or OMPI_MCA_ess_base_jobid");
  for (const char* name : {"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"}) without(hydra(), name, name);
  check_refused(
      hydra(), "SINTER_WORLD", "",
      "it names no job, so that the environment must name it in SINTER_WORLD, in each run "
      "anew: mpiexec -genv SINTER_WORLD first -n 4 …");
  for (const char* name : {"SLURM_PROCID", "SLURM_JOB_ID"}) without(srun(), name, name);
  Launcher launcher = srun();
  launcher.variables.erase("SLURM_STEP_NUM_NODES");
  without(launcher, "SLURM_NNODES", "SLURM_STEP_NUM_NODES or SLURM_NNODES");
  launcher.variables.erase("SLURM_STEP_NUM_TASKS");
  without(launcher, "SLURM_NTASKS", "SLURM_NTASKS");
}

/// A launcher's ranks of which two are of each of two hosts.
struct OnHosts {
  Launcher launcher;
  std::string ranks_of_host, value;  // by what that is seen
  std::string rank_of_host;
};
std::vector<OnHosts> launchers_on_hosts() {
  std::vector<OnHosts> all{
      {torchrun(), "LOCAL_WORLD_SIZE", "2", "LOCAL_RANK"},
      {open_mpi(), "OMPI_COMM_WORLD_LOCAL_SIZE", "2", "OMPI_COMM_WORLD_LOCAL_RANK"},
      {hydra(), "MPI_LOCALNRANKS", "2", "MPI_LOCALRANKID"},
      {srun(), "SLURM_STEP_NUM_NODES", "2", "SLURM_LOCALID"}};
  for (OnHosts& on : all) on.launcher.variables[on.rank_of_host] = "1";
  return all;
}

TEST_CASE("ranks of one host need no meeting") {
  for (Launcher launcher : launchers()) {
    launcher.variables["MASTER_ADDR"] = "node1";
    launcher.variables["MASTER_PORT"] = "29500";
    CHECK(world_of(launcher.variables).value().world.meeting.address.empty());
  }
}

TEST_CASE("ranks of several hosts meet where they are told to") {
  for (OnHosts on : launchers_on_hosts()) {
    CAPTURE(on.launcher.name);
    Variables& variables = on.launcher.variables;
    variables[on.ranks_of_host] = on.value;
    variables["MASTER_ADDR"] = "node1";
    variables["MASTER_PORT"] = "29501";
    const World world = world_of(variables).value().world;
    CHECK(world.meeting.address == "node1");
    CHECK(world.meeting.port == 29501);
    CHECK(!world.meeting.has_store);
    CHECK(world.host.empty());
    CHECK(world.rank_here == 1);
    CHECK(world.ranks_here == 2);
    variables["TORCHELASTIC_USE_AGENT_STORE"] = "True";
    CHECK(world_of(variables).value().world.meeting.has_store == (on.launcher.name == "torchrun"));
  }
}

TEST_CASE("hosts of torchrun count restarts for themselves, and have folders of their own") {
  Variables variables = torchrun().variables;
  variables["LOCAL_WORLD_SIZE"] = "2";
  variables["LOCAL_RANK"] = "0";
  const std::string id = world_of(variables).value().world.id;
  variables["TORCHELASTIC_RESTART_COUNT"] = "1";
  variables["TORCHELASTIC_ERROR_FILE"] = "/other/none_7/attempt_0/2/error.json";
  CHECK(world_of(variables).value().world.id == id);
}

TEST_CASE("tasks of srun meet on the first node") {
  const auto meeting = [](const std::string& nodes, const char* job = "77") {
    Variables variables = srun().variables;
    variables["SLURM_STEP_NUM_NODES"] = "2";
    variables["SLURM_STEP_NODELIST"] = nodes;
    variables["SLURM_LOCALID"] = "0";
    variables["SLURM_JOB_ID"] = job;
    return world_of(variables).value().world.meeting;
  };
  CHECK(meeting("node1,node2").address == "node1");
  CHECK(meeting("node[3-4]").address == "node3");
  CHECK(meeting("node[003,007-9],b[1-2]").address == "node003");
  CHECK(meeting("rack[2-3]-n[01-09]-ib,x").address == "rack2-n01-ib");
  CHECK(meeting("n1").port == meeting("n2").port);
  CHECK(meeting("n1").port != meeting("n1", "78").port);
  CHECK(meeting("n1").port >= 12000);
  CHECK(meeting("n1").port < 32000);
  Variables variables = srun().variables;
  variables["SLURM_STEP_NUM_NODES"] = "2";
  variables["SLURM_LOCALID"] = "0";
  variables["SLURM_JOB_NODELIST"] = "n[5,6]";  // where the step has no list of its own
  CHECK(world_of(variables).value().world.meeting.address == "n5");
}

TEST_CASE("on several hosts, missing or wrong variables are refused") {
  const auto refused = [](const OnHosts& on, const std::string& variable, const std::string& value,
                          const std::string& why) {
    Launcher launcher = on.launcher;
    launcher.variables["MASTER_ADDR"] = "node1";
    launcher.variables["MASTER_PORT"] = "29501";
    launcher.variables[on.ranks_of_host] = on.value;
    check_refused(launcher, variable, value, why);
  };
  const auto missing = [](const std::string& name) {
    return "its ranks are on several hosts, and the environment has no " + name +
           ". They find each other at MASTER_ADDR, the host of rank 0, and MASTER_PORT, which is "
           "free there";
  };
  const auto all = launchers_on_hosts();
  for (const OnHosts& on : all) {
    refused(on, on.rank_of_host, "", "the environment has no " + on.rank_of_host);
    if (on.launcher.name != "srun")
      refused(on, on.rank_of_host, "2",
              on.rank_of_host + " is 2, and there are 2 ranks on this host");
    refused(on, "MASTER_PORT", "70000", "MASTER_PORT is 70000, and ports end with 65535");
    refused(on, "MASTER_PORT", "many",
            "MASTER_PORT is \"many\", and must be a whole number from 1");
  }
  for (const char* name : {"MASTER_ADDR", "MASTER_PORT"}) {
    refused(all[1], name, "",
            missing(name) + ": mpirun -x MASTER_ADDR=node1 -x MASTER_PORT=29500 -n 4 …");
    refused(all[2], name, "",
            missing(name) + ": mpiexec -genv MASTER_ADDR node1 -genv MASTER_PORT 29500 -n 4 …");
    refused(all[3], name, "", missing(name));
  }
  Launcher launcher = all[3].launcher;
  launcher.variables["SLURM_STEP_NUM_NODES"] = "2";
  check_refused(launcher, "SLURM_STEP_NODELIST", "",
                "the environment has no SLURM_STEP_NODELIST or SLURM_JOB_NODELIST");
  check_refused(launcher, "SLURM_STEP_NODELIST", ",a",
                "SLURM_STEP_NODELIST is \",a\", which begins with no host; MASTER_ADDR and "
                "MASTER_PORT can name the host of rank 0, and a port that is free there");
  check_refused(torchrun(), "LOCAL_WORLD_SIZE", "5", "LOCAL_WORLD_SIZE is 5 and there are 4 ranks");
}

}  // namespace sinter::detail::testing::launched_world_tests
