// SPDX-License-Identifier: Apache-2.0
// Runs recipes' binaries as launchers start them: each process is a rank.
#pragma once
#include "binary/support.hpp"

/// Ranks of one run, with what a launcher tells each.
class Launched {
  std::vector<std::unique_ptr<Process>> processes;

 public:
  /// As torchrun starts ranks, one on each host; they meet at a port of this one.
  struct OnHosts {
    int ranks, port;
  };
  Launched(const OnHosts& hosts, const Words& words) {
    const std::string ranks = std::to_string(hosts.ranks), port = std::to_string(hosts.port);
    for (int r = 0; r < hosts.ranks; ++r) {
      const std::map<std::string, std::string> told{
          {"RANK", std::to_string(r)}, {"WORLD_SIZE", ranks},        {"LOCAL_RANK", "0"},
          {"LOCAL_WORLD_SIZE", "1"},   {"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", port}};
      processes.push_back(std::make_unique<Process>(SINTER_SMALL, words, "", "", Limits{}, told));
    }
  }
  /// `own` are further words of the last rank.
  Launched(int ranks, const Words& words, const std::string& binary = SINTER_SMALL,
           const Words& own = {})
      : Launched(std::vector(std::size_t(ranks), binary), words, own) {}
  /// Each rank has its binary.
  Launched(const std::vector<std::string>& binaries, const Words& words, const Words& own = {}) {
    static int worlds = 0;
    const std::string id = std::to_string(getpid()) + " " + std::to_string(++worlds);
    const std::size_t ranks = binaries.size();
    for (std::size_t r = 0; r < ranks; ++r) {
      const std::map<std::string, std::string> told{{"SINTER_RANK", std::to_string(r)},
                                                    {"SINTER_RANKS", std::to_string(ranks)},
                                                    {"SINTER_WORLD", id}};
      processes.push_back(std::make_unique<Process>(
          binaries[r], r + 1 == ranks ? words + own : words, "", "", Limits{}, told));
    }
  }
  Process& operator[](int rank) { return *processes[std::size_t(rank)]; }
  std::vector<Ended> wait() {
    std::vector<Ended> all;
    for (auto& process : processes) all.push_back(process->wait());
    return all;
  }
};

/// Checks that all ranks ended with this code, and that only the first printed anything.
inline void check_ended(const std::vector<Ended>& all, int code) {
  for (std::size_t r = 0; r < all.size(); ++r) {
    INFO("rank ", r, " says: ", all[r].err);
    CHECK(all[r].code == code);
    if (r > 0) CHECK(all[r].out.empty());
    if (r > 0 && code != 1) CHECK(all[r].err.empty());
  }
}

/// Checks that a rank says where it was when it noticed that another had gone.
inline void check_place(const std::string& said, int rank) {
  INFO(said);
  const std::string self = " Rank " + std::to_string(rank) + " was ";
  const std::size_t in_step = said.find(self + "in step ");
  CHECK((in_step != std::string::npos ||
         said.find(self + "between steps, and had made ") != std::string::npos));
  if (in_step != std::string::npos)
    CHECK(said.find(", at instruction ", in_step) != std::string::npos);
}

/// A run that ends when it is stopped.
inline const Words endless{"--steps", "9999999", "--schedule.steps", "9999999"};

inline void wait_for_steps(const std::string& run_folder, std::size_t steps) {
  REQUIRE(wait_for(
      [&] { return fs::exists(run_folder + "/last") && metrics(run_folder).size() > steps; }));
}
