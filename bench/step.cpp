// SPDX-License-Identifier: Apache-2.0
// How fast is a training step of ours beside the trainers that people use? All have the same
// weights and tokens, and take turns, each in a process of its own. A row whose losses differ by
// more than 1e-4 is void.
//   ./sinter bench step [--threads N] [--rounds N] [--peers PYTHON|new] [--only TEXT]
//                       [--llmc FOLDER] [--avx2] [--json FILE] [--svg FILE]
// The peers are LibTorch's autograd with the fused optimizer in C++; with --peers also PyTorch
// eager with fused AdamW, torch.compile, its whole step as one graph, JAX, Hugging Face Trainer and
// Lightning, in a Python that has them, or in a new environment of their pinned versions
// (bench/peers/requirements.txt, 5 GB); with --llmc also llm.c, whose sources are in FOLDER. With
// --avx2 nobody uses AVX-512 or AMX.
#include "contestants.hpp"
#include "llmc.hpp"
#include "report.hpp"

using namespace sinter;
using namespace sinter::detail;
namespace fs = std::filesystem;

namespace {

using bench::Contest, bench::Contestant, bench::Settings, bench::Turns;

/// Makes the rows of one of ours against one peer.
class Compare {
  const Contest& contest;
  const double matmul_rate;
  std::vector<bench::Row>& rows;

  std::string speed(double ms) const {
    char text[64];
    if (contest.packed) return "real tokens alone";
    const double rate = bench::sequences * contest.shape.positions / ms * 1e3;
    std::snprintf(text, sizeof text, "%.0f tokens/s = %.0f %% of matmul", rate,
                  100 * contest.flops_per_token * rate / matmul_rate);
    return text;
  }

 public:
  Compare(const Contest& c, double rate, std::vector<bench::Row>& r)
      : contest(c), matmul_rate(rate), rows(r) {}

  void operator()(const Contestant& ours, const Contestant& peer, double tolerance = 1e-4) {
    const double apart = ours.apart_from(peer);
    auto row = [&](const char* what, double a, double b, const char* unit, std::string note) {
      std::string name = contest.name + (ours.name == "Sinter" ? "" : ", " + ours.name) + what;
      rows.push_back({name, a, b, peer.name, unit, apart, apart < tolerance, std::move(note)});
    };
    const double mine = bench::median(ours.milliseconds), theirs = bench::median(peer.milliseconds);
    row("", mine, theirs, "ms/step",
        bench::least_to_most(ours.milliseconds, peer.milliseconds) + "; " + speed(mine) + ", " +
            speed(theirs));
    row(": peak memory", ours.peak_mib, peer.peak_mib, "MiB", "of the process");
    row(": launch to first step", ours.seconds_to_first_step, peer.seconds_to_first_step, "s", "");
  }
  void matmuls(const Contestant& ours, const Contestant& alone) {
    const double mine = bench::median(ours.milliseconds), least = bench::median(alone.milliseconds);
    char text[64];
    std::snprintf(text, sizeof text, "%.1f %% of the step is outside", 100 * (1 - least / mine));
    rows.push_back({contest.name, mine, least, alone.name, "ms/step", 0, true, text});
  }
};

/// bf16 errs by up to 2^-8 of each number, and losses drift apart by some thousandths.
double half_tolerance(const Contestant& c) {
  return 1e-2 * *std::max_element(c.losses.begin(), c.losses.end());
}

/// llmc: the folder of llm.c's sources; empty if it is not wanted.
std::vector<bench::Row> measure(int number, const Settings& settings, const std::string& llmc,
                                double matmul_rate) {
  const Contest& w = bench::works()[std::size_t(number)];
  const fs::path folder = settings.folder / std::to_string(number);
  const auto own = [&](const char* word) {
    return std::vector<std::string>{word, std::to_string(number)};
  };
  // Hides what torch.compile made before, or for another processor.
  setenv("TORCHINDUCTOR_CACHE_DIR", (folder / "inductor").c_str(), 1);
  Turns turns(settings);
  const Contestant& ours = turns.add_own("Sinter", own("fp32"));
  const Contestant& half = turns.add_own("Bf16", own("bf16"));
  const Contestant* alone = nullptr;
  std::vector<const Contestant*> peers;
  if (!w.packed) {
    alone = &turns.add_own("its matmuls alone", own("matmuls"));
    peers.push_back(&turns.add_own("LibTorch autograd, fused AdamW, C++", own("libtorch")));
  }
  const Contestant* autocast = nullptr;
  if (!llmc.empty() || !settings.python.empty())
    bench::write_job(w, settings, folder, settings.rounds + 1);
  if (!llmc.empty() && !w.packed)
    peers.push_back(&turns.add("llm.c", bench::llmc_command(w, settings, llmc, folder)));
  if (!settings.python.empty() && w.packed)
    peers.push_back(turns.add_python("PyTorch eager, padded", "step.py", "eager", folder));
  if (!settings.python.empty() && !w.packed) {
    for (auto [name, file, word] :
         {std::tuple{"PyTorch eager, fused AdamW", "step.py", "eager"},
          {"torch.compile", "step.py", "compile"},
          {"PyTorch's whole step as one graph, inductor", "step.py", "whole-graph"},
          {"JAX, jit, donated buffers, optax", "step_jax.py", "jit"},
          {"Hugging Face Trainer", "step.py", "hugging-face"},
          {"Lightning", "step.py", "lightning"}})
      peers.push_back(turns.add_python(name, file, word, folder));
    if (!bench::only_avx2())  // with AVX2 alone, PyTorch needs minutes for a step in bf16
      autocast = turns.add_python("PyTorch autocast in bf16", "step.py", "autocast", folder);
  }
  turns.take();
  std::vector<bench::Row> rows;
  Compare compare(w, matmul_rate, rows);
  if (alone) compare.matmuls(ours, *alone);
  for (const Contestant* peer : peers)
    if (peer) compare(ours, *peer);
  compare(half, ours, half_tolerance(ours));
  if (autocast) compare(half, *autocast, half_tolerance(ours));
  return rows;
}

int run_bench(int argc, char** argv) {
  std::string llmc;
  const Settings settings("A training step against those of other trainers.", argc, argv, 9,
                          [&](bench::CommandLine& line) {
                            line.add_option("--llmc", llmc, "Folder of llm.c's sources");
                          });
  bench::Report report(settings);
  kernel::Stream stream(settings.threads);
  const double rate = kernel::measured_matmul_rate(stream, 0.5);
  std::printf("matmul: %.0f GFLOP/s in fp32\n\n", rate / 1e9);
  std::fflush(stdout);
  for (int number = 0; number < int(bench::works().size()); ++number)
    if (settings.wants(bench::works()[std::size_t(number)].name))
      report.print(measure(number, settings, llmc, rate));
  return report.write();
}

}  // namespace

int main(int argc, char** argv) { return bench::main_of_contest(argc, argv, run_bench); }
