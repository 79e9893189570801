// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/graph/tracer.hpp"
#include "sinter/layer/activation.hpp"
#include "sinter/layer/init.hpp"
#include "sinter/layer/linear.hpp"
#include "sinter/layer/loss.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter {

struct MlpOptions {
  int in = 1;       ///< features of a row of input
  int hidden = 64;  ///< the width of each hidden layer
  int out = 1;      ///< features of a row of output; for a classifier, the number of classes
  int layers = 2;   ///< total number of linear layers
  /// True if the model is a classifier: a row's target is a class, an id below `out`, its output is
  /// the logits of all classes, and the loss is the cross-entropy.
  bool classifier = false;
  SINTER_FIELDS((in).at_least(1), (hidden).at_least(1), (out).at_least(1), (layers).at_least(2),
                (classifier))
};

namespace detail {
namespace mlp {

/// A linear layer with torch.nn.Linear's layout and initial values.
template <int In, bool IsHidden = false>
inline constexpr LinearOptions like_torch{.layout = WeightLayout::out_in,
                                          .weight = Init::uniform(float(1 / square_root(In))),
                                          .bias = Init::uniform(float(1 / square_root(In))),
                                          .hidden = IsHidden};

/// The first layer: linear, then ReLU.
template <int In, int Out>
struct Input {
  static constexpr Value<Out> trace(auto& g, Value<In> x) {
    return g("act", Relu<Out>{}, g("", Linear<In, Out, like_torch<In>>{}, x));
  }
};
/// A hidden layer: linear, then ReLU.
template <int W>
struct Hidden {
  static constexpr Value<W> trace(auto& g, Value<W> x) {
    return g("act", Relu<W>{}, g("", Linear<W, W, like_torch<W, true>>{}, x));
  }
};
/// The last layer: linear.
template <int In, int Out>
struct Output {
  static constexpr Value<Out> trace(auto& g, Value<In> x) {
    return g("", Linear<In, Out, like_torch<In>>{}, x);
  }
};
/// The last layer and the mean squared error.
template <int In, int Out>
struct Loss {
  static constexpr Value<1> trace(auto& g, Value<In> x, Value<Out> target) {
    auto y = g("", Linear<In, Out, like_torch<In>>{}, x);
    return g("loss", MeanSquaredError<Out>{}, y, target);
  }
};

/// The last layer of a classifier and the cross-entropy.
template <int In, int Classes>
struct ClassLoss {
  static constexpr Value<1> trace(auto& g, Value<In> x, Ids classes) {
    auto logits = g("", Linear<In, Classes, like_torch<In>>{}, x);
    return g("loss", CrossEntropy<Classes>{}, logits, classes);
  }
};

}  // namespace mlp
}  // namespace detail

/// A multilayer perceptron with ReLU. For regression, a batch has values[0] inputs and values[1]
/// targets, and the loss is the mean squared error over all numbers of all targets. For a
/// classifier, a batch has values[0] inputs and ids[0] classes, below zero for a row without one;
/// the loss is the mean cross-entropy in nats, and predict() gives logits. The units are input,
/// hidden.0 … and output, each with a weight and a bias.
template <MlpOptions O = {}>
struct Mlp {
  using slot = slot::model;
  using Options = MlpOptions;
  static constexpr Options options = O;

  static constexpr void trace(auto& g) {
    auto x = body(g, g.template values<O.in>());
    if constexpr (O.classifier) {
      g.result(g.unit("output", detail::mlp::ClassLoss<O.hidden, O.out>{}, x, g.targets()));
    } else {
      auto target = g.template target_values<O.out>();
      g.result(g.unit("output", detail::mlp::Loss<O.hidden, O.out>{}, x, target));
    }
  }
  static constexpr void predict(auto& g) {
    auto x = body(g, g.template values<O.in>());
    g.result(g.unit("output", detail::mlp::Output<O.hidden, O.out>{}, x));
  }

 private:
  static constexpr Value<O.hidden> body(auto& g, Value<O.in> x) {
    auto h = g.unit("input", detail::mlp::Input<O.in, O.hidden>{}, x);
    if constexpr (O.layers > 2)
      h = g.repeat(O.layers - 2, "hidden", detail::mlp::Hidden<O.hidden>{}, h);
    return h;
  }
};

}  // namespace sinter
