// SPDX-License-Identifier: Apache-2.0
// The windows of a text as the sources that a data policy's open() gives.
#pragma once
#include <memory>

#include "sinter/data/data_view.hpp"
#include "sinter/data/token_view.hpp"

namespace sinter::detail {

/// Adds to what is opened: a source of windows of `train`, in the order and with the seed of the
/// request, if it asks for one; and what is evaluated, which may have no tokens, with what `text`
/// says of it. The sources keep `owner`, which owns what the views look into.
/// throws    ArgumentError, as the windows of data/windows.hpp do
void add_windows(OpenedData& opened, const DataRequest& request, TokenView train,
                 TokenView evaluated, int context, const std::shared_ptr<const void>& owner);

}  // namespace sinter::detail
