// SPDX-License-Identifier: Apache-2.0
// The report of every bench that compares: rows of ours against a peer, as Markdown and as JSON.
#pragma once
#include <sys/utsname.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "bars.hpp"
#include "command_line.hpp"
#include "hardware/cpu/processor.hpp"

namespace sinter::detail::bench {

struct Row {
  std::string row;
  double ours, peer;  // in `unit`
  std::string peer_name, unit;
  double loss_difference = 0;
  bool valid = true;   // the losses agree, so that both did the same work
  std::string more{};  // such as the least and the most of both
  /// What else has been measured, for JSON.
  std::vector<std::pair<std::string, double>> figures{};
  /// Above 1 where ours is better (takes less time or memory).
  double ratio() const { return peer / ours; }
};

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  std::size_t n = values.size();
  return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/// The least and the most of both, as text.
inline std::string least_to_most(const std::vector<double>& a, const std::vector<double>& b) {
  auto [a0, a1] = std::minmax_element(a.begin(), a.end());
  auto [b0, b1] = std::minmax_element(b.begin(), b.end());
  char text[96];
  std::snprintf(text, sizeof text, "%.2f-%.2f, %.2f-%.2f", *a0, *a1, *b0, *b1);
  return text;
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

/// The system, and its number of processors.
inline std::string machine_text() {
  utsname name{};
  uname(&name);
  return std::string(name.sysname) + " " + name.machine + ", " +
         std::to_string(std::thread::hardware_concurrency()) + " processors";
}
inline void print_machine(const CommandLine& line) {
  std::printf("machine: %s, %s\nthreads: %d\ncommand: %s\n\n", machine_text().c_str(),
              processor_text().c_str(), line.threads, line.typed().c_str());
}
/// The commit of the folder in which the bench runs.
inline std::string commit_text() { return first_line("git rev-parse --short HEAD 2>/dev/null"); }

/// A number of a row with so many digits, or nothing where the row does not have it.
inline std::string cell(const nlohmann::ordered_json& row, const char* name, int digits) {
  if (!row.contains(name) || row[name].is_null()) return "";
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits, double(row[name]));
  return text;
}

/// What a file of a bench says first.
inline nlohmann::ordered_json about_run(int threads, const std::string& command) {
  return {{"machine", machine_text()},
          {"cpu", processor_text()},
          {"threads", threads},
          {"commit", commit_text()},
          {"command", command}};
}

/// Prints the machine, the command and the table. Where flags ask for files, it writes them to a
/// file, too, and a picture to another.
class Report {
  std::string command, json_file, svg_file, compared;
  int threads;
  std::vector<Row> all;
  std::vector<std::pair<std::string, std::string>> refused;

 public:
  /// `compared` names that of which Row::loss_difference is the difference.
  explicit Report(const CommandLine& line, std::string compared_ = "loss")
      : command(line.typed()),
        json_file(line.json),
        svg_file(line.svg),
        compared(std::move(compared_)),
        threads(line.threads) {
    print_machine(line);
  }

  /// Prints rows, and keeps them for the files.
  void print(const std::vector<Row>& rows) {
    if (all.empty())
      std::printf(
          "| work | ours | peer | | unit | peer / ours | %s difference | min-max, or more |\n"
          "|---|---|---|---|---|---|---|---|\n",
          compared.c_str());
    for (const Row& r : rows)
      std::printf("| %s | %.3f | %s | %.3f | %s | %s | %.1e | %s |\n", r.row.c_str(), r.ours,
                  r.peer_name.c_str(), r.peer, r.unit.c_str(), ratio_text(r).c_str(),
                  r.loss_difference, r.more.c_str());
    std::fflush(stdout);
    all.insert(all.end(), rows.begin(), rows.end());
  }
  /// Prints the names of what cannot be measured, and why.
  void print_refused(std::vector<std::pair<std::string, std::string>> names_and_reasons) {
    refused = std::move(names_and_reasons);
    std::printf("\n| no recipe | why |\n|---|---|\n");
    for (const auto& [name, reason] : refused)
      std::printf("| %s | %s |\n", name.c_str(), reason.c_str());
    std::fflush(stdout);
  }
  /// Writes the files. Returns the exit status, which is 1 if one could not be written.
  [[nodiscard]] int write() const {
    bool written = true;
    if (!json_file.empty()) written &= write_json(all);
    if (!svg_file.empty()) written &= write_svg(all);
    return written ? 0 : 1;
  }

 private:
  std::string ratio_text(const Row& r) const {
    char text[32];
    std::snprintf(text, sizeof text, "**%.2f**", r.ratio());
    return r.valid ? text : "void: the " + compared + " differs";
  }
  bool write_json(const std::vector<Row>& rows) const {
    nlohmann::ordered_json out = about_run(threads, command);
    out["rows"] = nlohmann::ordered_json::array();
    for (const Row& r : rows) {
      nlohmann::ordered_json row{{"row", r.row},
                                 {"ours", r.ours},
                                 {"peer", r.peer},
                                 {"peer_name", r.peer_name},
                                 {"unit", r.unit},
                                 {"ratio", r.ratio()},
                                 {compared + "_difference", r.loss_difference},
                                 {"valid", r.valid}};
      for (const auto& [name, value] : r.figures) row[name] = value;
      out["rows"].push_back(std::move(row));
    }
    for (const auto& [name, reason] : refused) out["refused"][name] = reason;
    std::ofstream file(json_file);
    file << out.dump(2) << '\n';
    if (!file.flush()) std::fprintf(stderr, "error: cannot write %s\n", json_file.c_str());
    return bool(file);
  }
  bool write_svg(const std::vector<Row>& rows) const {
    std::vector<Bar> bars;
    for (const Row& r : rows)
      if (r.valid) bars.push_back({r.row + ", " + r.peer_name, r.ratio()});
    return write_bars(svg_file, "peer / ours", bars);
  }
};

}  // namespace sinter::detail::bench
