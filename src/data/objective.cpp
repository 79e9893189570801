// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/objective.hpp"

namespace sinter::detail {

void prepare_batches(OpenedData& opened, const Objective& objective) {
  opened.predicted *= objective.predicted;
  for (std::optional<AnySource>* source : {&opened.training, &opened.evaluation})
    if (*source) *source = AnySource(PreparedSource(*std::move(*source), objective));
}

}  // namespace sinter::detail
