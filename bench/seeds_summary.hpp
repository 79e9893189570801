// SPDX-License-Identifier: Apache-2.0
// What follows from the rows of bench/seeds.cpp: the guide's table of methods, and bars.
#pragma once
#include "seeds_table.hpp"

namespace sinter::detail::bench::seeds {

/// A method's gain must be this much to count in the table of methods.
constexpr double least_gain = 0.05;

/// A row of the table of methods: how much time and memory it takes of what went before, and the guide's
/// words. A ratio that was not measured is 0.
struct Method {
  std::string name;
  double time, memory;
  const char *guide_speed, *guide_memory;
};

/// A figure of a row by that of another; 0 if either is missing.
inline double ratio_of(const Json& rows, const std::string& name, const std::string& of,
                       const char* field, double times = 1) {
  const Json *one = find(rows, name), *other = find(rows, of);
  return one && other ? double((*one)[field]) / double((*other)[field]) / times : 0;
}
/// The smaller of two ratios, of which 0 is none.
inline double smaller(double a, double b) { return a > 0 && b > 0 ? std::min(a, b) : a + b; }

/// Of the guide's methods this lacks DataLoader: bench/ladder.cpp has a row for batches read ahead.
inline std::vector<Method> all_methods(const Json& rows) {
  const auto time = [&](const std::string& name, const std::string& of, double times = 1) {
    return ratio_of(rows, name, of, "cpu_ms", times);
  };
  const auto memory = [&](const std::string& name, const std::string& of, double times = 1) {
    return ratio_of(rows, name, of, "planned_mib", times);
  };
  const auto both = [&](const char* method, const std::string& name, const std::string& of,
                        const char* guide_speed, const char* guide_memory, double times = 1) {
    return Method{method, time(name, of, times), memory(name, of, times), guide_speed,
                  guide_memory};
  };
  const std::string factored = "guide: Adafactor", quantized = "guide: AdamW in 8 bits";
  const Json* zero = find(rows, "zero: stage 3, 2 ranks");
  return {
      both("gradient accumulation", accumulation, vanilla, "no", "yes"),
      both("gradient checkpointing", recomputing, accumulation, "no", "yes"),
      both("mixed precision training", half_precision, vanilla, "yes", "(no)"),
      both("batch size, of 64 beside 8, each sequence", "batch: 64", "batch: 8", "yes", "yes", 8),
      {"optimizer choice, the better of Adafactor and AdamW in 8 bits",
       smaller(time(factored, vanilla), time(quantized, vanilla)),
       smaller(memory(factored, vanilla), memory(quantized, vanilla)), "yes", "yes"},
      {"DeepSpeed ZeRO, stage 3 on 2 ranks", 0, zero ? double((*zero)["memory"]) : 0, "no", "yes"}};
}

/// Whether a method gains, and the ratio.
inline std::string gain_text(double ratio) {
  if (ratio == 0) return "not measured";
  char text[32];
  std::snprintf(text, sizeof text, "%s, %.2f", ratio <= 1 - least_gain ? "yes" : "no", ratio);
  return text;
}
inline Json methods_of(const Json& rows) {
  Json methods = Json::array();
  for (const Method& m : all_methods(rows))
    methods.push_back({{"row", m.name},
                       {"speed", gain_text(m.time)},
                       {"guide_speed", m.guide_speed},
                       {"memory", gain_text(m.memory)},
                       {"guide_memory", m.guide_memory}});
  return methods;
}
inline void print_methods(const Json& methods) {
  std::printf("| method | speed | the guide | memory | the guide |\n|---|---|---|---|---|\n");
  for (const Json& row : methods) {
    for (const auto& [field, text] : row.items()) std::printf("| %s ", std::string(text).c_str());
    std::printf("|\n");
  }
  std::printf("\n");
}

/// Figures that should be at most a bound.
inline Json bars_of(const Json& rows) {
  Json bars = Json::array();
  const auto add = [&](const std::string& what, double measured, double most) {
    bars.push_back(
        {{"row", what}, {"measured", measured}, {"most", most}, {"met", measured <= most}});
  };
  double off = 0;
  for (const Json& row : rows) {
    off = std::max(off, std::abs(row.value("formula_off", 0.0)));
    const std::string name = row["row"];
    if (name == accumulation || name == recomputing)
      add(name + ", time of vanilla's", row["time"], row["document_time"]);
    if (!row.contains("peer_mib")) continue;
    add(name + ", process of the Trainer's", row["memory_of_peer"], 1);
    add(name + ", time of the Trainer's", row["time_of_peer"], 0.6);
  }
  add("bytes by the formula, off by", off, most_off);
  return bars;
}
inline void print_bars(const Json& bars) {
  std::printf("| bar | measured | at most | |\n|---|---|---|---|\n");
  for (const Json& bar : bars)
    std::printf("| %s | %s | %s | %s |\n", std::string(bar["row"]).c_str(),
                cell(bar, "measured", 3).c_str(), cell(bar, "most", 2).c_str(),
                bar["met"] ? "met" : "**missed**");
}

}  // namespace sinter::detail::bench::seeds
