// SPDX-License-Identifier: Apache-2.0
// Spans of parameters that tests of optimizers update without a trainer.
#pragma once
#include "sinter/kernels/optimizer.hpp"

namespace sinter::detail::testing {

/// What a step does to all of its parameters.
struct SpanStep {
  double learning_rate;
  std::int64_t number = 1;
  const kernel::Decision* decision = nullptr;
  bool decayed = true;
};

/// A span of n parameters with one or two arrays of state, null if there is none.
template <class M, class G, class S, class C>
ParameterSpan<M, G, S, C> span_of(kernel::Stream& stream, M* master, const G* gradient,
                                  std::array<S*, 2> state, C* copy, std::int64_t n,
                                  const SpanStep& step) {
  ParameterSpan<M, G, S, C> span{stream,
                                 master,
                                 gradient,
                                 {},
                                 copy,
                                 n,
                                 step.decayed,
                                 step.learning_rate,
                                 step.learning_rate,
                                 step.number,
                                 step.decision};
  for (std::size_t k = 0; k < state.size(); ++k) span.state[k] = {state[k], state[k] ? n : 0};
  return span;
}

}  // namespace sinter::detail::testing
