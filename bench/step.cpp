// A training step of ours against the trainers that people use: the same weights, the same tokens,
// in turns, each in a process of its own. A row whose losses differ by more than 1e-4 is void.
//   ./sinter bench step [--threads N] [--rounds N] [--peers PYTHON|new] [--only TEXT]
//                       [--json FILE] [--svg FILE]
// Peers: LibTorch's autograd with the fused optimizer in C++; with --peers PyTorch eager with fused
// AdamW, torch.compile, Hugging Face Trainer and Lightning, in a Python that has them, or in a new
// environment of their pinned versions (bench/peers/requirements.txt, 5 GB).
#include <fcntl.h>

#include "baseline/torch_gpt2.hpp"
#include "contest.hpp"
#include "report.hpp"
#include "sinter/kernels/matmul.hpp"
#include "sinter/sinter.hpp"

using namespace sinter;
namespace fs = std::filesystem;

namespace {

constexpr double lr = 1e-3, weight_decay = 0.1, beta2 = 0.999, max_norm = 1.0;

template <int Context, int Vocabulary>
struct Tokens {
  using slot = slot::data;
  static constexpr int context = Context, vocabulary = Vocabulary;
};
template <Gpt2Options Shape>
struct gpt : Recipe<Gpt2<Shape>, Tokens<Shape.positions, Shape.vocabulary>,
                    AdamW<{.lr = lr, .weight_decay = weight_decay}>, ClipNorm<{.max = max_norm}>,
                    Batch<{.global = 8, .micro = 8}>> {};
constexpr int sequences = 8;

/// A row of the table: a shape, and how many steps a round has.
struct Contest {
  std::string name;
  Gpt2Options shape;
  int steps;
  double flops_per_token;
  TrainerCore (*trainer)(TrainerSettings);
};
template <Gpt2Options Shape>
Contest work(std::string name, int steps) {
  return {name, Shape, steps, double(Plan<gpt<Shape>>::flops_per_token),
          [](TrainerSettings s) { return TrainerCore(Trainer<gpt<Shape>>::options(), s); }};
}
const std::vector<Contest>& works() {
  static const std::vector<Contest> all{
      work<{.layers = 4, .heads = 4, .width = 64, .vocabulary = 256, .positions = 64}>(
          "GPT 64 wide, 4 heads, 4 layers, 8×64, bytes", 20),
      work<{.layers = 6, .heads = 8, .width = 256, .vocabulary = 256, .positions = 128}>(
          "GPT 256 wide, 8 heads, 6 layers, 8×128, bytes", 3),
      work<{.layers = 6, .heads = 8, .width = 512, .vocabulary = 4096, .positions = 128}>(
          "GPT 512 wide, 8 heads, 6 layers, 8×128, vocabulary 4096", 1)};
  return all;
}

/// Tokens in which there is something to learn.
HostBatch batch_of(const Gpt2Options& shape, std::uint64_t step) {
  HostBatch batch;
  batch.ids.resize(2);
  for (int s = 0; s < sequences; ++s) {
    std::uint64_t state = kernel::mix(step * 1000 + std::uint64_t(s));
    int token = int(state % std::uint64_t(shape.vocabulary));
    for (int t = 0; t < shape.positions; ++t) {
      batch.ids[0].push_back(token);
      state = kernel::mix(state);
      token = (token * 5 + 7 + int(state % 3)) % shape.vocabulary;
      batch.ids[1].push_back(token);
    }
    batch.starts.push_back((s + 1) * shape.positions);
  }
  return batch;
}

// ---- contestants in C++: bench_step --contestant NAME NUMBER THREADS

void contest_with_ours(const Contest& w, int threads) {
  TrainerCore trainer = w.trainer({.seed = 1, .threads = threads});
  std::uint64_t number = 0;
  bench::serve_rounds(w.steps, [&] {
    return std::get<Applied>(trainer.step(batch_of(w.shape, number++))).loss.mean();
  });
}
void contest_with_libtorch(const Contest& w, int threads) {
  at::set_num_threads(threads);
  bench::TorchGpt2 peer(w.shape, w.trainer({.seed = 1, .threads = 1}), weight_decay);
  std::uint64_t number = 0;
  bench::serve_rounds(w.steps, [&] {
    HostBatch batch = batch_of(w.shape, number++);
    auto tensor = [&](const std::vector<std::int32_t>& ids) {
      return torch::tensor(ids, torch::kInt64).view({-1, w.shape.positions});
    };
    return peer.step(tensor(batch.ids[0]), tensor(batch.ids[1]), lr, beta2, max_norm);
  });
}

// ---- the bench

struct Settings {
  std::string self, python, folder, only;
  int threads = int(std::thread::hardware_concurrency()), rounds = 9;
};

/// What peers in Python read.
void write_job(const Contest& w, const Settings& settings, const fs::path& folder) {
  w.trainer({.seed = 1, .threads = 1}).export_to(folder / "weights");
  nlohmann::json job{
      {"layers", w.shape.layers}, {"heads", w.shape.heads},       {"width", w.shape.width},
      {"sequences", sequences},   {"context", w.shape.positions}, {"lr", lr},
      {"beta2", beta2},           {"weight_decay", weight_decay}, {"max_norm", max_norm},
      {"steps", w.steps},         {"threads", settings.threads}};
  std::ofstream(folder / "job.json") << job;
  std::ofstream ids(folder / "ids.bin", std::ios::binary),
      targets(folder / "targets.bin", std::ios::binary);
  for (int b = 0; b < 1 + (settings.rounds + 1) * w.steps; ++b) {
    HostBatch batch = batch_of(w.shape, std::uint64_t(b));
    auto put = [](std::ofstream& file, const std::vector<std::int32_t>& numbers) {
      file.write(reinterpret_cast<const char*>(numbers.data()), long(4 * numbers.size()));
    };
    put(ids, batch.ids[0]);
    put(targets, batch.ids[1]);
  }
}

std::string range(const std::vector<double>& a, const std::vector<double>& b) {
  auto [a0, a1] = std::minmax_element(a.begin(), a.end());
  auto [b0, b1] = std::minmax_element(b.begin(), b.end());
  char text[96];
  std::snprintf(text, sizeof text, "%.2f-%.2f, %.2f-%.2f", *a0, *a1, *b0, *b1);
  return text;
}

void measure(int number, const Settings& settings, double matmul_rate,
             std::vector<bench::Row>& rows) {
  const Contest& w = works()[std::size_t(number)];
  const fs::path folder = fs::path(settings.folder) / std::to_string(number);
  fs::create_directories(folder);
  std::vector<std::unique_ptr<bench::Contestant>> all;
  auto add_own = [&](const char* name, const char* word) {
    all.push_back(std::make_unique<bench::Contestant>(
        name, std::vector<std::string>{settings.self, "--contestant", word, std::to_string(number),
                                       std::to_string(settings.threads)}));
  };
  add_own("Sinter", "ours");
  add_own("LibTorch autograd, fused AdamW, C++", "libtorch");
  if (!settings.python.empty()) {
    write_job(w, settings, folder);
    for (auto [name, word] : {std::pair{"PyTorch eager, fused AdamW", "eager"},
                              {"torch.compile", "compile"},
                              {"Hugging Face Trainer", "hugging-face"},
                              {"Lightning", "lightning"}})
      all.push_back(std::make_unique<bench::Contestant>(
          name, std::vector<std::string>{settings.python, SINTER_BENCH_DIR "/peers/step.py", word,
                                         folder.string()}));
  }
  for (int round = -1; round < settings.rounds; ++round)
    for (auto& c : all) c->take_round(round >= 0);
  for (auto& c : all) c->finish();

  const bench::Contestant& ours = *all[0];
  const double tokens = sequences * w.shape.positions;
  for (std::size_t k = 1; k < all.size(); ++k) {
    const bench::Contestant& peer = *all[k];
    double difference = 0;
    for (std::size_t r = 0; r < ours.losses.size(); ++r)
      difference = std::max(difference, std::abs(ours.losses[r] - peer.losses[r]));
    auto row = [&](const char* what, double a, double b, const char* unit, std::string note) {
      rows.push_back(
          {w.name + what, a, b, peer.name, unit, difference, difference < 1e-4, std::move(note)});
    };
    const double mine = bench::median(ours.milliseconds), theirs = bench::median(peer.milliseconds);
    row("", mine, theirs, "ms/step", range(ours.milliseconds, peer.milliseconds));
    auto speed = [&](double ms) {
      char text[64];
      std::snprintf(text, sizeof text, "%.0f tokens/s = %.0f %% of matmul", tokens / ms * 1e3,
                    100 * w.flops_per_token * tokens / ms * 1e3 / matmul_rate);
      return std::string(text);
    };
    rows.back().range += "; " + speed(mine) + ", " + speed(theirs);
    row(": peak memory", ours.peak_mib, peer.peak_mib, "MiB", "of the process");
    row(": launch to first step", ours.seconds_to_first_step, peer.seconds_to_first_step, "s", "");
  }
}

std::string option(int argc, char** argv, std::string_view flag, const std::string& otherwise) {
  for (int i = 1; i + 1 < argc; ++i)
    if (argv[i] == flag) return argv[i + 1];
  return otherwise;
}

/// The interpreter that --peers means.
std::string find_python(const std::string& peers) {
  if (peers != "new") return peers;
  const char* home = std::getenv("HOME");
  const char* cache = std::getenv("SINTER_CACHE");
  fs::path folder =
      (cache ? fs::path(cache) : fs::path(home ? home : ".") / ".cache/sinter") / "peers";
  std::string python = (folder / "bin/python3").string();
  std::string command = "python3 -m venv '" + folder.string() + "' && '" + python +
                        "' -m pip install --quiet -r '" SINTER_BENCH_DIR
                        "/peers/requirements.txt' >&2";
  if (std::system(command.c_str()) != 0)
    throw Error("The environment for --peers new could not be made in " + folder.string() +
                "; pip's messages are above. Or name a Python that has the packages of "
                "bench/peers/requirements.txt.");
  return python;
}

int run_bench(int argc, char** argv) {
  Settings settings;
  settings.self = fs::read_symlink("/proc/self/exe").string();
  settings.threads =
      std::max(1, std::stoi(option(argc, argv, "--threads", std::to_string(settings.threads))));
  settings.rounds = std::max(1, std::stoi(option(argc, argv, "--rounds", "9")));
  settings.only = option(argc, argv, "--only", "");
  settings.python = find_python(option(argc, argv, "--peers", ""));
  settings.folder =
      (fs::temp_directory_path() / ("sinter-bench-" + std::to_string(getpid()))).string();
  bench::Report report(argc, argv, settings.threads);
  kernel::Stream stream(settings.threads);
  const double rate = kernel::measured_matmul_rate(stream, 0.5);
  std::printf("matmul: %.0f GFLOP/s in fp32\n\n", rate / 1e9);
  std::fflush(stdout);
  std::vector<bench::Row> rows;
  for (int number = 0; number < int(works().size()); ++number)
    if (works()[std::size_t(number)].name.find(settings.only) != std::string::npos)
      measure(number, settings, rate, rows);
  fs::remove_all(settings.folder);
  return report.write(rows);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 5 || std::string_view(argv[1]) != "--contestant") return run_bench(argc, argv);
    const Contest& w = works().at(std::stoul(argv[3]));
    const bool ours = std::string_view(argv[2]) == "ours";
    (ours ? contest_with_ours : contest_with_libtorch)(w, std::stoi(argv[4]));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
    return 1;
  }
}
