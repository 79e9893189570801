// SPDX-License-Identifier: Apache-2.0
// The tables of bench/seeds.cpp, of rows that have been measured.
#pragma once
#include "report.hpp"
#include "seeds_run.hpp"

namespace sinter::detail::bench::seeds {

using Json = nlohmann::ordered_json;

constexpr double mebibyte = 1 << 20;
constexpr double most_off = 0.02;  // of a formula's bytes from the plan's

/// The row of a case, without its ratios to its base.
inline Json row_of(const Case& one, const Contestant& ours) {
  const double planned = double(one.plan->memory.total);
  Json row{{"row", one.name},
           {"base", one.base},
           {"planned_mib", planned / mebibyte},
           {"process_mib", ours.peak_mib},
           {"ms", median(ours.milliseconds)},
           {"cpu_ms", median(ours.processor)},
           {"first_loss", ours.facts.at("first_loss")}};
  if (one.work) {
    const double formula = step_bytes(reduced, *one.work);
    row["formula_mib"] = formula / mebibyte;
    row["formula_off"] = formula / planned - 1;
  }
  if (one.document_memory > 0) row["document_memory"] = one.document_memory;
  if (one.document_time > 0) row["document_time"] = one.document_time;
  return row;
}
/// Adds what the peer took, and how much of it ours takes.
inline void add_peer(Json& row, const Contestant& peer) {
  row["peer_mib"] = peer.peak_mib;
  row["peer_ms"] = median(peer.milliseconds);
  row["peer_cpu_ms"] = median(peer.processor);
  row["peer_state"] = peer.facts.count("state") ? Json(peer.facts.at("state")) : Json();
  row["memory_of_peer"] = double(row["process_mib"]) / double(row["peer_mib"]);
  row["time_of_peer"] = double(row["cpu_ms"]) / double(row["peer_cpu_ms"]);
}

/// The row of this name, or null.
inline const Json* find(const Json& rows, const std::string& name) {
  for (const Json& row : rows)
    if (row["row"] == name) return &row;
  return nullptr;
}
/// Adds ratios to the rows' bases. Rows are "valid" if the loss of the first step is the base's, to
/// rounding: weights, tokens and dropout's masks are the same.
inline void add_ratios(Json& rows) {
  for (Json& row : rows) {
    const Json& base = *find(rows, row["base"]);
    const auto ratio = [&](const char* name, const char* of) {
      if (row.contains(of) && base.contains(of)) row[name] = double(row[of]) / double(base[of]);
    };
    ratio("memory", "planned_mib");
    ratio("process_memory", "process_mib");
    ratio("time", "cpu_ms");
    ratio("clock_time", "ms");
    ratio("peer_memory", "peer_mib");
    ratio("peer_time", "peer_cpu_ms");
    row["loss_difference"] = std::abs(double(row["first_loss"]) - double(base["first_loss"]));
    row["valid"] = row["loss_difference"] < 1e-2;  // bf16 has 8 bits
  }
}

struct Column {
  const char *title, *field;
  int digits;
};
/// Prints rows, with nothing where a row lacks a figure; prints no table without rows.
inline void print_table(const Json& rows, const std::vector<Column>& columns) {
  if (rows.empty()) return;
  std::printf("| row |");
  for (const Column& c : columns) std::printf(" %s |", c.title);
  std::printf("\n|---|");
  for (std::size_t c = 0; c < columns.size(); ++c) std::printf("---|");
  for (const Json& row : rows) {
    std::printf("\n| %s |", std::string(row["row"]).c_str());
    for (const Column& c : columns) std::printf(" %s |", cell(row, c.field, c.digits).c_str());
  }
  std::printf("\n\n");
  std::fflush(stdout);
}
/// Prints measured rows, and in a second table those that have a peer.
inline void print_rows(const Json& rows) {
  print_table(rows, {{"plan, MiB", "planned_mib", 1},
                     {"formula, MiB", "formula_mib", 1},
                     {"off", "formula_off", 4},
                     {"process, MiB", "process_mib", 0},
                     {"plan, of the base's", "memory", 2},
                     {"the document's", "document_memory", 2},
                     {"ms a step", "ms", 1},
                     {"of the processor, ms", "cpu_ms", 1},
                     {"of the base's", "time", 2},
                     {"the document's", "document_time", 2}});
  Json beside = Json::array();
  for (const Json& row : rows)
    if (row.contains("peer_mib")) beside.push_back(row);
  print_table(beside, {{"process, MiB", "process_mib", 0},
                       {"Trainer's", "peer_mib", 0},
                       {"ratio", "memory_of_peer", 2},
                       {"of the processor, ms", "cpu_ms", 1},
                       {"Trainer's", "peer_cpu_ms", 1},
                       {"ratio", "time_of_peer", 2},
                       {"Trainer's time, of its base's", "peer_time", 2},
                       {"its state of a parameter, bytes", "peer_state", 2}});
}

/// Prints what makes the small BERT alike to the guide's.
inline void print_shares() {
  const Memory& m = cases().front().plan->memory;
  const Elements e = elements_of(reduced);
  const double embeddings = e.tables + double(reduced.positions + reduced.types) * reduced.width;
  std::printf(
      "embeddings: %.3f of %.0f parameters\nweights, gradients and state of vanilla: %.3f of its "
      "activations and workspace\n\n",
      embeddings / parameters_of(reduced), double(cases().front().plan->parameters),
      double(m.parameters + m.gradients + m.optimizer) / double(m.activations + m.workspace));
}

}  // namespace sinter::detail::bench::seeds
