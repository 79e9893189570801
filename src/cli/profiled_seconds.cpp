// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/output.hpp"
#include "cli/world_forecast.hpp"
#include "sinter/files/io.hpp"
#include "sinter/plan/parameter.hpp"

namespace sinter::detail::cli {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void refuse_profile(const std::string& file, const std::string& what) {
  throw Error(fmt::format(
      "--times {}: {}. Give a file that `train --profile` of this very binary has written.",
      printable(file, 4096), what));
}

Json read_profile(const std::string& file) {
  Json profile = Json::parse(read_file(file), nullptr, false);
  if (!profile.is_object() || !profile.contains("traceEvents") ||
      !profile["traceEvents"].is_array())
    refuse_profile(file, "it is no profile");
  return profile;
}

/// The name of an instruction in a profile.
std::string name_of(const Model& model, const Instruction& i) {
  const std::string on = subject(model, i);
  return i.kind->name + (on.empty() ? "" : " " + on);
}

double median(std::vector<double>& values) {
  const auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace

std::vector<double> profiled_seconds(const std::string& file, const PlanView& plan, double share,
                                     std::span<const double> computing) {
  const std::span<const Instruction> program = plan.training.program;
  std::vector<std::vector<double>> durations(program.size());
  const Json profile = read_profile(file);
  for (const Json& event : profile["traceEvents"]) {
    if (!event.is_object() || event.value("cat", "") != "instruction" || !event.contains("args"))
      continue;
    const auto position = event["args"].value("position", std::size_t(program.size()));
    if (position >= program.size()) continue;
    // Spans of evaluations have other names.
    if (event.value("name", "") == name_of(plan.model, program[position]))
      durations[position].push_back(1e-6 * event.value("dur", 0.0));
  }
  std::vector<double> seconds(program.size());
  for (std::size_t t = 0; t < program.size(); ++t) {
    if (computing[t] == 0) continue;  // it computes nothing: it moves bytes, or waits
    if (durations[t].empty())
      refuse_profile(file, fmt::format("it has no time of instruction {}, '{}'", t,
                                       name_of(plan.model, program[t])));
    seconds[t] = median(durations[t]);
    if (program[t].kind->by_shards) seconds[t] *= plan.model.share() / share;
  }
  return seconds;
}

}  // namespace sinter::detail::cli
