// SPDX-License-Identifier: Apache-2.0
// What a step and an evaluation say of their examples.
#pragma once
#include <cstdint>
#include <optional>
#include <utility>

#include "sinter/data/host_batch.hpp"
#include "sinter/trainer/stages.hpp"

namespace sinter::detail {

/// The fields that both have, by their names in the log.
inline constexpr std::pair<const char*, double ExampleRecord::*> example_means[] = {
    {"context_length", &ExampleRecord::context_length},
    {"label_length", &ExampleRecord::label_length},
    {"truncated", &ExampleRecord::truncated}};

/// Those that logs of older versions do not have.
inline constexpr std::pair<const char*, std::optional<double> ExampleRecord::*> full_means[] = {
    {"full_context_length", &ExampleRecord::full_context_length},
    {"full_label_length", &ExampleRecord::full_label_length},
    {"context_truncated", &ExampleRecord::context_truncated},
    {"label_truncated", &ExampleRecord::label_truncated}};

/// Divides counts by the number of their examples. Leaves the other fields at 0.
inline ExampleRecord means_of(const ExampleCounts& counts, std::int64_t examples) {
  const double all = double(examples);
  return {.context_length = double(counts.context) / all,
          .label_length = double(counts.label) / all,
          .truncated = counts.truncated / all,
          .full_context_length = double(counts.full_context) / all,
          .full_label_length = double(counts.full_label) / all,
          .context_truncated = counts.contexts_cut / all,
          .label_truncated = counts.labels_cut / all};
}

}  // namespace sinter::detail
