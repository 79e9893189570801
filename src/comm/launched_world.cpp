// SPDX-License-Identifier: Apache-2.0
#include "sinter/comm/launched_world.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <initializer_list>

#include "files/hexadecimal.hpp"
#include "sinter/error.hpp"

namespace sinter {
using namespace detail;

namespace {

using Names = std::initializer_list<const char*>;

/// A variable of the environment; an empty one is as one that is not there.
std::string value_of(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}
bool is_set(const char* name) { return !value_of(name).empty(); }
bool are_set(Names names) { return std::ranges::all_of(names, is_set); }
bool is_any_set(Names names) { return std::ranges::any_of(names, is_set); }

/// The variables that a launcher sets for the processes that it starts.
class Launcher {
  const std::string name;
  int rank = 0, ranks = 1;

 public:
  Launcher(const char* called, const char* rank_name, const char* ranks_name) : name(called) {
    rank = number(rank_name, 0);
    ranks = number(ranks_name, 1);
    if (rank >= ranks)
      refuse(std::string(rank_name) + " is " + std::to_string(rank) + " and " + ranks_name + " " +
             std::to_string(ranks) + ": ranks are counted from 0");
  }

  bool has_one_rank() const { return ranks == 1; }

  /// The first of these variables that is set.
  const char* first_of(Names names) const {
    for (const char* variable : names)
      if (is_set(variable)) return variable;
    std::string all;
    for (const char* variable : names) all += (all.empty() ? "" : " or ") + std::string(variable);
    refuse("the environment has no " + all);
  }
  std::string text(Names names) const { return value_of(first_of(names)); }
  int number(const char* variable, int least) const {
    const std::string value = text({variable});
    const char* const end = value.data() + value.size();
    int number = 0;
    const auto [rest, error] = std::from_chars(value.data(), end, number);
    if (error != std::errc() || rest != end || number < least)
      refuse(std::string(variable) + " is \"" + value + "\", and must be a whole number from " +
             std::to_string(least));
    return number;
  }

  /// True if all ranks are of this host, by the number of those that are.
  bool is_of_one_host(const char* ranks_of_host) const {
    const int here = number(ranks_of_host, 1);
    if (here > ranks)
      refuse(std::string(ranks_of_host) + " is " + std::to_string(here) + " and there are " +
             std::to_string(ranks) + " ranks");
    return here == ranks;
  }

