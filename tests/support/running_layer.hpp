// SPDX-License-Identifier: Apache-2.0
// A layer with running values, which its object changes.
#pragma once
#include "sinter/layer/context.hpp"

namespace sinter::detail::testing {

template <class P>
class CounterObject final : public LayerObject {
  using T = typename P::compute;
  double seen = 0;  // rows before the call that is at hand, or that it repeats

  void forward(const Call& call) override {
    // Where forward has changed the values already, it is given none.
    const Tensor rows = call.tensor<typename P::master>(call.weights[0]);
    if (rows) seen = double(rows(0, 0));
    const Tensor x = call.tensor<T>(call.x[0]), y = call.tensor<T>(call.y[0]);
    for (std::int64_t k = 0; k < x.size(); ++k) y.data[k] = T(double(x.data[k]) + seen / 64);
    if (call.frozen || (call.pass != Pass::kept && call.pass != Pass::dropped)) return;
    rows(0, 0) += typename P::master(x.rows);
    call.tensor<typename P::master>(call.weights[1])(0, 0) += 1;
  }
  void backward(const Call& call) override {
    const Tensor dy = call.tensor<T>(call.dy[0]), dx = call.tensor<T>(call.dx[0]);
    for (int r = 0; r < dy.rows; ++r)
      for (int k = 0; k < dy.columns; ++k) dx.put(r, k, double(dy(r, k)));
  }
};

/// y = x + rows / 64, and counts rows and calls, both of training alone.
template <int W>
struct Counter {
  static constexpr std::array in{W};
  static constexpr std::array out{W};
  static constexpr std::array params{Param::running("rows", {1}, Init::zeros),
                                     Param::running("calls", Init::zeros)};
  static constexpr bool unplanned = true;
  template <class P>
  static std::unique_ptr<LayerObject> object() {
    return std::make_unique<CounterObject<P>>();
  }
};

}  // namespace sinter::detail::testing
