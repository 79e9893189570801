// SPDX-License-Identifier: Apache-2.0
// The contestants of a bench take the same steps in turns. Each is a process, so that its memory
// and its launch are its own. A contestant takes a round for each line on its standard input, and
// prints "STEP milliseconds-per-step loss" after its first step and after each round. Before a STEP
// it may print "FACT name number".
#pragma once
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "settings.hpp"
#include "sinter/error.hpp"

namespace sinter::detail::bench {

class Contestant {
 public:
  std::string name;
  double seconds_to_first_step = 0;
  std::vector<double> milliseconds;  // per step, for each round
  std::vector<double> processor;     // milliseconds of all its threads, for each round
  std::vector<double> losses;        // of the last step of each round
  std::map<std::string, double> facts;
  double peak_mib = 0;  // known once the process has finished

  Contestant(std::string name_, const std::vector<std::string>& command) : name(std::move(name_)) {
    auto begin = std::chrono::steady_clock::now();
    start(command);
    read_step();
    milliseconds.clear();
    losses.clear();
    auto passed = std::chrono::steady_clock::now() - begin;
    seconds_to_first_step = std::chrono::duration<double>(passed).count();
  }
  ~Contestant() {
    if (child > 0) finish();
  }
  Contestant(const Contestant&) = delete;
  Contestant& operator=(const Contestant&) = delete;

  /// Takes a round. One that is not `counted` only warms up.
  void take_round(bool counted) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // the others' threads go to sleep
    const double before = processor_milliseconds();
    std::fputs("round\n", requests);
    std::fflush(requests);
    read_step();
    processor.push_back(processor_milliseconds() - before);
    if (counted) return;
    milliseconds.pop_back();
    processor.pop_back();
    losses.pop_back();
  }
  /// The largest difference of losses of the same rounds.
  double apart_from(const Contestant& other) const {
    double apart = 0;
    for (std::size_t r = 0; r < losses.size(); ++r)
      apart = std::max(apart, std::abs(losses[r] - other.losses[r]));
    return apart;
  }
  void finish() {
    std::fclose(requests);
    for (int c = 0; c != EOF;) c = std::fgetc(answers);
    std::fclose(answers);
    rusage usage{};
    wait4(child, nullptr, 0, &usage);
    peak_mib = double(usage.ru_maxrss) / 1024;
    child = -1;
  }

 private:
  void start(const std::vector<std::string>& command) {
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC)) throw Error("The system gives no pipe.");
    child = fork();
    if (child < 0) throw Error("The system gives no process for " + name + ".");
    if (child == 0) {
      dup2(in[0], STDIN_FILENO);
      dup2(out[1], STDOUT_FILENO);
      std::vector<char*> words;
      for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
      words.push_back(nullptr);
      execvp(words[0], words.data());
      std::perror(words[0]);
      _exit(127);
    }
    close(in[0]);
    close(out[1]);
    requests = fdopen(in[1], "w");
    answers = fdopen(out[0], "r");
  }
  double processor_milliseconds() const {
    clockid_t clock;
    timespec time{};
    if (clock_getcpuclockid(child, &clock) || clock_gettime(clock, &time))
      throw Error("The system does not tell the processor time of " + name + ".");
    return 1e3 * double(time.tv_sec) + 1e-6 * double(time.tv_nsec);
  }
  void read_step() {
    char line[4096], fact[64];
    double ms = 0, loss = 0, value = 0;
    while (std::fgets(line, sizeof line, answers)) {
      if (std::sscanf(line, "FACT %63s %lf", fact, &value) == 2) facts[fact] = value;
      if (std::sscanf(line, "STEP %lf %lf", &ms, &loss) == 2) {
        milliseconds.push_back(ms);
        losses.push_back(loss);
        return;
      }
    }
    throw Error(name + " ended before its time; its messages are above.");
  }

  pid_t child = -1;
  FILE *requests = nullptr, *answers = nullptr;
};

/// A contest, with its contestants in the order in which they take their turns.
class Turns {
  const Settings& settings;
  std::vector<std::unique_ptr<Contestant>> all;