  /// Returns where ranks of several hosts find each other. `how` describes how to set it if the
  /// launcher does not.
  Meeting meeting(const std::string& how) const {
    if (!are_set({"MASTER_ADDR", "MASTER_PORT"}))
      refuse(std::string("its ranks are on several hosts, and the environment has no ") +
             (is_set("MASTER_ADDR") ? "MASTER_PORT" : "MASTER_ADDR") +
             ". They find each other at MASTER_ADDR, the host of rank 0, and MASTER_PORT, which is "
             "free there" +
             how);
    return {value_of("MASTER_ADDR"), port("MASTER_PORT")};
  }
  int port(const char* variable) const {
    const int number = this->number(variable, 1);
    if (number > 65'535)
      refuse(std::string(variable) + " is " + std::to_string(number) +
             ", and ports end with 65535");
    return number;
  }

  /// The world of a job that is named so; an id has a length of its own.
  LaunchedWorld world(std::initializer_list<std::string> job) const {
    std::string all = name;
    for (const std::string& part : job) all += '\n' + part;
    return {{.rank = rank, .ranks = ranks, .id = hexadecimal(XXH3_128bits(all.data(), all.size()))},
            name};
  }
  /// Makes the world of ranks on several hosts; ranks_here of them are on this one.
  LaunchedWorld world(std::initializer_list<std::string> job, const Meeting& meeting,
                      const char* rank_here, int ranks_here) const {
    LaunchedWorld made = world(job);
    made.world.meeting = meeting;
    made.world.rank_here = number(rank_here, 0);
    made.world.ranks_here = ranks_here;
    if (made.world.rank_here >= ranks_here)
      refuse(std::string(rank_here) + " is " + std::to_string(made.world.rank_here) +
             ", and there are " + std::to_string(ranks_here) + " ranks on this host");
    return made;
  }

  [[noreturn]] void refuse(const std::string& what) const {
    throw ArgumentError("by its environment this process was started by " + name + ", but " + what +
                        ".");
  }
};

using MaybeWorld = std::optional<LaunchedWorld>;

MaybeWorld of_sinter() {
  const Launcher launcher("./sinter launch", "SINTER_RANK", "SINTER_RANKS");
  if (launcher.has_one_rank()) return {};
  return launcher.world({launcher.text({"SINTER_WORLD"})});
}

MaybeWorld of_torchrun() {
  const Launcher launcher("torchrun", "RANK", "WORLD_SIZE");
  if (launcher.has_one_rank()) return {};
  const std::string address = launcher.text({"MASTER_ADDR"}), run = value_of("TORCHELASTIC_RUN_ID");
  const std::string port = launcher.text({"MASTER_PORT"});
  if (!launcher.is_of_one_host("LOCAL_WORLD_SIZE")) {
    Meeting meeting = launcher.meeting("");
    meeting.has_store = value_of("TORCHELASTIC_USE_AGENT_STORE") == "True";
    return launcher.world({address, port, run}, meeting,  // each host counts its own restarts
                          "LOCAL_RANK", launcher.number("LOCAL_WORLD_SIZE", 1));
  }
  // Without --rdzv-id each run is "none", and often of the same port, but has a folder of its own for
  // errors, with a file for each rank.
  const std::string errors = value_of("TORCHELASTIC_ERROR_FILE");
  const std::string file = "/" + value_of("LOCAL_RANK") + "/error.json";
  return launcher.world(
      {address, port, run, value_of("TORCHELASTIC_RESTART_COUNT"),
       errors.ends_with(file) ? errors.substr(0, errors.size() - file.size()) : std::string()});
}

MaybeWorld of_open_mpi() {
  const Launcher launcher("Open MPI's mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE");
  if (launcher.has_one_rank()) return {};
  const std::string job = launcher.text({"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"});
  if (launcher.is_of_one_host("OMPI_COMM_WORLD_LOCAL_SIZE")) return launcher.world({job});
  return launcher.world(
      {job}, launcher.meeting(": mpirun -x MASTER_ADDR=node1 -x MASTER_PORT=29500 -n 4 …"),
      "OMPI_COMM_WORLD_LOCAL_RANK", launcher.number("OMPI_COMM_WORLD_LOCAL_SIZE", 1));
}

MaybeWorld of_hydra() {
  const Launcher launcher("mpiexec of MPICH or Intel MPI", "PMI_RANK", "PMI_SIZE");
  if (launcher.has_one_rank()) return {};
  const bool one_host = launcher.is_of_one_host("MPI_LOCALNRANKS");
  if (!is_set("SINTER_WORLD"))
    launcher.refuse(
        "it names no job, so that the environment must name it in SINTER_WORLD, in each run "
        "anew: mpiexec -genv SINTER_WORLD first -n 4 …");
  if (one_host) return launcher.world({value_of("SINTER_WORLD")});
  return launcher.world(
      {value_of("SINTER_WORLD")},
      launcher.meeting(": mpiexec -genv MASTER_ADDR node1 -genv MASTER_PORT 29500 -n 4 …"),
      "MPI_LOCALRANKID", launcher.number("MPI_LOCALNRANKS", 1));
}

/// The first host of a list such as "node[01-03,7],other".
std::string first_host(const std::string& list) {
  std::string host;
  for (std::size_t at = 0; at < list.size() && list[at] != ','; ++at) {
    if (list[at] != '[') {
      host += list[at];
      continue;
    }
    const std::size_t end = std::min(list.find_first_of(",-]", at), list.size());
    host += list.substr(at + 1, end - at - 1);
    at = std::min(list.find(']', at), list.size());
  }
  return host;
}

/// Returns the meeting that srun's user names; else the first node, which has rank 0, with a port
/// that follows from the step. The port is below those that systems give to programs that ask for
/// any.
Meeting meeting_of_step(const Launcher& launcher, const std::string& job, const std::string& step) {
  if (is_any_set({"MASTER_ADDR", "MASTER_PORT"})) return launcher.meeting("");
  const char* const nodes = launcher.first_of({"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST"});
  const std::string host = first_host(value_of(nodes)), name = job + "." + step;
  if (host.empty())
    launcher.refuse(std::string(nodes) + " is \"" + value_of(nodes) +
                    "\", which begins with no host; MASTER_ADDR and MASTER_PORT can name the host "
                    "of rank 0, and a port that is free there");
  constexpr int first_port = 12'000, ports = 20'000;
  return {host, first_port + int(XXH3_64bits(name.data(), name.size()) % ports)};
}

MaybeWorld of_srun() {
  const char* const ranks =
      is_set("SLURM_STEP_NUM_TASKS") ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS";
  const Launcher launcher("srun", "SLURM_PROCID", ranks);
  if (launcher.has_one_rank()) return {};
  const std::string job = launcher.text({"SLURM_JOB_ID"}), step = launcher.text({"SLURM_STEP_ID"});
  const std::string restarts = value_of("SLURM_RESTART_COUNT");
  const int nodes = launcher.number(launcher.first_of({"SLURM_STEP_NUM_NODES", "SLURM_NNODES"}), 1);
  if (nodes == 1) return launcher.world({job, step, restarts});
  // Nodes may have one task more or less; all then have the share of processors of the most.
  const int of_node = (launcher.number(ranks, 1) + nodes - 1) / nodes;
  return launcher.world({job, step, restarts}, meeting_of_step(launcher, job, step),
                        "SLURM_LOCALID",
                        std::max(of_node, launcher.number("SLURM_LOCALID", 0) + 1));
}

}  // namespace

MaybeWorld launched_world() {
  // One that starts processes inside another's comes before that.
  if (is_any_set({"SINTER_RANK", "SINTER_RANKS"})) return of_sinter();
  if (is_set("TORCHELASTIC_RUN_ID") ||
      are_set({"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}))
    return of_torchrun();
  if (is_any_set({"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"})) return of_open_mpi();
  // srun may set PMI's variables, too. Hydra may start its own helpers by srun.
  const bool in_step = is_set("SLURM_STEP_ID");  // not so in the shell of a batch script
  if (is_set("MPI_LOCALNRANKS") || (is_any_set({"PMI_RANK", "PMI_SIZE"}) && !in_step))
    return of_hydra();
  if (in_step) return of_srun();
  return {};
}

}  // namespace sinter
