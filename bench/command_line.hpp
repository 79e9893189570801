// SPDX-License-Identifier: Apache-2.0
// The command line of every bench that compares.
#pragma once
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <thread>

namespace sinter::detail::bench {

/// Reads --threads, --json and --svg, and the flags that a bench adds.
///   CommandLine line("What it measures.");
///   line.add_count("--steps", steps, "of training");
///   line.read(argc, argv);
class CommandLine : public CLI::App {
  std::string words;

 public:
  int threads;
  std::string json, svg;

  explicit CommandLine(const std::string& question,
                       int usual_threads = int(std::thread::hardware_concurrency()))
      : CLI::App(question), threads(usual_threads) {
    option_defaults()->always_capture_default();
    add_count("--threads", threads, "Of ours and of peers");
    add_option("--json", json, "File for the table as JSON");
    add_option("--svg", svg, "File for the table as a picture");
  }

  CLI::Option* add_count(const std::string& flag, int& variable, const std::string& what) {
    return add_option(flag, variable, what)->check(CLI::Range(1, 1 << 20));
  }
  /// Ends the process after --help with status 0, and after a mistake with one line and status 2.
  void read(int argc, char** argv) {
    for (int i = 0; i < argc; ++i) {
      std::string word = argv[i];
      words += i ? " " + word : word.substr(word.rfind('/') + 1);
    }
    try {
      parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
      std::fputs(help().c_str(), stdout);
      std::exit(0);
    } catch (const CLI::ParseError& e) {
      std::fprintf(stderr, "error: %s. --help lists the flags.\n", e.what());
      std::exit(2);
    }
  }
  /// The command line as it was typed, without the folder of the program.
  const std::string& typed() const { return words; }
};

/// The main function of a bench: says what it has thrown.
inline int main_of(int argc, char** argv, int (*run_bench)(int, char**)) try {
  return run_bench(argc, argv);
} catch (const std::exception& e) {
  std::fprintf(stderr, "error: %s\n", e.what());
  return 1;
}

}  // namespace sinter::detail::bench