 public:
  explicit Turns(const Settings& s) : settings(s) {}

  /// Adds the program of this command.
  const Contestant& add(const char* name, const std::vector<std::string>& command) {
    return *all.emplace_back(std::make_unique<Contestant>(name, command));
  }
  /// Adds this binary, with `words` on its command line between --contestant and the threads.
  const Contestant& add_own(const char* name, const std::vector<std::string>& words) {
    std::vector<std::string> command{settings.self, "--contestant"};
    command.insert(command.end(), words.begin(), words.end());
    command.push_back(std::to_string(settings.threads));
    return add(name, command);
  }
  /// Adds a file of bench/peers. Returns nullptr if it does not run here; standard error says why.
  const Contestant* add_python(const char* name, const char* file, const char* word,
                               const std::filesystem::path& folder) try {
    return &add(name, {settings.python, std::string(SINTER_BENCH_DIR "/peers/") + file, word,
                       folder.string()});
  } catch (const Error& e) {
    std::fprintf(stderr, "left out: %s\n", e.what());
    return nullptr;
  }
  /// Each contestant takes a round.
  void take_round(bool counted) {
    for (auto& c : all) c->take_round(counted);
  }
  void take() {
    for (int round = -1; round < settings.rounds; ++round) take_round(round >= 0);
    for (auto& c : all) c->finish();
  }
};

/// The result of a round.
struct Round {
  double milliseconds, loss;  // per step; of the last step
};

/// What ours and a peer took for the same rounds, in milliseconds per step.
struct Both {
  std::vector<double> ours, peer;
  double apart = 0;  // the largest difference of losses
};

/// Rounds of ours, in this process, in turns with those of a peer that has taken its first one.
/// round() takes one of ours and returns its Round; the first is not counted, as that of the peer.
Both take_in_turns(int rounds, Contestant& peer, auto&& round) {
  Both both;
  round();
  for (int r = 0; r < rounds; ++r) {
    const Round mine = round();
    peer.take_round(true);
    both.ours.push_back(mine.milliseconds);
    both.apart = std::max(both.apart, std::abs(mine.loss - peer.losses.back()));
  }
  peer.finish();
  both.peer = peer.milliseconds;
  return both;
}

/// Appends numbers to a file that peers in Python read.
inline void append(std::ofstream& file, const std::vector<std::int32_t>& numbers) {
  file.write(reinterpret_cast<const char*>(numbers.data()), long(4 * numbers.size()));
}

/// The rows of each sequence, which begin and end at `starts`.
inline std::vector<std::int32_t> lengths_of(const std::vector<std::int32_t>& starts) {
  std::vector<std::int32_t> lengths;
  for (std::size_t s = 1; s < starts.size(); ++s) lengths.push_back(starts[s] - starts[s - 1]);
  return lengths;
}

/// The other side, for a contestant of ours. take(n) takes n steps and returns their Round.
void serve(int steps, auto&& take) {
  auto tell = [](const Round& round) {
    std::printf("STEP %.6f %.17g\n", round.milliseconds, round.loss);
    std::fflush(stdout);
  };
  tell(take(1));
  char line[64];
  while (std::fgets(line, sizeof line, stdin)) tell(take(steps));
}
/// The same for a contestant of several ranks, each of which calls this in a process of its own. Ranks but
/// the first call take(1) until the first has gone.
void serve_on_ranks(int rank, int steps, auto&& take) {
  if (rank == 0) return serve(steps, take);
  try {
    for (;;) take(1);
  } catch (const Error&) {
    _exit(0);  // rank 0 has all it wants
  }
}
/// The same for a contestant whose whole step counts. step() takes one and returns its loss.
void serve_rounds(int steps, auto&& step) {
  serve(steps, [&](int n) {
    double loss = 0;
    auto begin = std::chrono::steady_clock::now();
    for (int s = 0; s < n; ++s) loss = step();
    auto passed = std::chrono::steady_clock::now() - begin;
    return Round{std::chrono::duration<double, std::milli>(passed).count() / n, loss};
  });
}

}  // namespace sinter::detail::bench
