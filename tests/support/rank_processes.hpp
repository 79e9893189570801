// SPDX-License-Identifier: Apache-2.0
// Ranks that are processes of their own.
#pragma once
#include <doctest/doctest.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sinter/comm/shared_memory.hpp"
#include "sinter/error.hpp"
#include "support/free_port.hpp"

namespace sinter::detail::testing {

/// Processes that work as the ranks of a world. They are killed, if they still live, when this object
/// ends, and also when the test does.
class RankProcesses {
 public:
  /// Says something to the test while a rank works.
  using Say = std::function<void(const std::string&)>;
  /// What a rank does. Returns its result; it may throw an Error, and then the result is its message.
  using Work = std::function<std::string(const World&, const Say&)>;

  /// Starts a process for each of these worlds.
  RankProcesses(const std::vector<World>& worlds, const Work& work) {
    for (const World& world : worlds) {
      hosts.push_back(world.host);
      start(world, work);
    }
  }
  /// Starts all ranks of a new world.
  RankProcesses(int ranks, const Work& work) : RankProcesses(worlds_of(ranks), work) {}
  ~RankProcesses() {
    for (const Process& p : processes) {
      if (p.id) ::kill(p.id, SIGKILL);
      if (p.id) ::waitpid(p.id, nullptr, 0);
      ::close(p.pipe);
    }
  }
  RankProcesses(const RankProcesses&) = delete;
  RankProcesses& operator=(const RankProcesses&) = delete;

  static std::vector<World> worlds_of(int ranks) {
    std::vector<World> worlds;
    const std::string id = shared_memory_world_id();
    for (int r = 0; r < ranks; ++r) worlds.push_back({r, ranks, id});
    return worlds;
  }

  /// Of hosts with so many ranks each, which are called a, b and so on.
  static std::vector<World> worlds_of_hosts(const std::vector<int>& ranks) {
    int all = 0;
    for (int of_host : ranks) all += of_host;
    std::vector<World> worlds = worlds_of(all);
    const Meeting meeting{"127.0.0.1", free_port()};
    auto world = worlds.begin();
    for (std::size_t h = 0; h < ranks.size(); ++h)
      for (int r = 0; r < ranks[h]; ++r, ++world) {
        world->meeting = meeting;
        world->host = std::string(1, char('a' + h));
      }
    return worlds;
  }
  int size() const { return int(processes.size()); }
  pid_t id(int rank) const { return of(rank).id; }
  void signal(int rank, int number) { REQUIRE(::kill(of(rank).id, number) == 0); }
  /// "rank 1 (process 4711 on node7)"
  std::string name(int rank) const {
    char own[256] = "";
    REQUIRE(::gethostname(own, sizeof own) == 0);
    const std::string& host = hosts[std::size_t(rank)];
    return "rank " + std::to_string(rank) + " (process " + std::to_string(id(rank)) + " on " +
           (host.empty() ? own : host) + ")";
  }
  /// What a rank says next, which is a line.
  std::string next_said(int rank) const {
    std::string line;
    for (char c = 0; read_from(rank, &c, 1) == 1 && c != '\n';) line += c;
    return line;
  }
  /// Waits for the end of a rank that ends by itself, and returns its result.
  std::string result(int rank) {
    std::string all;
    char bytes[1 << 16];
    for (ssize_t n; (n = read_from(rank, bytes, sizeof bytes)) > 0;)
      all.append(bytes, std::size_t(n));
    int status = 0;
    REQUIRE(::waitpid(std::exchange(of(rank).id, 0), &status, 0) > 0);
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
    return all;
  }
  /// The same of all ranks.
  std::vector<std::string> results() {
    std::vector<std::string> all;
    for (int r = 0; r < size(); ++r) all.push_back(result(r));
    return all;
  }

 private:
  struct Process {
    pid_t id;
    int pipe;
  };
  std::vector<Process> processes;
  std::vector<std::string> hosts;  // where a world names them

  Process& of(int rank) { return processes[std::size_t(rank)]; }
  const Process& of(int rank) const { return processes[std::size_t(rank)]; }

  /// Waits at most a minute, so that a test fails whose ranks hang.
  ssize_t read_from(int rank, char* bytes, std::size_t size) const {
    pollfd pipe{of(rank).pipe, POLLIN, 0};
    REQUIRE(::poll(&pipe, 1, 60'000) == 1);
    return ::read(pipe.fd, bytes, size);
  }
  void start(const World& world, const Work& work) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const pid_t parent = ::getpid(), child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(0);
      write_all(ends[1], result_of(world, work, ends[1]));
      ::_exit(0);
    }
    ::close(ends[1]);
    processes.push_back({child, ends[0]});
  }
  static std::string result_of(const World& world, const Work& work, int pipe) {
    try {
      return work(world, [pipe](const std::string& line) { write_all(pipe, line + "\n"); });
    } catch (const std::exception& error) {
      return error.what();
    }
  }
  static void write_all(int pipe, const std::string& text) {
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t n = ::write(pipe, text.data() + done, text.size() - done);
      if (n <= 0) ::_exit(1);
      done += std::size_t(n);
    }
  }
};

/// Checks that a text has a part.
inline void check_has(const std::string& text, const std::string& what) {
  INFO(text);
  CHECK(text.find(what) != std::string::npos);
}

/// Says "here" once all ranks have come.
inline void say_all_have_come(Communicator& end, const RankProcesses::Say& say) {
  double one = 1;
  end.sum(&one);
  say("here");
}
/// Waits until each rank has said so.
inline void hear_all(const RankProcesses& ranks) {
  for (int r = 0; r < ranks.size(); ++r) REQUIRE(ranks.next_said(r) == "here");
}

}  // namespace sinter::detail::testing
