// SPDX-License-Identifier: Apache-2.0
// What instructions of several parallel modes touch, and what they state that ranks say to each other.
#pragma once
#include "sinter/program/kinds.hpp"

namespace sinter {

namespace touches {
/// Uses the gradients that backward makes of a run of units: as transfers do, and those that wait for them.
template <Use U>
constexpr void gradients(const Model& model, const Instruction& i, TouchList& out) {
  each(model, i, U, model.gradients, out);
}
/// So uses what layers read of the weights: the copy of the weights, or the masters.
template <Use U>
constexpr void weights(const Model& model, const Instruction& i, TouchList& out) {
  each(model, i, U, model.weights, out);
}
}  // namespace touches

namespace traffic {
/// The element of what layers read of the weights.
constexpr Element element_of_weights(const Model& model) {
  return model.sizes.element[int(model.weights == Space::master ? Type::master : Type::compute)];
}
/// States that losses, votes and squares of gradients are summed: the first three numbers of
/// kernel::Decision.
constexpr void norm(const Model&, const Instruction&, const OnRank&, TrafficList& out) {
  out.push_back({Operation::all_reduce, Traffic::both, Space::decision, 0, 3, Element::f64});
}
}  // namespace traffic

}  // namespace sinter
