// SPDX-License-Identifier: Apache-2.0
// A training step on a card beside PyTorch's, for the benches of this folder. bench/gpu/run builds and
// runs them. They compile for the CPU, too, where --tiny tries the bench itself.
#pragma once
#include <nlohmann/json.hpp>

#include "../contest.hpp"
#include "../recipes.hpp"

namespace sinter::detail {
#if SINTER_CUDA
/// On a card, that is what computes; the source of the processor's name is not linked.
inline std::string processor_text() { return device_text(0); }
#endif
}  // namespace sinter::detail

namespace sinter::detail::bench {

constexpr double weight_decay = 0.1, beta2 = 0.95, max_norm = 1.0;

/// All in bf16, with master weights in fp32.
template <class Model, int Context, int Vocabulary, int Sequences, double lr>
struct trained
    : Recipe<Model, Bf16, Tokens<Context, Vocabulary>,
             AdamW<{.lr = lr, .beta2 = beta2, .weight_decay = weight_decay}>,
             ClipNorm<{.max = max_norm}>, Batch<{.global = Sequences, .micro = Sequences}>> {};

/// A word of peers/gpu_step.py; ours is to be at least `bar` times as fast, unless that is 0.
struct Peer {
  const char *name, *word;
  double bar = 0;
};
constexpr Peer eager{"PyTorch eager, autocast", "eager"};
constexpr Peer compiled{"torch.compile, autocast", "compile"};

/// A model, and the shape of its batches.
struct Race {
  std::string name, model;  ///< of rows, and for the peer: gpt2, or a class of transformers
  int layers, heads, width, context, vocabulary, sequences;
  int steps;   ///< of a round
  int labels;  ///< classes of a sequence; 0 predicts each next token
  double lr;   ///< as `trained` has it
  bool tiny;
  std::vector<Peer> peers;
  TrainerCore (*trainer)(TrainerSettings);
};

/// Random tokens; the class of a sequence is that of its first token.
inline HostBatch batch_of(const Race& race, int number) {
  return batch_of(std::uint64_t(number), race.sequences, race.context, race.vocabulary,
                  race.labels);
}

/// Writes what peers/gpu_step.py reads, for its first step and as many rounds.
inline void write_job(const Race& race, int rounds, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  race.trainer({.seed = 1, .threads = 1}).export_to(folder / "weights");
  std::ofstream(folder / "job.json") << nlohmann::json{{"model", race.model},
                                                       {"device", race.tiny ? "cpu" : "cuda"},
                                                       {"layers", race.layers},
                                                       {"heads", race.heads},
                                                       {"width", race.width},
                                                       {"sequences", race.sequences},
                                                       {"context", race.context},
                                                       {"labels", race.labels},
                                                       {"packed", false},
                                                       {"lr", race.lr},
                                                       {"beta2", beta2},
                                                       {"max_norm", max_norm},
                                                       {"weight_decay", weight_decay},
                                                       {"steps", race.steps},
                                                       {"threads", 1}};
  std::ofstream ids(folder / "ids.bin", std::ios::binary),
      targets(folder / "targets.bin", std::ios::binary);
  for (int b = 0; b < 1 + rounds * race.steps; ++b) {
    const HostBatch batch = batch_of(race, b);
    append(ids, batch.ids[0]);
    append(targets, batch.ids[1]);
  }
}

/// MiB of the card's memory that all processes have taken; 0 where nobody tells.
inline double card_mib() {
  return std::atof(first_line("nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits "
                              "2>/dev/null")
                       .c_str());
}

/// Ours and one peer, in turns.
struct Pair {
  const Contestant *ours, *peer;
  double our_mib, peer_mib;  // of the card, after the first step
};
inline Pair take_turns(Turns& turns, const std::string& number, const Peer& of,
                       const std::filesystem::path& folder) {
  const double before = card_mib();
  const Contestant& ours = turns.add_own("Sinter", {number});
  const double between = card_mib();
  const Contestant* peer = turns.add_python(of.name, "gpu_step.py", of.word, folder);
  const double after = card_mib();
  turns.take();
  return {&ours, peer, between - before, after - between};
}

inline std::string bar_text(double bar, double ratio) {
  if (bar == 0) return "";
  char text[64];
  std::snprintf(text, sizeof text, "; wanted %.1f: %s", bar, ratio >= bar ? "reached" : "missed");
  return text;
}

/// bf16 errs by up to 2^-8 of each number, and losses drift apart by some thousandths.
inline double tolerance(const Contestant& c) { return 1e-2 * std::ranges::max(c.losses); }

/// `first` is the launch that had to search for the algorithms of products.
inline std::vector<Row> rows_of(const Race& race, const Pair& pair, double bar, double first) {
  const Contestant &ours = *pair.ours, &peer = *pair.peer;
  const double apart = ours.apart_from(peer);
  std::vector<Row> rows;
  const auto row = [&](const char* what, double a, double b, const char* unit, std::string note) {
    rows.push_back(
        {race.name + what, a, b, peer.name, unit, apart, apart < tolerance(peer), std::move(note)});
  };
  const double mine = median(ours.milliseconds), theirs = median(peer.milliseconds);
  const double tokens = double(race.sequences) * race.context * 1e3;
  char speed[64];
  std::snprintf(speed, sizeof speed, "; %.0f, %.0f tokens/s", tokens / mine, tokens / theirs);
  row("", mine, theirs, "ms/step",
      least_to_most(ours.milliseconds, peer.milliseconds) + speed + bar_text(bar, theirs / mine));
  if (pair.our_mib > 0)
    row(": the card's memory", pair.our_mib, pair.peer_mib, "MiB", "after the first step");
  char launched[96];
  std::snprintf(launched, sizeof launched,
                "ours wanted within 3 s: %s; the first launch took %.1f s",
                ours.seconds_to_first_step <= 3 ? "reached" : "missed", first);
  row(": launch to first step", ours.seconds_to_first_step, peer.seconds_to_first_step, "s",
      launched);
  return rows;
}

/// The rows of a race against one peer. One that fails, such as by the card's memory, is left out, and
/// standard error says so.
inline std::vector<Row> against(const Peer& peer, const Race& race, const std::string& number,
                                const std::filesystem::path& folder, const Settings& settings,
                                double first) try {
  Turns turns(settings);
  const Pair pair = take_turns(turns, number, peer, folder);
  return pair.peer ? rows_of(race, pair, peer.bar, first) : std::vector<Row>{};
} catch (const Error& e) {
  std::fprintf(stderr, "left out: %s, %s: %s\n", race.name.c_str(), peer.name, e.what());
  return {};
}

/// Takes peers one after the other, so that a card need not hold all. Returns whether all came.
inline bool measure(const std::vector<Race>& races, std::size_t at, const Settings& settings,
                    Report& report) {
  const Race& race = races[at];
  const std::string number = std::to_string(at);
  const std::filesystem::path folder = settings.folder / number;
  setenv("TORCHINDUCTOR_CACHE_DIR", (folder / "inductor").c_str(), 1);
  write_job(race, settings.rounds + 1, folder);
  const double first =
      Contestant("Sinter", {settings.self, "--contestant", number, "1"}).seconds_to_first_step;
  bool all = true;
  for (const Peer& peer : race.peers) {
    const std::vector<Row> rows = against(peer, race, number, folder, settings, first);
    if (!rows.empty()) report.print(rows);
    all = all && !rows.empty();
  }
  return all;
}

/// Runs the contestant that the command line names: --contestant NUMBER THREADS.
inline void contest(const Race& race) {
  TrainerCore trainer = race.trainer({.seed = 1, .threads = 1});
  int number = 0;
  serve_rounds(race.steps, [&] {
    return std::get<Applied>(trainer.step(batch_of(race, number++))).loss.mean();
  });
}

/// main() of a bench. Those that are tiny run only if they are asked for.
inline int main_of_gpu(const char* question, const std::vector<Race>& races, int argc,
                       char** argv) {
  try {
    if (argc == 4 && std::string_view(argv[1]) == "--contestant")
      return contest(races.at(std::stoul(argv[2]))), 0;
    bool tiny = false;
    const Settings settings(question, argc, argv, 5, [&](CommandLine& line) {
      line.add_flag("--tiny", tiny, "A tiny model on the CPU, to try the bench itself");
    });
    if (settings.python.empty()) throw Error("Name a Python that has PyTorch: --peers PYTHON.");
    if (DefaultDevice::on_host && !tiny)
      throw Error("This bench is built for the CPU; with -DSINTER_CUDA=ON it is for a card.");
    DefaultDevice::open(DefaultDevice::options);
    Report report(settings);
    bool all = true;
    for (std::size_t k = 0; k < races.size(); ++k)
      if (races[k].tiny == tiny && settings.wants(races[k].name))
        all = measure(races, k, settings, report) && all;
    return std::max(report.write(), all ? 0 : 1);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
    return 1;
  }
}

}  // namespace sinter::detail::bench
