// SPDX-License-Identifier: Apache-2.0
// How much faster do the rungs of ParlAI's tutorial "Speeding up training" make an encoder-decoder
// that learns dialogues? Each trains on the same examples once and evaluates others, in a process of
// its own, and has what the rung before has: evaluation without generation in larger batches, dynamic
// batches, half precision, larger batches, batches read ahead, ranks. Then come rungs that the
// tutorial lacks. On a processor without units for bf16, where half precision is slower, the rungs
// above it go on in fp32, and a line says so.
//   ./sinter bench ladder --data FILE [--examples N] [--held-out N] [--history N] [--rounds N]
//                         [--threads N] [--json FILE] [--svg FILE] [--peers PYTHON|new]
//                         [--only NAME]
// FILE has dialogues as JSON lines, as DialoguePairs reads them; tokens are those of a tokenizer that
// is trained on it. With --json the runs are kept, and the same command goes on where one was stopped;
// it is an error if the file is of other settings. Several --rounds are taken in turns, and the table
// has medians. Times begin when the trainer is made, and are those of the clock and of the processor,
// of all threads. Batches are read by the step's own thread up to "background preprocessing". The
// baseline's evaluation writes replies greedily, of 32 tokens at most. With --peers, PyTorch eager
// takes the baseline's training steps, with the same weights and examples; if its last loss differs by
// more than 1e-2, its row is not "valid" in JSON, and standard error says so. --only takes what
// has NAME in its name, such as packed; a NAME that is in none lists them.
#include "contest.hpp"
#include "ladder_table.hpp"
#include "own_process.hpp"
#include "transformers_job.hpp"

using namespace sinter;
using namespace sinter::detail;
namespace ladder = sinter::detail::bench::ladder;
namespace fs = std::filesystem;

namespace {

using bench::Settings;

/// The training's batches, without padding.
std::vector<HostBatch> batches_of(const ladder::Examples& examples) {
  AnySource source(
      ExampleBatches(*examples.set, examples.training, {.sequences = ladder::batch, .seed = 1}));
  source.end_at({.epochs = 1});
  std::vector<HostBatch> batches;
  for (HostBatch one; source.next(one);) batches.push_back(one);
  return batches;
}

/// The baseline's training by PyTorch: its first step warms up, and counts as one of the others.
ladder::PeerRun run_peer(const ladder::Examples& examples, const Settings& settings) {
  const fs::path folder = settings.folder / "peer";
  const std::vector<HostBatch> batches = batches_of(examples);
  fs::remove_all(folder);  // of the round before
  fs::create_directories(folder);
  const auto exported = bench::measure_alone([&] {
    TrainerCore(ladder::trainings.front().view(), {.seed = 1, .threads = 1})
        .export_to(folder / "weights");
    return true;
  });
  if (!exported) throw Error("the peer, as its weights could not be written.");
  bench::write_job(folder, {1, 0, 0}, batches,
                   {{"class", "MarianMTModel"},
                    {"lr", ladder::lr},
                    {"beta2", ladder::beta2},
                    {"weight_decay", 0},
                    {"max_norm", ladder::max_norm},
                    {"multiple", 8},
                    {"steps", batches.size() - 1},
                    {"threads", settings.threads}});
  bench::Contestant peer(
      ladder::peer_name,
      {settings.python, SINTER_BENCH_DIR "/peers/transformers_model.py", "train", folder.string()});
  peer.take_round(true);
  peer.finish();
  const double steps = double(batches.size());
  return {{peer.milliseconds[0] * steps / 1e3, peer.processor[0] * steps / (steps - 1) / 1e3},
          peer.losses[0]};
}

/// Takes a run, unless the table has it. Returns whether the table has it then.
bool add(ladder::Table& table, const std::string& name, int round, auto&& json_of_run) {
  if (table.has(name, round)) return true;
  std::fprintf(stderr, "round %d: %s\n", round, name.c_str());
  ladder::Json run;
  try {
    run = json_of_run();
  } catch (const Error& e) {
    std::fprintf(stderr, "left out: %s\n", e.what());
    return false;
  }
  table.add(name, round, run);
  return true;
}

/// Takes all runs that the table does not have yet. Returns whether it has them then.
bool take_runs(ladder::Table& table, const ladder::Examples& examples, const Settings& settings) {
  bool all = true;
  for (int round = 1; round <= settings.rounds; ++round) {
    for (const ladder::Training& training : ladder::trainings)
      all &= !settings.wants(training.name) || add(table, training.name, round, [&] {
        const auto run =
            bench::measure_alone([&] { return ladder::run(training, examples, settings.threads); });
        if (!run)
          throw Error(std::string(training.name) + "; its message is above, if it has one.");
        return json_of(training, run->found);
      });
    if (!settings.python.empty() && settings.wants(ladder::peer_name))
      all &= add(table, ladder::peer_name, round,
                 [&] { return json_of(run_peer(examples, settings)); });
  }
  return all;
}

std::vector<std::string> all_names() {
  std::vector<std::string> names{ladder::peer_name};
  for (const ladder::Training& training : ladder::trainings) names.push_back(training.name);
  return names;
}

int run_bench(int argc, char** argv) {
  std::string data;
  int examples = 4096, held_out = 0, history = 0;
  const Settings settings(
      "ParlAI's ladder of speed-ups, on dialogues.", argc, argv, 1, [&](bench::CommandLine& line) {
        line.add_option("--data", data, "Dialogues, as JSON lines")->required();
        line.add_count("--examples", examples, "That each rung trains on, a multiple of 64")
            ->check(CLI::Range(2 * ladder::batch, 1 << 20));
        line.add_count("--held-out", held_out, "Examples of each evaluation")
            ->default_str("a 16th, as in ConvAI2");
        line.add_option("--history", history, "Turns that are replied to at most; 0 for all")
            ->check(CLI::Range(0, 1 << 20));
      });
  if (examples % ladder::batch)
    throw Error("--examples is " + std::to_string(examples) +
                ". Give a multiple of 64, so that all batches of the baseline are full.");
  settings.require_one_of(all_names());
  if (held_out == 0) held_out = examples / 16;
  bench::print_machine(settings);
  std::printf("above half precision: %s\n",
              ladder::has_units_for_bf16() ? "bf16" : "fp32; the processor has no units for bf16");
  const ladder::Json about{{"program", hash_of_file(settings.self)},
                           {"processor", processor_text()},
                           {"data", hash_of_file(data)},
                           {"examples", examples},
                           {"held_out", held_out},
                           {"history", history},
                           {"threads", settings.threads}};
  ladder::Table table(settings.json, about);
  const ladder::Examples read =
      ladder::read_examples(data, {examples, held_out, history}, settings.folder);
  const bool all = take_runs(table, read, settings);
  const ladder::Json& rows = table.finish();
  if (rows.empty()) return 1;
  ladder::print(rows);
  const bool drawn = settings.svg.empty() || ladder::draw(settings.svg, rows);
  return all && drawn ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return bench::main_of(argc, argv, run_bench); }
