// SPDX-License-Identifier: Apache-2.0
// A model that classifies rows of numbers with one layer, such as a torch module.
#pragma once
#include "sinter/graph/tracer.hpp"
#include "sinter/layer/loss.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter {
namespace detail {
namespace classifier {

/// The unit that holds the layer.
template <class Layer, int In = Layer::in[0], int Classes = Layer::out[0]>
struct Network {
  static constexpr Value<Classes> trace(auto& g, Value<In> x) { return g("", Layer{}, x); }
};
/// The unit that computes the loss.
template <int Classes>
struct Loss {
  static constexpr Value<1> trace(auto& g, Value<Classes> logits, Ids classes) {
    return g("loss", CrossEntropy<Classes>{}, logits, classes);
  }
};

/// A layer with one operand of numbers and one result, and without a loss.
template <class Layer>
concept GivesLogits =
    detail::are_widths<decltype(Layer::in), 1> && detail::are_widths<decltype(Layer::out), 1> &&
    (Layer::in[0] > 0) && !requires { requires bool(Layer::loss); };

template <class Layer>
SINTER_RULE(LayerGivesLogits, GivesLogits<Layer>,
            "Classifier: Layer, in this error, does not turn one operand of numbers into one "
            "result of logits. Why: a batch has rows of numbers, the width of the result is the "
            "number of classes, and the classifier itself has the loss. Fix: give it a layer whose "
            "`in` and `out` are a std::array of one width each, without the loss; what is more "
            "than that is a model of its own, see docs/add_a_model.md.");

}  // namespace classifier
}  // namespace detail

/// A classifier made of one layer, such as Autograd<F>. Layer has one operand of numbers and one
/// result, the logits, whose width is the number of classes. A batch has values[0] inputs and
/// ids[0] classes, below zero for a row without one. If Layer pools, there is one class for each
/// sequence. The loss is the mean cross-entropy in nats, and predict() gives logits. Name is the
/// layer's unit and the prefix of its parameters' names in files; if empty, Layer's own names are
/// used.
template <class Layer, detail::Text Name = "">
struct Classifier {
  using slot = slot::model;
  using rules = RuleList<detail::classifier::LayerGivesLogits<Layer>>;

  static constexpr void trace(auto& g) {
    auto y = logits(g);
    g.result(g.unit("loss", detail::classifier::Loss<Layer::out[0]>{}, y, g.targets(y.axis)));
  }
  static constexpr void predict(auto& g) { g.result(logits(g)); }

 private:
  static constexpr auto logits(auto& g) {
    return g.unit(Name.text, detail::classifier::Network<Layer>{},
                  g.template values<Layer::in[0]>());
  }
};

}  // namespace sinter
