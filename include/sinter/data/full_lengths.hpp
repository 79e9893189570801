// SPDX-License-Identifier: Apache-2.0
// What is counted of an example that was cut.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "sinter/data/batching.hpp"
#include "sinter/data/host_batch.hpp"

namespace sinter::detail {

/// The lengths of examples before limits have cut them. Only those that were cut take memory.
class FullLengths {
  struct Cut {
    std::int64_t number;
    ExampleLength length;
  };
  std::vector<Cut> cuts;  // by rising numbers

 public:
  /// Adds an example that a limit has cut. Its number is above those added before.
  void add(std::int64_t number, ExampleLength full) { cuts.push_back({number, full}); }
  /// The length of an example of which limits have left `kept`.
  ExampleLength of(std::int64_t number, ExampleLength kept) const {
    const auto found = std::ranges::lower_bound(cuts, number, {}, &Cut::number);
    return found != cuts.end() && found->number == number ? found->length : kept;
  }
};

/// The counts of an example, of which a batch has taken some rows.
inline ExampleCounts counts_of(ExampleLength full, ExampleLength taken, std::int64_t padding) {
  const bool context_cut = taken.context < full.context, label_cut = taken.label < full.label;
  return {.context = taken.context,
          .label = taken.label,
          .padding = padding,
          .truncated = context_cut || label_cut,
          .full_context = full.context,
          .full_label = full.label,
          .contexts_cut = context_cut,
          .labels_cut = label_cut};
}

}  // namespace sinter::detail
