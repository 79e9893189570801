// SPDX-License-Identifier: Apache-2.0
// A layer that computes in an object outside of the arena.
#pragma once
#include <vector>

#include "sinter/error.hpp"
#include "sinter/layer/context.hpp"

namespace sinter::detail::testing {

/// How forward has been called, on all ranks, since this was cleared.
inline std::vector<Pass> passes;

/// y = x², in double precision: forward leaves x in the object, as far as the call asks for it, and
/// backward uses it up.
class SquareObject final : public LayerObject {
  std::vector<double> left;

 public:
  void forward(const Call& call) override {
    passes.push_back(call.pass);
    const Tensor x = call.tensor<double>(call.x[0]), y = call.tensor<double>(call.y[0]);
    left.clear();
    for (std::int64_t k = 0; k < x.size(); ++k) y.data[k] = x.data[k] * x.data[k];
    if (call.pass == Pass::kept || call.pass == Pass::again) left.assign(x.data, x.data + x.size());
  }
  void backward(const Call& call) override {
    const Tensor dy = call.tensor<double>(call.dy[0]), dx = call.tensor<double>(call.dx[0]);
    if (std::int64_t(left.size()) != dy.size()) throw Error("forward has left nothing");
    for (int r = 0; r < dy.rows; ++r)
      for (int k = 0; k < dy.columns; ++k)
        dx.put(r, k, 2 * left[std::size_t(r * dy.columns + k)] * dy(r, k));
    left.clear();
  }
};

template <int W>
struct Square {
  static constexpr std::array in{W};
  static constexpr std::array out{W};
  static constexpr bool unplanned = true;
  template <class P>
  static std::unique_ptr<LayerObject> object() {
    return std::make_unique<SquareObject>();
  }
};

}  // namespace sinter::detail::testing
