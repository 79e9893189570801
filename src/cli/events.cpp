// SPDX-License-Identifier: Apache-2.0
#include "cli/events.hpp"

#include <fmt/format.h>

#include <vector>

#include "sinter/error.hpp"

namespace sinter::detail::cli {

Events::Events(const std::filesystem::path& run, std::int64_t steps_before, std::string_view header,
               double flops)
    : flops_per_token(flops) {
  try {
    file.emplace(run, steps_before);
    file->text(steps_before, "run", fmt::format("```\n{}```\n", header));
  } catch (const FileError& error) {
    warnings = file ? fmt::format("{} Training goes on.\n", error.what())
                    : fmt::format("{} Training goes on without an event file.\n", error.what());
  }
}

/// Warns only of the first of several failed writes in a row.
void Events::try_to(auto write) {
  if (!file) return;
  try {
    write();
    fails = false;
  } catch (const FileError& error) {
    if (!std::exchange(fails, true))
      warnings += fmt::format(
          "{} Training goes on; steps are missing from this event file until it can be written "
          "again.\n",
          error.what());
  }
}

void Events::step(const StepRecord& r) {
  std::vector<Scalar> values{{"loss/training", r.loss},
                             {"optimizer/gradient_norm", r.gradient_norm},
                             {"optimizer/learning_rate", r.learning_rate},
                             {"speed/tokens_per_s", r.tokens_per_s},
                             {"speed/flop_per_s", r.tokens_per_s * flops_per_token}};
  if (r.data_wait_ms) values.push_back({"speed/data_wait_ms", *r.data_wait_ms});
  if (r.predictions) values.push_back({"data/predictions", double(*r.predictions)});
  if (r.rows) values.push_back({"data/rows", double(*r.rows)});
  if (r.examples) {
    values.push_back({"speed/examples_per_s", r.examples->examples_per_s});
    values.push_back({"data/padding", r.examples->padding});
    values.push_back({"data/context_length", r.examples->context_length});
    values.push_back({"data/label_length", r.examples->label_length});
    values.push_back({"data/truncated", r.examples->truncated});
    for (const auto& [name, mean] :
         {std::pair{"data/full_context_length", r.examples->full_context_length},
          {"data/full_label_length", r.examples->full_label_length},
          {"data/context_truncated", r.examples->context_truncated},
          {"data/label_truncated", r.examples->label_truncated}})
      if (mean) values.push_back({name, *mean});
  }
  if (r.step_cpu_ms) values.push_back({"speed/step_cpu_ms", *r.step_cpu_ms});
  if (r.validation_loss) values.push_back({"loss/validation", *r.validation_loss});
  std::vector<std::string> names;  // which the values point to
  names.reserve(r.metrics.size());
  for (const MetricValue& metric : r.metrics)
    values.push_back({names.emplace_back("validation/" + metric.name), metric.value});
  try_to([&] { file->scalars(r.step, values); });
}

void Events::sync() {
  try_to([&] { file->sync(); });
}

}  // namespace sinter::detail::cli
