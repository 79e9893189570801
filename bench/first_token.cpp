// SPDX-License-Identifier: Apache-2.0
// How long does it take from the launch of a binary to the first token of a text? The verb generate of
// a GPT-2 124M reads its weights from a file that is in the page cache, and writes one token. Beside
// it stands what reading that file takes.
//   ./sinter bench first-token [--threads N] [--rounds N] [--folder DIR] [--json FILE] [--svg FILE]
// The binary is this one. Its time runs from the fork to the first byte of its JSON; both are elapsed
// times, medians in turns. Goal: at most 500 ms beyond reading.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

#include "recipes.hpp"
#include "report.hpp"
#include "sinter/sinter.hpp"

using namespace sinter;
using namespace sinter::detail;
namespace fs = std::filesystem;

namespace {

constexpr double goal = 500;  // milliseconds beyond reading

template <class... Policies>
struct writes : Recipe<Gpt2<{.layers = 12, .heads = 12, .width = 768}>, Bytes<{.context = 1024}>,
                       Batch<{.global = 1, .micro = 1}>, Policies...> {};

double milliseconds_of(auto&& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double, std::milli> passed = std::chrono::steady_clock::now() - begin;
  return passed.count();
}

/// Starts a command, and waits for the first byte that it prints and then for its end.
/// Returns the milliseconds to the byte.
double first_byte(const std::vector<std::string>& command) {
  int out[2];
  if (pipe2(out, O_CLOEXEC)) throw Error("The system gives no pipe.");
  pid_t child = -1;
  char byte = 0;
  ssize_t got = 0;
  const double passed = milliseconds_of([&] {
    child = fork();
    if (child == 0) {
      dup2(out[1], STDOUT_FILENO);
      std::vector<char*> words;
      for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
      words.push_back(nullptr);
      execv(words[0], words.data());
      std::perror(words[0]);
      _exit(127);
    }
    close(out[1]);
    got = child < 0 ? 0 : read(out[0], &byte, 1);
  });
  for (char rest[4096]; read(out[0], rest, sizeof rest) > 0;) {
  }
  close(out[0]);
  int status = 0;
  if (child > 0) waitpid(child, &status, 0);
  if (got != 1 || status != 0) throw Error("generate has failed; its messages are above.");
  return passed;
}

/// Reads a file into memory, a mebibyte at a time. Returns the milliseconds.
double read_through(const fs::path& path) {
  std::vector<char> piece(1 << 20);
  return milliseconds_of([&] {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    ssize_t got = 1;
    while (file >= 0 && got > 0) got = read(file, piece.data(), piece.size());
    if (file < 0 || got < 0) throw Error("Cannot read " + path.string() + ".");
    close(file);
  });
}

struct Settings {
  int threads = 1, rounds = 5;
  fs::path weights;  // a folder
};

/// The row of a recipe; `word` leads this binary to it.
bench::Row measure(const char* name, const char* word, const Settings& s) {
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  const std::vector<std::string> command{
      self,         word,       "generate", "--weights", s.weights.string(),        "--prompt",
      "namespace ", "--tokens", "1",        "--threads", std::to_string(s.threads), "--json",
      "--quiet"};
  std::vector<double> launched, reading;
  for (int round = -1; round < s.rounds; ++round) {
    const double read = read_through(s.weights / "model.safetensors");
    const double passed = first_byte(command);
    if (round < 0) continue;  // the file comes into the page cache
    reading.push_back(read);
    launched.push_back(passed);
  }
  const double beyond = bench::median(launched) - bench::median(reading);
  char text[96];
  std::snprintf(text, sizeof text, "%.0f ms beyond reading; goal: at most %.0f", beyond, goal);
  return {.row = std::string("GPT-2 124M, ") + name + ": launch to the first token",
          .ours = bench::median(launched),
          .peer = bench::median(reading),
          .peer_name = "reading the file",
          .unit = "ms",
          .more = text,
          .figures = {{"beyond_reading", beyond}}};
}

int run_bench(int argc, char** argv) {
  bench::CommandLine line("The time from a launch to the first token of a text.");
  Settings settings;
  std::string where = fs::temp_directory_path() / "sinter-bench-first-token";
  line.add_count("--rounds", settings.rounds, "Launches of each");
  line.add_option("--folder", where, "Where the weights go; it must not exist, and is removed");
  line.read(argc, argv);
  if (fs::exists(where)) throw Error(where + " exists. Name another --folder, or remove it.");
  settings.threads = line.threads;
  settings.weights = where;
  bench::make_trainer<writes<>>({.seed = 1, .threads = line.threads}).export_to(where);
  bench::Report report(line);
  report.print({measure("float32", "float32", settings), measure("Bf16", "bf16", settings)});
  fs::remove_all(where);
  return report.write();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view verb = argc > 1 ? argv[1] : "";
  if (verb == "float32") return run<writes<>>(argc - 1, argv + 1);
  if (verb == "bf16") return run<writes<Bf16>>(argc - 1, argv + 1);
  return bench::main_of(argc, argv, run_bench);
}
