// SPDX-License-Identifier: Apache-2.0
// Does a training step wait for its data? A step of fixed work takes its batches from the source
// itself and from a BackgroundReader, in turns, and the time that it waits is counted.
//
// The step keeps one thread or all cores busy, as kernels do, so that the reader has to share them.
// The sources are windows of a text in memory; the same, but each batch takes 60 % of a step longer
// (a slow disk or tokenizer); the same, but every 64th batch takes 3 steps longer.
//   ./sinter bench reader [--steps N]
//   ./sinter bench reader --tokenizer FOLDER [--text FILE] [--peers PYTHON|new] [--steps N]
// The second turns text into tokens when a batch is made, by GPT-2's tokenizer, with 0, 1 and 2
// workers; beside it PyTorch's DataLoader with as many, on the same text with Hugging Face's
// tokenizers. (Training itself reads token files, which are made once.)
#include "sinter/data/reader.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "settings.hpp"
#include "sinter/data/windows.hpp"
#include "text.hpp"
#include "tokenized_text.hpp"

using namespace sinter;
using namespace sinter::detail;
namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;
double seconds(Clock::duration d) { return std::chrono::duration<double>(d).count(); }

/// Does `count` dependent multiplications; the result keeps the compiler from dropping them.
std::uint64_t work(std::int64_t count, std::uint64_t x) {
  for (std::int64_t i = 0; i < count; ++i) x = x * 6364136223846793005u + 1442695040888963407u;
  return x;
}

/// A step, which is the same work on each of its threads; they sleep in between.
class Step {
  std::int64_t count;
  std::atomic<std::uint64_t> round{0}, done{0}, sink{0};
  std::atomic<bool> over{false};
  std::vector<std::thread> helpers;

 public:
  Step(std::int64_t count_, int threads) : count(count_) {
    for (int t = 1; t < threads; ++t) helpers.emplace_back([this] { help(); });
  }
  ~Step() {
    over = true;
    ++round, round.notify_all();
    for (auto& thread : helpers) thread.join();
  }

  void operator()() {
    const std::uint64_t expected = done + helpers.size();
    ++round, round.notify_all();
    sink ^= work(count, round);
    for (auto seen = done.load(); seen != expected; seen = done.load()) done.wait(seen);
  }

 private:
  void help() {
    for (std::uint64_t seen = 0;;) {
      round.wait(seen);
      seen = round;
      if (over) return;
      sink ^= work(count, seen);
      ++done, done.notify_all();
    }
  }
};

/// The amount of work that takes one second on a free core.
double work_per_second() {
  const std::int64_t count = 2'000'000;
  double best = 1e9;
  for (int i = 0; i < 20; ++i) {
    const auto begin = Clock::now();
    volatile std::uint64_t sink = work(count, std::uint64_t(i));
    (void)sink;
    best = std::min(best, seconds(Clock::now() - begin));
  }
  return double(count) / best;
}

struct Delay {
  const char* name;
  double each, sometimes;  // steps that each batch takes longer; that every 64th does
};

struct DelayedWindows {
  ShuffledWindows windows;
  double each, sometimes;  // seconds
  int batch_number = 0;

  bool next(HostBatch& batch) {
    const double delay = each + (++batch_number % 64 == 0 ? sometimes : 0);
    if (delay > 0) std::this_thread::sleep_for(std::chrono::duration<double>(delay));
    return windows.next(batch);
  }
  SamplerState state() const { return windows.state(); }
  void restore(const SamplerState& state) { windows.restore(state); }
};

struct Measured {
  double total = 0, waited = 0, longest = 0;
  int steps = 0;

  void add(double wait, double both) {
    total += both, waited += wait, ++steps;
    longest = std::max(longest, wait);
  }
};

/// Takes `steps` batches with next(); waited() says how long they were waited for.
void block(Step& step, int steps, auto next, auto waited, Measured& measured) {
  HostBatch batch;
  for (int s = -4; s < steps; ++s) {  // four to warm up
    const auto begin = Clock::now();
    const double before = waited();
    next(batch);
    const double wait = waited() - before;
    step();
    if (s >= 0) measured.add(wait, seconds(Clock::now() - begin));
  }
}

