// SPDX-License-Identifier: Apache-2.0
// What is left of a training step's lead on a machine that computes other things, too? The step of
// ours and of peers beside 0, 1, 2 and 4 busy processes, each of which counts without end and
// touches no memory. All have the same weights and tokens, and take turns.
//   ./sinter bench busy [--threads N] [--rounds N] [--peers PYTHON|new] [--only TEXT]
//                       [--avx2] [--json FILE] [--svg FILE]
// The peers are LibTorch's autograd with the fused optimizer in C++; with --peers also PyTorch
// eager with fused AdamW, and JAX. In each round the numbers of busy processes follow each other,
// so that all see the same hours. The bench and the busy processes are one session: where the
// system shares processors among sessions first, none is favoured.
#include <sys/prctl.h>

#include <csignal>
#include <thread>

#include "contestants.hpp"
#include "report.hpp"

using namespace sinter;
using namespace sinter::detail;

namespace {

using bench::Contest, bench::Contestant, bench::Settings;

constexpr std::array busy_counts{0, 1, 2, 4};

/// Processes that count until this object ends, or this process.
class BusyProcesses {
  std::vector<pid_t> children;

 public:
  explicit BusyProcesses(int count) {
    for (int k = 0; k < count; ++k) {
      const pid_t child = fork();
      if (child < 0) throw Error("The system gives no process to be busy.");
      if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (volatile unsigned number = 0;;) number = number + 1;
      }
      children.push_back(child);
    }
    // The system spreads them over its processors.
    if (count) std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
  ~BusyProcesses() {
    for (const pid_t child : children) kill(child, SIGKILL), waitpid(child, nullptr, 0);
  }
  BusyProcesses(const BusyProcesses&) = delete;
  BusyProcesses& operator=(const BusyProcesses&) = delete;
};

/// Of a contestant's rounds, those that were taken beside the same number of busy processes.
std::vector<double> beside(const std::vector<double>& rounds, std::size_t number) {
  std::vector<double> some;
  for (std::size_t r = number; r < rounds.size(); r += busy_counts.size())
    some.push_back(rounds[r]);
  return some;
}

/// The rows of ours against one peer.
std::vector<bench::Row> compare(const Contest& w, const Contestant& ours, const Contestant& peer) {
  const double apart = ours.apart_from(peer);
  double quiet = 0;
  std::vector<bench::Row> rows;
  for (std::size_t n = 0; n < busy_counts.size(); ++n) {
    const auto mine = beside(ours.milliseconds, n), theirs = beside(peer.milliseconds, n);
    const double my_processor = bench::median(beside(ours.processor, n)) / w.steps;
    const double their_processor = bench::median(beside(peer.processor, n)) / w.steps;
    bench::Row row{w.name + ", busy processes: " + std::to_string(busy_counts[n]),
                   bench::median(mine),
                   bench::median(theirs),
                   peer.name,
                   "ms/step",
                   apart,
                   apart < 1e-4};
    if (n == 0) quiet = row.ratio();
    char text[160];
    std::snprintf(text, sizeof text, "%s; processor time %.2f, %.2f ms; %.2f of the quiet ratio",
                  bench::least_to_most(mine, theirs).c_str(), my_processor, their_processor,
                  row.ratio() / quiet);
    row.more = text;
    row.figures = {{"ours_processor_ms", my_processor},
                   {"peer_processor_ms", their_processor},
                   {"of_quiet_ratio", row.ratio() / quiet}};
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<bench::Row> measure(int number, const Settings& settings) {
  const Contest& w = bench::works()[std::size_t(number)];
  const auto folder = settings.folder / std::to_string(number);
  const auto own = [&](const char* word) {
    return std::vector<std::string>{word, std::to_string(number)};
  };
  bench::Turns turns(settings);
  const Contestant& ours = turns.add_own("Sinter", own("fp32"));
  std::vector<const Contestant*> peers{
      &turns.add_own("LibTorch autograd, fused AdamW, C++", own("libtorch"))};
  if (!settings.python.empty()) {
    bench::write_job(w, settings, folder, 1 + settings.rounds * int(busy_counts.size()));
    for (auto [name, file, word] : {std::tuple{"PyTorch eager, fused AdamW", "step.py", "eager"},
                                    {"JAX, jit, donated buffers, optax", "step_jax.py", "jit"}})
      peers.push_back(turns.add_python(name, file, word, folder));
  }
  turns.take_round(false);
  for (int round = 0; round < settings.rounds; ++round)
    for (const int count : busy_counts) {
      const BusyProcesses busy(count);
      turns.take_round(true);
    }
  std::vector<bench::Row> rows;
  for (const Contestant* peer : peers)
    if (peer)
      for (bench::Row& row : compare(w, ours, *peer)) rows.push_back(std::move(row));
  return rows;
}

int run_bench(int argc, char** argv) {
  const Settings settings("A training step beside busy processes.", argc, argv, 7);
  bench::Report report(settings);
  for (int number = 0; number < int(bench::works().size()); ++number) {
    const Contest& w = bench::works()[std::size_t(number)];
    if (!w.packed && settings.wants(w.name)) report.print(measure(number, settings));
  }
  return report.write();
}

}  // namespace

int main(int argc, char** argv) { return bench::main_of_contest(argc, argv, run_bench); }
