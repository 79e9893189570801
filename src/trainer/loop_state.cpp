// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop_state.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "files/json.hpp"
#include "files/json_number.hpp"
#include "sinter/error.hpp"
#include "trainer/example_means.hpp"

namespace sinter::detail {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::pair<const char*, double ExampleRecord::*> example_fields[] = {
    {"examples_per_s", &ExampleRecord::examples_per_s}, {"padding", &ExampleRecord::padding}};

constexpr std::pair<const char*, std::optional<std::int64_t> StepRecord::*> counts[] = {
    {"predictions", &StepRecord::predictions}, {"rows", &StepRecord::rows}};

/// Calls act(name, field) for what a row says of examples.
template <class Act>
void for_each_example_field(Act&& act) {
  for (const auto& [name, field] : example_fields) act(name, field);
  for (const auto& [name, field] : example_means) act(name, field);
}

/// What stands before a metric's name in a row.
const std::string metric_prefix = "val_";

Json json_of(const StepRecord& r) {
  Json row{{"step", r.step},        {"loss", r.loss},     {"grad_norm", r.gradient_norm},
           {"lr", r.learning_rate}, {"tokens", r.tokens}, {"tokens_per_s", r.tokens_per_s},
           {"step_ms", r.step_ms}};
  if (r.data_wait_ms) row["data_wait_ms"] = *r.data_wait_ms;
  for (const auto& [name, field] : counts)
    if (const auto& count = r.*field) row[name] = *count;
  if (r.examples) {
    for_each_example_field([&](const char* name, auto field) { row[name] = (*r.examples).*field; });
    for (const auto& [name, field] : full_means)
      if (const auto& mean = (*r.examples).*field) row[name] = *mean;
  }
  if (r.step_cpu_ms) row["step_cpu_ms"] = *r.step_cpu_ms;
  if (r.validation_loss) row["val_loss"] = *r.validation_loss;
  for (const MetricValue& metric : r.metrics)
    row[metric_prefix + metric.name] = finite_or_null(metric.value);
  if (r.evaluation_ms) row["eval_ms"] = *r.evaluation_ms;
  return row;
}

StepRecord record_of(const Json& row) {
  StepRecord r;
  r.step = integer_of<std::int64_t>(row.at("step"), "'step'");
  row.at("loss").get_to(r.loss);
  row.at("grad_norm").get_to(r.gradient_norm);
  row.at("lr").get_to(r.learning_rate);
  r.tokens = integer_of<std::int64_t>(row.at("tokens"), "'tokens'");
  row.at("tokens_per_s").get_to(r.tokens_per_s);
  row.at("step_ms").get_to(r.step_ms);
  if (row.contains("data_wait_ms")) r.data_wait_ms = row.at("data_wait_ms").get<double>();
  for (const auto& [name, field] : counts)
    if (row.contains(name)) r.*field = integer_of<std::int64_t>(row.at(name), name);
  if (row.contains("examples_per_s")) {
    r.examples.emplace();
    for_each_example_field(
        [&](const char* name, auto field) { row.at(name).get_to((*r.examples).*field); });
    for (const auto& [name, field] : full_means)
      if (row.contains(name)) (*r.examples).*field = row.at(name).get<double>();
  }
  if (row.contains("step_cpu_ms")) r.step_cpu_ms = row.at("step_cpu_ms").get<double>();
  if (row.contains("eval_ms")) r.evaluation_ms = row.at("eval_ms").get<double>();
  for (const auto& [key, value] : row.items()) {
    if (key == "val_loss") {
      r.validation_loss = value.get<double>();
    } else if (key.starts_with(metric_prefix)) {
      r.metrics.push_back(
          {key.substr(metric_prefix.size()), value.is_null() ? std::nan("") : value.get<double>()});
    }
  }
  return r;
}

}  // namespace

std::string StepRecord::to_json() const { return json_of(*this).dump(); }

StepRecord StepRecord::from_json(std::string_view json) try {
  return record_of(parse_json(json));
} catch (const std::exception& error) {
  throw Error(std::string("This is not a row of metrics.jsonl: ") + error.what());
}

void add_loop_state(Json& info, const LoopState& state, const SamplerState& data) {
  Json loop{{"last", json_of(state.last)},
            {"best", finite_or_null(state.best)},
            {"best_step", state.best_step},
            {"evaluation_due", state.evaluation_due}};
  if (!state.best_by.empty()) loop["best_by"] = state.best_by;
  if (std::isfinite(state.patient_best))
    loop["early_stop"] = {{"best", state.patient_best}, {"waited", state.waited}};
  info["loop"] = loop;
  info["sampler"] = data.to_fields();
}

SavedLoop loop_state_of(const std::string& text) try {
  Json info = Json::parse(text);
  const Json& loop = info.at("loop");
  SavedLoop saved;
  saved.state.last = record_of(loop.at("last"));
  if (!loop.at("best").is_null()) saved.state.best = loop.at("best").get<double>();
  saved.state.best_step = integer_of<std::int64_t>(loop.at("best_step"), "'best_step'");
  loop.at("evaluation_due").get_to(saved.state.evaluation_due);
  saved.state.best_by = loop.value("best_by", "");
  if (const auto stopping = loop.find("early_stop"); stopping != loop.end()) {
    stopping->at("best").get_to(saved.state.patient_best);
    saved.state.waited = integer_of<int>(stopping->at("waited"), "'waited'");
  }
  saved.data =
      SamplerState::from_fields(info.at("sampler").get<std::map<std::string, std::string>>());
  return saved;
} catch (const Error&) {
  throw;
} catch (const std::exception& error) {
  throw Error(std::string("its manifest does not say where the run stood (") + error.what() +
              "). It can be used as weights, but not to resume");
}

}  // namespace sinter::detail