void row(TokenView text, WindowShape shape, double step_seconds, int threads, Delay delay,
         int steps, double rate) {
  const DelayedWindows source{ShuffledWindows(text, shape, 1), delay.each * step_seconds,
                              delay.sometimes * step_seconds};
  DelayedWindows direct = source;
  BackgroundReader reader(source);
  Step step(std::int64_t(step_seconds * rate), threads);
  Measured without, with;
  double spent = 0;
  for (int turn = 0; turn < 4; ++turn) {
    block(
        step, steps / 4,
        [&](HostBatch& batch) {
          const auto begin = Clock::now();
          direct.next(batch);
          spent += seconds(Clock::now() - begin);
        },
        [&] { return spent; }, without);
    block(
        step, steps / 4, [&](HostBatch& batch) { reader.next(batch); },
        [&] { return reader.waited_seconds(); }, with);
  }
  std::printf("| %s | %d × %d | %.0f ms | %d | %.2f %% | %.3f ms | %.3f %% | %.3f ms | %.3f ms |\n",
              delay.name, shape.sequences, shape.context, step_seconds * 1e3, threads,
              100 * without.waited / without.total, 1e3 * without.total / without.steps,
              100 * with.waited / with.total, 1e3 * with.total / with.steps, 1e3 * with.longest);
  std::fflush(stdout);
}

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "an unknown processor";
}

std::vector<unsigned char> random_text(std::size_t size) {
  std::vector<unsigned char> text(size);
  std::uint64_t x = 1;
  for (auto& byte : text) byte = static_cast<unsigned char>((x = work(1, x)) >> 56);
  return text;
}

/// Windows of a text in memory, and what delays them.
void table_of_delays(int steps) {
  const auto text = random_text(std::size_t{256} << 20);
  const int cores = int(std::max(1u, std::thread::hardware_concurrency()));
  const double rate = work_per_second();
  std::printf(
      "Time that a step waits for its batch. %s, %d cores; 256 MiB of text; %d steps a row\n\n"
      "| source | batch | step | its threads | waits, direct | step + wait | waits, reader | "
      "step + wait | longest wait |\n|---|---|---|---|---|---|---|---|---|\n",
      processor().c_str(), cores, steps);
  const Delay none{"in memory", 0, 0}, slow{"slow", 0.6, 0}, uneven{"uneven", 0, 3};
  std::vector<int> thread_counts{1};
  if (cores > 1) thread_counts.push_back(cores);
  for (double step : {0.001, 0.005})
    for (WindowShape shape : {WindowShape{128, 8}, WindowShape{1024, 64}})
      for (int threads : thread_counts) row(text, shape, step, threads, none, steps, rate);
  for (double step : {0.001, 0.005})
    for (const Delay& delay : {slow, uneven})
      row(text, {.context = 1024, .sequences = 64}, step, cores, delay, steps, rate);
}

/// A loader of text, for which tokens are made when a batch is.
struct Loader {
  int context, sequences, workers;
  double step_ms;
};

