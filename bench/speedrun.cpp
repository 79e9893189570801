// SPDX-License-Identifier: Apache-2.0
// How soon does a model learn tinyshakespeare? A recipe trains from nothing until its loss on the last
// tenth is 1.55 nats a byte, and the seconds from its launch to that evaluation count. docs/speedrun.md
// has the rules, and a table that others can enter.
//   ./sinter bench speedrun --data FILE [--seeds N] [--target NATS] [--minutes N] [--threads N]
//                           [--json FILE] [--peers PYTHON|new | --program FILE] [-- FLAG…]
// FILE is the text, which may be compressed; with another text nothing counts. The entry is
// recipes/speedrun_tinyshakespeare.cpp, or the program of --program: a recipe's binary, which
// ./sinter build makes, or any other that takes the flags of docs/speedrun.md. With --peers it is
// PyTorch with nanoGPT's settings. What follows -- is given to the entry, too, and takes the place of
// the recipe's usual flags. --json has what was measured after each run. The status is 1 if a run has
// not reached the target within --minutes, or before it ended by itself.
#include "settings.hpp"
#include "sinter/files/decompress.hpp"
#include "speedrun_run.hpp"

using namespace sinter;
using namespace sinter::detail;
namespace fs = std::filesystem;

namespace {

using bench::speedrun::Entry, bench::speedrun::Evaluated, bench::speedrun::Json,
    bench::speedrun::Rules, bench::speedrun::Run;

constexpr const char* recipe = "speedrun_tinyshakespeare";
/// An evaluation costs as much as a third of so much training, so that there are few.
const std::vector<std::string> usual_flags{"--eval-every", "250", "--save-every", "0"};
constexpr double usual_target = 1.55;  // nats a byte
constexpr std::string_view tinyshakespeare =
    "ae717de95b0441526572a3fb9fde75d3";  // of its 1,115,394 bytes

struct Asked {
  std::string data, peers, program;
  std::vector<std::string> more;
  int seeds = 3;
  double target = usual_target, minutes = 60;
};

Entry entry_of(const Asked& asked, const fs::path& binaries) {
  if (!asked.program.empty()) return {asked.program, {asked.program, "train"}, asked.more};
  if (!asked.peers.empty())
    return {"nanoGPT's settings in PyTorch",
            {bench::find_python(asked.peers), SINTER_BENCH_DIR "/peers/nanogpt.py", "train"},
            asked.more};
  return {recipe,
          {(binaries / recipe).string(), "train"},
          asked.more.empty() ? usual_flags : asked.more};
}

/// Writes the two parts of the text, as nanoGPT divides it. Returns whether it is tinyshakespeare.
bool divide(const std::string& data, const Rules& rules) {
  const std::string text = read_decompressed(data, std::uint64_t(1) << 30);
  const std::size_t first = text.size() * 9 / 10;
  if (first == 0)
    throw Error(data + " has " + std::to_string(text.size()) +
                " bytes, too few for two parts. Expected tinyshakespeare, which has 1,115,394.");
  write_file_atomically(rules.training, text.substr(0, first));
  write_file_atomically(rules.validation, text.substr(first));
  return hash_of(text) == tinyshakespeare;
}

Json json_of(const Run& run, int seed) {
  Json evaluated = Json::array();
  for (const Evaluated& e : run.evaluated)
    evaluated.push_back({{"step", e.step}, {"val_loss", e.loss}, {"seconds", e.seconds}});
  return {{"seed", seed},
          {"reached", run.reached},
          {"seconds", run.seconds},
          {"processor_seconds", run.processor_seconds},
          {"evaluations", evaluated}};
}

void print(const Run& run, int seed) {
  std::printf("| %d | %s | %.1f | %.1f |", seed, run.reached ? "yes" : "**no**", run.seconds,
              run.processor_seconds);
  if (run.evaluated.empty()) {
    std::printf(" | not evaluated |\n");
  } else {
    const Evaluated& last = run.evaluated.back();
    std::printf(" %lld | %.4f |\n", static_cast<long long>(last.step), last.loss);
  }
  std::fflush(stdout);
}

/// Takes a run of each seed. Returns whether all have reached the target.
bool take_runs(const Entry& entry, const Rules& rules, const Asked& asked, Json& all,
               const std::string& json_file, const fs::path& folder) {
  std::vector<double> seconds, processor;
  std::printf(
      "| seed | reached | seconds | processor seconds | steps | loss |\n"
      "|---|---|---|---|---|---|\n");
  for (int seed = 1; seed <= asked.seeds; ++seed) {
    const Run run =
        bench::speedrun::run(entry, rules, seed, folder / ("run" + std::to_string(seed)));
    print(run, seed);
    all["runs"].push_back(json_of(run, seed));
    if (!json_file.empty()) write_file_atomically(json_file, all.dump(1) + "\n");
    if (!run.reached) continue;
    seconds.push_back(run.seconds);
    processor.push_back(run.processor_seconds);
  }
  if (int(seconds.size()) < asked.seeds) return false;
  std::printf("\nmedian: %.1f s, %.1f processor seconds\n", bench::median(seconds),
              bench::median(processor));
  return true;
}

int run_bench(int argc, char** argv) {
  Asked asked;
  bench::CommandLine line("How soon a model learns tinyshakespeare.");
  line.remove_option(line.get_option("--svg"));
  line.add_option("--data", asked.data, "tinyshakespeare, which may be compressed")->required();
  line.add_count("--seeds", asked.seeds, "Runs, each with a seed of its own");
  line.add_option("--target", asked.target, "Nats a byte")->check(CLI::Range(0.5, 5.5));
  line.add_option("--minutes", asked.minutes, "That a run may take at most")
      ->check(CLI::Range(0.01, 1e4));
  auto* peers = line.add_option("--peers", asked.peers,
                                "Python with torch, or 'new'; it runs in place of the recipe");
  line.add_option("--program", asked.program, "An entry's binary, in place of the recipe")
      ->check(CLI::ExistingFile)
      ->excludes(peers);
  line.add_option("more", asked.more, "After --: flags for the entry");
  line.read(argc, argv);

  const bench::ScratchFolder scratch;
  fs::create_directories(scratch.path);
  const Rules rules{asked.target, asked.minutes, line.threads, scratch.path / "training",
                    scratch.path / "validation"};
  const bool counts = divide(asked.data, rules) && asked.target <= usual_target;
  const Entry entry = entry_of(asked, fs::read_symlink("/proc/self/exe").parent_path());
  bench::print_machine(line);
  std::printf("entry: %s, to %g nats a byte%s\n\n", entry.name.c_str(), rules.target,
              counts ? "" : "; this text or target is not that of the table, so nothing counts");
  Json all = bench::about_run(line.threads, line.typed());
  all.update({{"entry", entry.name}, {"target", rules.target}, {"counts", counts}});
  all["runs"] = Json::array();
  return take_runs(entry, rules, asked, all, line.json, scratch.path) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return bench::main_of(argc, argv, run_bench); }
