// SPDX-License-Identifier: Apache-2.0
#include "data/window_sources.hpp"

#include "sinter/data/windows.hpp"

namespace sinter::detail {

void add_windows(OpenedData& opened, const DataRequest& request, TokenView train,
                 TokenView evaluated, int context, const std::shared_ptr<const void>& owner) {
  if (const auto& training = request.training) {
    const WindowShape shape{context, training->sequences};
    if (training->order == Order::sequential)
      opened.training = AnySource(SequentialWindows(train, shape, training->shapes), owner);
    else
      opened.training =
          AnySource(ShuffledWindows(train, shape, training->seed, training->shapes), owner);
    if (evaluated.size() > 0)
      opened.text += ", the last " + thousands(evaluated.size()) + " held out for validation";
  }
  opened.evaluation_size = evaluated.size();
  if (evaluated.size() > 0)
    opened.evaluation =
        AnySource(EvaluationWindows(evaluated, {context, request.evaluation_sequences}), owner);
}

}  // namespace sinter::detail
