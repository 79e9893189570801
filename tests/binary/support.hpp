// SPDX-License-Identifier: Apache-2.0
// Runs recipes' binaries as a user does, and looks at what they leave.
#pragma once
#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "support/folder.hpp"
#include "support/json_rows.hpp"

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// A temporary folder with paths as strings, of which command lines are made.
class Scratch {
  sinter::detail::testing::TemporaryFolder folder;

 public:
  std::string operator/(const std::string& name) const { return (folder / name).string(); }
  std::string path() const { return folder.path().string(); }
};

inline std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::string write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

/// A text from which a model can learn something; it is always the same.
inline std::string some_text(std::size_t bytes) {
  const char* words[]{"the ", "width ", "of ", "a ", "layer ", "is ", "its ", "type;\n", "and "};
  std::string text;
  for (unsigned state = 1; text.size() < bytes;) {
    state = state * 1664525 + 1013904223;
    text += words[(state >> 16) % 9];
  }
  return text.substr(0, bytes);
}

/// Makes the file of a classifier that of a body: names without "bert.", and no classifier.
inline void make_body(const std::string& file) {
  std::string bytes = content(file);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  const Json header = Json::parse(bytes.substr(8, length));
  Json body = Json::object();
  for (const auto& [name, tensor] : header.items()) {
    std::string now = name.starts_with("bert.") ? name.substr(5) : name;
    if (name.starts_with("classifier.")) now = "cls.seq_relationship." + name.substr(11);
    body[now] = tensor;
  }
  std::string text = body.dump();
  REQUIRE(text.size() <= length);
  text.resize(length, ' ');
  write(file, bytes.replace(8, length, text));
}

struct Ended {
  int code = -1;  // the exit code, or minus the signal that ended the process
  std::string out, err;

  bool says(const std::string& text) const { return err.find(text) != std::string::npos; }
  Json json() const {
    REQUIRE_MESSAGE(code == 0, err);
    REQUIRE(out.find('\n') == out.size() - 1);  // one line and nothing else
    return Json::parse(out);
  }
};

/// What a process may do.
struct Limits {
  rlim_t max_bytes = 0;  // the size at which a file meets a full disk; 0 for no limit
  bool rights = true;    // if false, root has no more rights to files than others
};

/// A process of a binary, whose output goes to files until it ends.
class Process {
  Scratch scratch;
  pid_t pid;

 public:
  Process(const std::string& binary, const std::vector<std::string>& words,
          const std::string& folder = "", const std::string& out = "", Limits limits = {},
          const std::map<std::string, std::string>& environment = {}) {
    std::string to = out.empty() ? scratch / "out" : out, errors = scratch / "err";
    pid = fork();
    REQUIRE(pid >= 0);
    if (pid != 0) return;
    std::vector<char*> arguments{const_cast<char*>(binary.c_str())};
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    dup2(open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666), 1);
    dup2(open(errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666), 2);
    if (!folder.empty() && chdir(folder.c_str()) != 0) _exit(126);
    if (!limits.rights && geteuid() == 0)
      for (int right : {CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH}) prctl(PR_CAPBSET_DROP, right);
    if (limits.max_bytes > 0) {
      rlimit limit{limits.max_bytes, limits.max_bytes};
      setrlimit(RLIMIT_FSIZE, &limit);
      ::signal(SIGXFSZ, SIG_IGN);
    }
    execv(binary.c_str(), arguments.data());
    _exit(127);
  }
  ~Process() {
    if (pid <= 0) return;  // else a test has failed before wait()
    signal(SIGKILL);
    waitpid(pid, nullptr, 0);
  }
  void signal(int number) { kill(pid, number); }
  /// Whether wait() would return at once.
  bool has_ended() const {
    siginfo_t info{};
    return waitid(P_PID, id_t(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
  }
  Ended wait() {
    int status = 0;
    waitpid(pid, &status, 0);
    pid = 0;
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    return {code, content(scratch / "out"), content(scratch / "err")};
  }
};

inline Ended run(const std::vector<std::string>& words, const std::string& binary = SINTER_SMALL,
                 const std::string& folder = "") {
  return Process(binary, words, folder).wait();
}

/// Checks that a process ended with this code and said why, and printed nothing else.
inline void check_refused(const Ended& ended, int code, const std::string& message) {
  CAPTURE(ended.err);
  CHECK(ended.code == code);
  CHECK(ended.out.empty());
  CHECK(ended.says(message));
}

/// The writing end of a pipe whose reader is gone, where a write is SIGPIPE unless it is ignored.
class ReaderGone {
  int end = -1;

 public:
  ReaderGone() {
    int ends[2]{};
    REQUIRE(pipe(ends) == 0);
    close(ends[0]);
    end = ends[1];
    ::signal(SIGPIPE, SIG_DFL);  // for processes to come
  }
  ~ReaderGone() { close(end); }
  ReaderGone(const ReaderGone&) = delete;
  ReaderGone& operator=(const ReaderGone&) = delete;
  /// What a shell writes to.
  std::string word() const { return "&" + std::to_string(end); }
};

template <class Condition>
bool wait_for(Condition condition) {
  for (int k = 0; k < 3000; ++k) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

inline std::vector<Json> metrics(const std::string& run_folder) {
  return sinter::detail::testing::json_rows(run_folder + "/metrics.jsonl");
}

/// The step of the newest checkpoint that is complete, whether `last` leads to it yet or not.
inline int newest_step(const std::string& run_folder) {
  std::string newest;
  for (const fs::directory_entry& entry : fs::directory_iterator(run_folder)) {
    std::string name = entry.path().filename();
    if (name.starts_with("step-") && !entry.path().has_extension()) newest = std::max(newest, name);
  }
  REQUIRE(!newest.empty());
  return std::stoi(newest.substr(5));
}

/// Fields of a row of metrics.jsonl that two runs of the same steps do not share.
constexpr const char* measured_fields[] = {"step_ms",      "step_cpu_ms",  "eval_ms",
                                           "data_wait_ms", "tokens_per_s", "examples_per_s"};

/// The metrics that must be the same in two runs of the same steps: all but the times.
inline std::vector<std::string> lasting(const std::string& run_folder) {
  std::vector<std::string> rows;
  for (Json row : metrics(run_folder)) {
    for (const char* time : measured_fields) row.erase(time);
    rows.push_back(row.dump());
  }
  return rows;
}

using Words = std::vector<std::string>;

inline Words operator+(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

inline Ended fine(const Words& words, const std::string& binary = SINTER_SMALL) {
  Ended ended = run(words, binary);
  REQUIRE_MESSAGE(ended.code == 0, ended.err);
  return ended;
}

/// Checks that two runs have come to the same end, bit for bit.
inline void require_same_end(const std::string& a, const std::string& b) {
  CHECK(fs::read_symlink(a + "/last") == fs::read_symlink(b + "/last"));
  for (const char* file : {"model.safetensors", "state.safetensors", "config.json"})
    CHECK_MESSAGE(content(a + "/last/" + file) == content(b + "/last/" + file), file);
  const auto hashes = [](const std::string& run) {
    return Json::parse(content(run + "/last/manifest.json"))["files"].dump();
  };
  CHECK(hashes(a) == hashes(b));
  auto infos = [](const std::string& run) {
    Json info = Json::parse(content(run + "/last/manifest.json"))["info"];
    for (const char* time : measured_fields) info["loop"]["last"].erase(time);
    return info.dump();
  };
  CHECK(infos(a) == infos(b));
  CHECK(lasting(a) == lasting(b));
}
