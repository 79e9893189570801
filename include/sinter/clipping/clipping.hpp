// SPDX-License-Identifier: Apache-2.0
// The instruction `norm`, made of a clipping policy. This folder holds the slot `clipping`.
#pragma once
#include "sinter/policy/slot_hooks.hpp"
#include "sinter/program/kinds.hpp"
#include "sinter/run/machine.hpp"

namespace sinter {

namespace touches {
/// States what `norm` touches: it reads gradients and changes the decision.
constexpr void norm(const Model& model, const Instruction& i, TouchList& out) {
  each(model, i, Use::read, Space::gradient, out);
  decision(Use::modify, out);
}
}  // namespace touches

namespace detail {
namespace executes {
/// The bounds that Clipping sets on gradients, with its current options.
template <class Clipping>
kernel::ClippingRule clipping_rule(const Machine& machine) {
  const auto& options = machine.options<Clipping>();
  return {.bound = Clipping::bound(options), .limit = hook::limit<Clipping>(options)};
}

/// Computes the norm of all gradients, over all ranks, whether the step is applied (norm and loss
/// are finite), and the scale and limit of gradients that `update` applies.
template <class Clipping>
void norm(Machine& machine, const Bound&) {
  take_norm(machine, clipping_rule<Clipping>(machine));
}
}  // namespace executes

/// The kind of the instruction that measures the norm and applies Clipping's rule.
template <class Clipping>
inline constexpr Kind norm_kind{.name = "norm",
                                .touch = touches::norm,
                                .run = executes::norm<Clipping>,
                                .role = Role::norm,
                                .by_shards = true,
                                .traffic = traffic::norm};
}  // namespace detail

}  // namespace sinter
