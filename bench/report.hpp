// What every bench that compares reports: rows of ours against a peer, as Markdown and as JSON.
#pragma once
#include <sys/utsname.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "cli/device.hpp"

namespace sinter::bench {

/// ours and peer in `unit`; ratio: peer / ours, above 1 where ours is better (less time, less
/// memory). valid: the losses agree, so that both did the same work.
struct Row {
  std::string row;
  double ours, peer;
  std::string peer_name, unit;
  double loss_difference = 0;
  bool valid = true;
  std::string range{};  // least and most of both, as text
  double ratio() const { return peer / ours; }
};

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  std::size_t n = values.size();
  return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/// The first line that a command prints.
inline std::string first_line(const char* command) {
  std::string text;
  if (FILE* pipe = popen(command, "r")) {
    for (int c = std::fgetc(pipe); c != EOF && c != '\n'; c = std::fgetc(pipe)) text += char(c);
    pclose(pipe);
  }
  return text;
}

/// Prints machine, command and table; with `--json FILE` writes the same there.
class Report {
  std::string machine, command, json_file;
  int threads;

 public:
  Report(int argc, char** argv, int threads_) : threads(threads_) {
    utsname name{};
    uname(&name);
    machine = std::string(name.sysname) + " " + name.machine + ", " +
              std::to_string(std::thread::hardware_concurrency()) + " processors";
    for (int i = 0; i < argc; ++i) {
      std::string word = argv[i];
      command += (i ? " " : "") + (i ? word : word.substr(word.rfind('/') + 1));
      if (word == "--json" && i + 1 < argc) json_file = argv[i + 1];
    }
    std::printf("machine: %s, %s\nthreads: %d\ncommand: %s\n\n", machine.c_str(),
                cli::processor_text().c_str(), threads, command.c_str());
  }

  void write(const std::vector<Row>& rows) const {
    std::printf(
        "| work | ours | %s | unit | peer / ours | loss difference | min-max ours, peer |\n",
        rows.empty() ? "peer" : rows[0].peer_name.c_str());
    std::printf("|---|---|---|---|---|---|---|\n");
    for (const Row& r : rows)
      std::printf("| %s | %.3f | %.3f | %s | %s | %.1e | %s |\n", r.row.c_str(), r.ours, r.peer,
                  r.unit.c_str(), ratio_text(r).c_str(), r.loss_difference, r.range.c_str());
    if (!json_file.empty()) write_json(rows);
  }

 private:
  static std::string ratio_text(const Row& r) {
    char text[32];
    std::snprintf(text, sizeof text, "**%.2f**", r.ratio());
    return r.valid ? text : "void: losses differ";
  }
  void write_json(const std::vector<Row>& rows) const {
    nlohmann::ordered_json out{
        {"machine", machine}, {"cpu", cli::processor_text()},
        {"threads", threads}, {"commit", first_line("git rev-parse --short HEAD 2>/dev/null")},
        {"command", command}, {"rows", nlohmann::ordered_json::array()}};
    for (const Row& r : rows)
      out["rows"].push_back({{"row", r.row},
                             {"ours", r.ours},
                             {"peer", r.peer},
                             {"peer_name", r.peer_name},
                             {"unit", r.unit},
                             {"ratio", r.ratio()},
                             {"loss_difference", r.loss_difference},
                             {"valid", r.valid}});
    std::ofstream file(json_file);
    file << out.dump(2) << '\n';
    if (!file.flush()) std::fprintf(stderr, "error: cannot write %s\n", json_file.c_str());
  }
};

}  // namespace sinter::bench
