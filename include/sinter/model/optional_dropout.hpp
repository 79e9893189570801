// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/graph/tracer.hpp"
#include "sinter/layer/dropout.hpp"

namespace sinter::detail {

/// Adds dropout of x to the graph, or nothing if the probability is 0.
template <int W, float Probability>
constexpr Value<W> optional_dropout(auto& g, const char* name, Value<W> x) {
  if constexpr (Probability > 0) {
    return g(name, Dropout<W, Probability>{}, x);
  } else {
    return x;
  }
}

}  // namespace sinter::detail
