// SPDX-License-Identifier: Apache-2.0
// How fast do processes sum gradients, of one host and as if they were of two, beside PyTorch's Gloo? Two
// processes each, which sum fp32 in place, in turns.
//   ./sinter bench ranks [--rounds N] [--peers PYTHON|new] [--only TEXT] [--json FILE] [--svg FILE]
// A time is that of rank 0 from when all have come, which is not timed, to the end of the sum. The
// "sum difference" is that of an element. Without --peers ours are timed alone.
#include <arpa/inet.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <csignal>

#include "contest.hpp"
#include "report.hpp"
#include "sinter/comm/hosts.hpp"
#include "sinter/comm/shared_memory.hpp"
#include "sinter/error.hpp"

using namespace sinter;
using namespace sinter::detail;
namespace fs = std::filesystem;

namespace {

using bench::Contestant, bench::Round, bench::Settings, bench::Turns;
using Clock = std::chrono::steady_clock;

struct Contest {
  const char* name;
  std::int64_t elements;
  int steps;  // of a round
  bool of_hosts = false;
};
constexpr Contest contests[]{{"4 KB, 2 processes", 1 << 10, 300},
                             {"1 MB, 2 processes", 1 << 18, 60},
                             {"100 MB, 2 processes", 25 << 20, 4},
                             {"4 KB, 2 hosts over loopback", 1 << 10, 300, true},
                             {"1 MB, 2 hosts over loopback", 1 << 18, 60, true},
                             {"100 MB, 2 hosts over loopback", 25 << 20, 4, true}};

/// Takes so many sums, of 1 and 2.
Round sums(Communicator& end, std::vector<float>& values, int steps) {
  std::chrono::duration<double, std::milli> passed{};
  for (int s = 0; s < steps; ++s) {
    std::fill(values.begin(), values.end(), float(1 + end.rank()));
    end.barrier();
    const auto begin = Clock::now();
    end.start_sum(values.data(), std::int64_t(values.size()));
    end.wait(values.data());
    passed += Clock::now() - begin;
  }
  return {passed.count() / steps, values.back()};
}

/// A port of this host at which nobody listens at the moment.
int free_port() {
  const int made = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  socklen_t size = sizeof address;
  if (bind(made, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      getsockname(made, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    throw Error("no port is free");
  close(made);
  return ntohs(address.sin_port);
}

/// Rank 0, with rank 1 in a process of its own.
void contest(const Contest& work) {
  World world{.ranks = 2, .id = shared_memory_world_id()};
  if (work.of_hosts) world.meeting = {"127.0.0.1", free_port()};
  world.rank = fork() == 0;
  const int rank = world.rank;
  if (rank) prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (work.of_hosts) world.host = rank ? "the other" : "one";
  const auto end = work.of_hosts ? hosts_rank(world) : shared_memory_rank(world);
  std::vector<float> values(std::size_t(work.elements));
  bench::serve_on_ranks(rank, work.steps, [&](int steps) { return sums(*end, values, steps); });
}

std::vector<bench::Row> measure(int number, const Settings& settings) {
  const Contest& work = contests[number];
  const std::string name = work.name;
  const fs::path folder = settings.folder / std::to_string(number);
  fs::create_directories(folder);
  std::ofstream(folder / "job.json")
      << nlohmann::json{{"elements", work.elements}, {"steps", work.steps}};
  Turns turns(settings);
  const Contestant& ours = turns.add_own("Sinter", {std::to_string(number)});
  const Contestant* gloo =
      settings.python.empty() ? nullptr : turns.add_python("Gloo", "gloo.py", "gloo", folder);
  turns.take();
  const double mine = bench::median(ours.milliseconds);
  if (!gloo) {
    std::printf("%s: %.3f ms, alone\n", name.c_str(), mine);
    return {};
  }
  const double apart = ours.apart_from(*gloo);
  return {{name, mine, bench::median(gloo->milliseconds), "Gloo", "ms", apart, apart == 0,
           bench::least_to_most(ours.milliseconds, gloo->milliseconds)}};
}

int run_bench(int argc, char** argv) {
  const Settings settings("Sums over processes against PyTorch's Gloo.", argc, argv, 11);
  bench::Report report(settings, "sum");
  for (int number = 0; number < int(std::size(contests)); ++number)
    if (settings.wants(contests[number].name)) report.print(measure(number, settings));
  return report.write();
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 4 || std::string_view(argv[1]) != "--contestant") return run_bench(argc, argv);
  contest(contests[std::stoul(argv[2])]);
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "error: %s\n", e.what());
  return 1;
}
