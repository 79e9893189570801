// SPDX-License-Identifier: Apache-2.0
// The table of bench/learn.cpp: how far what we learn is from what peers learn, and the bars.
#pragma once
#include <map>
#include <optional>

#include "learn_run.hpp"
#include "report.hpp"
#include "sinter/files/io.hpp"

namespace sinter::detail::bench::learn {

constexpr double final_bar = 1.01;  // of our final loss to the peer's

struct Row {
  std::string name, measure;
  double ours;
  std::string peer_name{};
  /// Those that a peer has: its figure, what is compared, and how much that may be.
  std::optional<double> peer{}, compared{}, bar{};

  bool met() const { return !bar || *compared <= *bar; }  // what is no number is missed
};

inline double mean(const std::vector<double>& numbers) {
  double sum = 0;
  for (const double number : numbers) sum += number;
  return sum / double(numbers.size());
}
/// |a - b| of each first step of all runs.
inline std::vector<double> differences(const Runs& a, const Runs& b) {
  std::vector<double> all;
  for (std::size_t run = 0; run < a.size(); ++run)
    for (std::size_t step = 0; step < a[run].losses.size(); ++step)
      all.push_back(std::abs(a[run].losses[step] - b[run].losses[step]));
  return all;
}
inline double largest(const std::vector<double>& numbers) {
  double most = 0;
  for (const double number : numbers) {
    if (std::isnan(number)) return number;
    most = std::max(most, number);
  }
  return most;
}
inline double mean_first(const Runs& runs) {
  std::vector<double> all;
  for (const Learnt& run : runs) all.insert(all.end(), run.losses.begin(), run.losses.end());
  return mean(all);
}
inline double mean_final(const Runs& runs) {
  std::vector<double> all;
  for (const Learnt& run : runs) all.push_back(run.held_out);
  return mean(all);
}

/// What was learnt, ours and peers', by Subject::with().
struct Results {
  std::map<std::string, Runs> ours, peers;

  /// The rows of a model and a method. One that needs a peer is left out where the peer is missing.
  std::vector<Row> rows_of(const Subject& subject, const Method& method) const {
    const std::string name = subject.with(method);
    const Runs& own = ours.at(name);
    const std::string steps = std::to_string(own[0].losses.size());
    const Runs* peer = find(peers, name);
    std::vector<Row> rows;
    if (method.by_distance) {
      const std::string base = subject.with(methods[fp32]);
      Row row{name, "distance from fp32, mean of " + steps + " losses",
              mean(differences(own, ours.at(base)))};
      if (const Runs* whole = find(peers, base); peer && whole)
        row = with_ratio(row, method, mean(differences(*peer, *whole)), method.bar);
      rows.push_back(row);
    } else if (peer) {
      rows.push_back({name, "first " + steps + " losses, largest difference", mean_first(own),
                      method.peer, mean_first(*peer), largest(differences(own, *peer)),
                      method.bar});
    }
    const Row last{name, "final loss, mean of " + std::to_string(own.size()), mean_final(own)};
    rows.push_back(peer ? with_ratio(last, method, mean_final(*peer), final_bar) : last);
    return rows;
  }

 private:
  static const Runs* find(const std::map<std::string, Runs>& all, const std::string& name) {
    const auto at = all.find(name);
    return at == all.end() ? nullptr : &at->second;
  }
  static Row with_ratio(Row row, const Method& method, double peer, double bar) {
    row.peer_name = method.peer;
    row.peer = peer;
    row.compared = row.ours / peer;
    row.bar = bar;
    return row;
  }
};

inline std::string cell(const std::optional<double>& number) {
  if (!number) return "";
  char text[32];
  std::snprintf(text, sizeof text, "%.5g", *number);
  return text;
}

inline void print(const std::vector<Row>& rows) {
  std::printf(
      "| model and method | measure | Sinter | peer | | difference or ratio | bar | |\n"
      "|---|---|---|---|---|---|---|---|\n");
  for (const Row& row : rows)
    std::printf("| %s | %s | %s | %s | %s | %s | %s | %s |\n", row.name.c_str(),
                row.measure.c_str(), cell(row.ours).c_str(), row.peer_name.c_str(),
                cell(row.peer).c_str(), cell(row.compared).c_str(), cell(row.bar).c_str(),
                !row.bar    ? ""
                : row.met() ? "met"
                            : "**missed**");
}

using Json = nlohmann::ordered_json;

inline Json json_of(const std::map<std::string, Runs>& all) {
  Json json = Json::object();
  for (const auto& [name, runs] : all)
    for (const Learnt& run : runs)
      json[name].push_back({{"first_losses", run.losses}, {"final_loss", run.held_out}});
  return json;
}
/// The opposite of json_of(). JSON has no NaN, and null in its place.
inline std::map<std::string, Runs> runs_of(const Json& json) {
  const auto number = [](const Json& one) { return one.is_null() ? NAN : double(one); };
  std::map<std::string, Runs> all;
  for (const auto& [name, runs] : json.items())
    for (const Json& run : runs) {
      Learnt& learnt = all[name].emplace_back();
      for (const Json& loss : run["first_losses"]) learnt.losses.push_back(number(loss));
      learnt.held_out = number(run["final_loss"]);
    }
  return all;
}
inline Json json_of(const Row& row) {
  Json json{{"row", row.name}, {"measure", row.measure}, {"ours", row.ours}};
  if (!row.bar) return json;
  json.update({{"peer_name", row.peer_name},
               {"peer", *row.peer},
               {"compared", *row.compared},
               {"bar", *row.bar},
               {"met", row.met()}});
  return json;
}

/// Draws how much of its bar each row takes.
inline bool draw(const std::string& path, const std::vector<Row>& rows) {
  std::vector<Bar> bars;
  for (const Row& row : rows)
    if (row.bar) bars.push_back({row.name + ", " + row.measure, *row.compared / *row.bar});
  return write_bars(path, "difference or ratio, in parts of what it may be", bars);
}

}  // namespace sinter::detail::bench::learn
