// SPDX-License-Identifier: Apache-2.0
// A run of bench/speedrun.cpp: a program trains until its loss is low enough, and is then ended.
#pragma once
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "sinter/error.hpp"
#include "sinter/files/io.hpp"

namespace sinter::detail::bench::speedrun {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

/// What all runs have in common.
struct Rules {
  double target;   ///< a loss of this or less ends a run
  double minutes;  ///< so does this time
  int threads;
  fs::path training, validation;  ///< the two parts of the text
};

struct Entry {
  std::string name;
  std::vector<std::string> command;  ///< takes the flags of flags_of()
  std::vector<std::string> more;     ///< further flags, such as --eval-every 100
};

/// The flags that each entry takes, those of a recipe's `train`.
inline std::vector<std::string> flags_of(const Rules& rules, int seed, const fs::path& folder) {
  return {"--data", rules.training.string(), "--validation", rules.validation.string(),
          "--seed", std::to_string(seed),    "--threads",    std::to_string(rules.threads),
          "--out",  folder.string()};
}

/// A loss on the whole validation part, and the seconds from the launch until it was known.
struct Evaluated {
  std::int64_t step;
  double loss, seconds;
};
struct Run {
  std::vector<Evaluated> evaluated;
  double seconds = 0, processor_seconds = 0;  ///< of all threads, from the launch to the end
  bool reached = false;                       ///< true if the last loss is the target or less
};

/// Reads the rows that a program appends to metrics.jsonl.
class Evaluations {
  const fs::path path;
  std::ifstream file;
  std::string row;

 public:
  explicit Evaluations(const fs::path& folder) : path(folder / "metrics.jsonl") {}

  /// Adds the evaluations of the rows that have come. Leaves the rest of a row for later.
  void add_to(std::vector<Evaluated>& all, double seconds) {
    if (!file.is_open()) file.open(path);
    if (!file.is_open()) return;
    file.clear();
    for (char c; file.get(c);) {
      if (c != '\n') {
        row += c;
        continue;
      }
      const Json json = Json::parse(row, nullptr, false);
      if (!json.is_object()) throw Error(path.string() + " has a row that is no JSON: " + row);
      row.clear();
      if (const auto loss = json.find("val_loss"); loss != json.end() && loss->is_number())
        all.push_back({json.value("step", std::int64_t(0)), loss->get<double>(), seconds});
    }
  }
};

/// A process whose output goes to a file. It ends with this object, and with this process.
class Launched {
  pid_t child;
  rusage usage{};
  int status = 0;

 public:
  Launched(const std::vector<std::string>& command, const fs::path& output) {
    std::vector<char*> words;
    for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    const std::string file = output.string();
    child = fork();
    if (child < 0) throw Error("The system gives no process for " + command[0] + ".");
    if (child > 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int written = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    dup2(written, STDOUT_FILENO);
    dup2(written, STDERR_FILENO);
    execvp(words[0], words.data());
    std::perror(words[0]);
    _exit(127);
  }
  ~Launched() { end(); }
  Launched(const Launched&) = delete;
  Launched& operator=(const Launched&) = delete;

  bool has_ended() {
    if (child > 0 && wait4(child, &status, WNOHANG, &usage) == child) child = 0;
    return child == 0;
  }
  void end() {
    if (has_ended()) return;
    kill(child, SIGKILL);
    wait4(child, &status, 0, &usage);
    child = 0;
  }
  /// Whether it has ended by itself and says that all went well.
  bool went_well() const { return WIFEXITED(status) && WEXITSTATUS(status) == 0; }
  /// requires  it has ended
  double processor_seconds() const {
    const auto seconds = [](const timeval& t) {
      return double(t.tv_sec) + 1e-6 * double(t.tv_usec);
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
  }
};

/// What a program has written, its last lines.
inline std::string last_words(const fs::path& output) {
  std::ifstream file(output);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  constexpr std::size_t most = 2000;
  return text.size() > most ? text.substr(text.size() - most) : text;
}

/// Runs an entry in a folder that is not there yet.
/// throws    Error if the program fails, or ends without an evaluation
inline Run run(const Entry& entry, const Rules& rules, int seed, const fs::path& folder) {
  std::vector<std::string> command = entry.command;
  for (const auto& some : {flags_of(rules, seed, folder), entry.more})
    command.insert(command.end(), some.begin(), some.end());
  const fs::path output = folder.string() + ".output";
  Evaluations evaluations(folder);
  Run run;
  const auto begin = std::chrono::steady_clock::now();
  Launched program(command, output);
  for (bool ended = false; !ended && !run.reached && run.seconds < 60 * rules.minutes;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ended = program.has_ended();  // asked first, so that no row is missed
    run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const std::size_t before = run.evaluated.size();
    evaluations.add_to(run.evaluated, run.seconds);
    for (std::size_t k = before; k < run.evaluated.size() && !run.reached; ++k) {
      run.reached = run.evaluated[k].loss <= rules.target;
      if (run.reached) run.evaluated.resize(k + 1);
    }
    if (ended && !run.reached && (!program.went_well() || run.evaluated.empty()))
      throw Error(entry.name + (program.went_well() ? " has evaluated nothing" : " has failed") +
                  ". Its last words:\n" + last_words(output));
  }
  program.end();
  run.processor_seconds = program.processor_seconds();
  return run;
}

}  // namespace sinter::detail::bench::speedrun
