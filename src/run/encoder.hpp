// SPDX-License-Identifier: Apache-2.0
// The encoder of a model: the units that have to do with rows of axis 1 alone.
#pragma once
#include <algorithm>
#include <string_view>

#include "sinter/plan/plan_view.hpp"
#include "sinter/program/model.hpp"

namespace sinter::detail {

/// True if all that a unit reads, computes and gives has the rows of axis 1.
constexpr bool is_of_encoder(const Model& model, int unit) {
  const Block& block = model.block(unit);
  const auto locals = model.locals.subspan(std::size_t(block.first_local));
  return std::ranges::all_of(locals.first(std::size_t(block.locals)),
                             [](const Local& local) { return local.axis == 1; });
}

/// The only value that units of the encoder give to others; -1 if there are none, or several.
constexpr int encoded_value(const Model& model) {
  int found = -1;
  for (int u = 0; u < model.count(); ++u) {
    if (is_of_encoder(model, u)) continue;
    for (int k = 0; k < model.block(u).inputs; ++k) {
      const int in = model.units[std::size_t(u)].in[std::size_t(k)];
      if (in < 0 || !is_of_encoder(model, model.writers[std::size_t(in)])) continue;
      if (found >= 0 && found != in) return -1;
      found = in;
    }
  }
  return found;
}

/// The bytes of a row of encoded_value().
/// requires  there is one
constexpr std::int64_t encoded_row_bytes(const Model& model) {
  return std::int64_t(model.local(encoded_value(model)).width) * model.sizes.of(Type::compute);
}

/// The buffer of encoded_value() in a program of the model.
/// requires  there is one
constexpr const Buffer& encoded_buffer(const Model& model, const PlacementView& program) {
  const int value = encoded_value(model);
  return *std::ranges::find_if(program.buffers, [&](const Buffer& b) {
    return b.space == Space::value && b.index == value;
  });
}

/// True if two nodes compute the same, given the same operands and weights.
constexpr bool are_same(const Node& a, const Node& b) {
  return a.layer == b.layer && a.in == b.in && a.out == b.out && std::string_view(a.name) == b.name;
}
/// True if two units do, given inputs of the same numbers.
constexpr bool are_same_units(const Model& a, int u, const Model& b, int v) {
  const Unit &x = a.units[std::size_t(u)], &y = b.units[std::size_t(v)];
  const auto nodes = [](const Model& model, const Block& block) {
    return model.nodes.subspan(std::size_t(block.first_node), std::size_t(block.nodes));
  };
  return std::string_view(x.name) == y.name && x.index == y.index && x.in == y.in &&
         x.first_value == y.first_value &&
         std::ranges::equal(nodes(a, a.block(u)), nodes(b, b.block(v)), are_same);
}

/// True if both models have an encoder with an encoded_value(), both begin with its units, and these
/// compute the same from the same weights.
constexpr bool have_same_encoder(const Model& a, const Model& b) {
  const int value = encoded_value(a);
  if (value < 0 || value != encoded_value(b)) return false;
  int u = 0;
  for (; u < std::min(a.count(), b.count()) && is_of_encoder(a, u); ++u)
    if (!is_of_encoder(b, u) || !are_same_units(a, u, b, u)) return false;
  const auto has_others = [&](const Model& model) {
    for (int k = u; k < model.count(); ++k)
      if (is_of_encoder(model, k)) return true;
    return false;
  };
  return !has_others(a) && !has_others(b) && a.sizes.of(Type::compute) == b.sizes.of(Type::compute);
}

}  // namespace sinter::detail
