// Contestants of a bench: processes of their own, so that the memory and the launch of each are its
// own, which take the same steps in turns. A contestant prints "STEP milliseconds-per-step loss"
// after its first step and after each round, and takes a round for each line on its standard input.
#pragma once
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "sinter/error.hpp"

namespace sinter::bench {

class Contestant {
 public:
  std::string name;
  double seconds_to_first_step = 0;
  std::vector<double> milliseconds;  // a step, by round
  std::vector<double> losses;        // of the last step of each round
  double peak_mib = 0;               // known when it has finished

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

  /// counted: a round that only warms up is not.
  void take_round(bool counted) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // the others' threads go to sleep
    std::fputs("round\n", requests);
    std::fflush(requests);
    read_step();
    if (counted) return;
    milliseconds.pop_back();
    losses.pop_back();
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
  void read_step() {
    char line[4096];
    double ms = 0, loss = 0;
    while (std::fgets(line, sizeof line, answers))
      if (std::sscanf(line, "STEP %lf %lf", &ms, &loss) == 2) {
        milliseconds.push_back(ms);
        losses.push_back(loss);
        return;
      }
    throw Error(name + " ended before its time; its messages are above.");
  }

  pid_t child = -1;
  FILE *requests = nullptr, *answers = nullptr;
};

/// The other side, for a contestant of ours: step() takes a step and returns its loss.
void serve_rounds(int steps, auto&& step) {
  auto tell = [](double ms, double loss) {
    std::printf("STEP %.6f %.17g\n", ms, loss);
    std::fflush(stdout);
  };
  tell(0, step());
  char line[64];
  while (std::fgets(line, sizeof line, stdin)) {
    double loss = 0;
    auto begin = std::chrono::steady_clock::now();
    for (int s = 0; s < steps; ++s) loss = step();
    auto passed = std::chrono::steady_clock::now() - begin;
    tell(std::chrono::duration<double, std::milli>(passed).count() / steps, loss);
  }
}

}  // namespace sinter::bench