void print_loader(const std::string& name, const Loader& l, double step, double wait,
                  double longest, const std::string& first) {
  std::printf("| %d × %d, %.1f ms | %s | %d | %.2f ms | %.3f ms | %.2f %% | %.2f ms | %s |\n",
              l.sequences, l.context, l.step_ms, name.c_str(), l.workers, step, wait,
              100 * wait / step, longest, first.c_str());
  std::fflush(stdout);
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

void our_loader(const bench::TokenizedText& source, const Loader& l, int count, double rate) {
  BackgroundReader reader(source, {.depth = 4, .workers = l.workers});
  Step step(std::int64_t(l.step_ms / 1000 * rate), 1);
  std::vector<double> waits, steps;
  HostBatch batch;
  for (int s = -4; s < count; ++s) {  // four to warm up
    const auto begin = Clock::now();
    reader.next(batch);
    const auto ready = Clock::now();
    step();
    if (s < 0) continue;
    waits.push_back(1e3 * seconds(ready - begin));
    steps.push_back(1e3 * seconds(Clock::now() - begin));
  }
  print_loader("Sinter", l, median(steps), median(waits), *std::ranges::max_element(waits), "-");
}

void peer_loader(const bench::Settings& settings, const Loader& l, int count,
                 const std::string& tokenizer, bool ready = false) {
  std::ofstream(settings.folder / "job.json") << nlohmann::json{
      {"tokenizer", tokenizer}, {"context", l.context}, {"sequences", l.sequences},
      {"workers", l.workers},   {"step_ms", l.step_ms}, {"steps", count},
      {"ready", ready}};
  const std::string command = "'" + settings.python + "' '" SINTER_BENCH_DIR "/peers/reader.py' '" +
                              settings.folder.string() + "'";
  std::FILE* answers = popen(command.c_str(), "r");
  std::string text;
  for (int c; answers && (c = std::fgetc(answers)) != EOF;) text += char(c);
  if (!answers || pclose(answers) != 0) throw Error("bench/peers/reader.py failed; see above.");
  const nlohmann::json said = nlohmann::json::parse(text);
  char first[32];
  std::snprintf(first, sizeof first, "%.1f ms", said["first"].get<double>());
  print_loader(ready ? "PyTorch, tokens ready" : "PyTorch", l, said["step"], said["wait"],
               said["longest"], first);
}

/// Text that becomes tokens when a batch is made, with 0, 1 and 2 workers.
void table_of_loaders(const bench::Settings& settings, int count, const std::string& folder,
                      const std::string& file) {
  const Tokenizer tokenizer = load_tokenizer(folder);
  const std::string text = bench::read_text(file);
  const double rate = work_per_second();
  std::printf(
      "Text becomes tokens when its batch is made; a step is fixed work on one thread. %s;\n"
      "%.1f MB of text, %d steps a row\n\n"
      "| batch, step | loader | workers | step with wait | waits, median | of the step | longest | "
      "first of an epoch |\n|---|---|---|---|---|---|---|---|\n",
      processor().c_str(), double(text.size()) / 1e6, count);
  for (auto [context, sequences] : {std::pair{64, 8}, {128, 32}, {1024, 16}}) {
    const auto pieces = bench::pieces_of(text, std::size_t(context) * 5);
    fs::create_directories(settings.folder);
    std::ofstream lines(settings.folder / "pieces");
    for (std::string_view piece : pieces)
      lines << nlohmann::json(piece).dump(-1, ' ', true) << '\n';
    lines.close();
    for (int workers : {0, 1, 2}) {
      const Loader loader{context, sequences, workers, 6.5};
      our_loader({pieces, tokenizer, context, sequences}, loader, count, rate);
      if (!settings.python.empty())
        peer_loader(settings, loader, count, fs::absolute(folder).string());
    }
    if (!settings.python.empty())
      peer_loader(settings, {context, sequences, 1, 6.5}, count, fs::absolute(folder).string(),
                  true);
  }
}

int run_bench(int argc, char** argv) {
  std::string tokenizer, text;
  int steps = 400;
  const bench::Settings settings(
      "Does a training step wait for its data?", argc, argv, 1, [&](bench::CommandLine& line) {
        line.add_count("--steps", steps, "Per row and way of reading, at least 4");
        line.add_option("--tokenizer", tokenizer,
                        "Folder of encoder.json and vocab.bpe: text that is tokenized when it is "
                        "read");
        line.add_option("--text", text, "That text; else that of our headers");
      });
  if (steps < 4) throw Error("--steps must be at least 4.");
  if (tokenizer.empty())
    table_of_delays(steps);
  else
    table_of_loaders(settings, steps, tokenizer, text);
  std::printf("\n`%s`\n", settings.typed().c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return bench::main_of(argc, argv, run_bench); }
