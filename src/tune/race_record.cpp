// SPDX-License-Identifier: Apache-2.0
#include "tune/race_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "files/hexadecimal.hpp"
#include "files/json.hpp"
#include "sinter/error.hpp"
#include "sinter/files/io.hpp"

namespace sinter::detail::tune {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::uint64_t most_bytes = 64 << 20;

Json json_of(const Run& run, const std::string& program) {
  Json json{{"row", run.row}, {"round", run.round}, {"program", program}};
  if (!run.failure.empty()) {
    json["failure"] = run.failure;
    return json;
  }
  json["loss"] = std::isfinite(run.loss) ? Json(run.loss) : Json(nullptr);
  json["peak_bytes"] = run.peak_bytes;
  json["step_ms"] = run.step_ms;
  json["step_tokens"] = run.step_tokens;
  json["matmul_flops_per_s"] = run.matmul_flops;
  json["ms_per_thousand_tokens"] = run.wall_ms;
  json["cpu_ms_per_thousand_tokens"] = run.cpu_ms;
  return json;
}

Run run_of(const Json& json) {
  Run run{.row = integer_of<int>(json.at("row"), "'row'"),
          .round = integer_of<int>(json.at("round"), "'round'")};
  run.loss = json.at("loss").is_null() ? NAN : json.at("loss").get<double>();
  run.peak_bytes = integer_of<std::int64_t>(json.at("peak_bytes"), "'peak_bytes'");
  run.step_ms = json.at("step_ms").get<double>();
  run.step_tokens = json.at("step_tokens").get<double>();
  run.matmul_flops = json.at("matmul_flops_per_s").get<double>();
  run.wall_ms = json.at("ms_per_thousand_tokens").get<std::vector<double>>();
  run.cpu_ms = json.at("cpu_ms_per_thousand_tokens").get<std::vector<double>>();
  if (run.wall_ms.empty() || run.cpu_ms.empty()) throw JsonError("a run has no steps");
  return run;
}

}  // namespace

RaceRecord::RaceRecord(const std::filesystem::path& folder, const Json& grid,
                       const std::vector<std::string>& words, std::map<int, std::string> programs)
    : path_(folder / "race.json"),
      content_{{"grid", grid}, {"train", words}, {"runs", Json::array()}},
      programs_(std::move(programs)) {
  std::filesystem::create_directories(folder);
  if (!std::filesystem::exists(path_)) return;
  const std::string remedy = " Name another --out, or move it away.";
  try {
    const Json before = parse_json(read_file(path_, most_bytes));
    if (before.at("grid") != grid || before.at("train") != Json(words))
      throw FileError(path_.string() +
                      " is of another race: of another recipe, other slots, memory or data." +
                      remedy);
    if (before.contains("first_steps"))
      content_["first_steps"] = integer_of<int>(before.at("first_steps"), "'first_steps'");
    for (const Json& json : before.at("runs")) {
      const auto program = programs_.find(integer_of<int>(json.at("row"), "'row'"));
      const bool is_other = program != programs_.end() && json.at("program") != program->second;
      if (is_other || json.contains("failure")) continue;
      runs_.push_back(run_of(json));
      content_["runs"].push_back(json);
    }
  } catch (const Json::exception&) {
    throw FileError(path_.string() + " is damaged." + remedy);
  } catch (const JsonError&) {
    throw FileError(path_.string() + " is damaged." + remedy);
  }
}

const Run* RaceRecord::find(int row, int round) const {
  const auto found = std::ranges::find_if(
      runs_, [&](const Run& run) { return run.row == row && run.round == round; });
  return found == runs_.end() ? nullptr : &*found;
}

void RaceRecord::add(const Run& run) {
  runs_.push_back(run);
  content_["runs"].push_back(json_of(run, programs_.at(run.row)));
  write_file_atomically(path_, content_.dump(1) + "\n");
}

std::string program_hash(const std::filesystem::path& program) {
  const std::string bytes = read_file(program);
  return hexadecimal(XXH3_128bits(bytes.data(), bytes.size()));
}

}  // namespace sinter::detail::tune
