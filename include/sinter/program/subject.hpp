// SPDX-License-Identifier: Apache-2.0
// Printed names of the units that an instruction works on.
#pragma once
#include <algorithm>

#include "sinter/graph/names.hpp"
#include "sinter/program/model.hpp"

namespace sinter::detail {

/// The numbers of the units whose flat parts (weights, gradients, state) or values an instruction
/// touches, sorted, each once.
constexpr std::vector<int> touched_units(const Model& model, const Instruction& i) {
  TouchList list;
  i.kind->touch(model, i, list);
  std::vector<int> units;
  units.reserve(list.size());
  for (const Touch& touch : list) {
    if (touch.space == Space::input || touch.space == Space::starts ||
        touch.space == Space::decision || touch.index < 0)
      continue;
    const bool of_value = touch.space == Space::value || touch.space == Space::d_value;
    units.push_back(of_value ? model.writers[std::size_t(touch.index)] : touch.index);
  }
  std::ranges::sort(units);
  units.erase(std::unique(units.begin(), units.end()), units.end());
  return units;
}

/// Names the units that an instruction works on, as "h.3" or "h.0 … h.3, ln_f"; empty if none. `to`
/// separates the ends of a run.
constexpr TextBuilder subject_letters(const Model& model, const Instruction& i,
                                      std::string_view to = " … ") {
  const auto name = [&](int unit) {
    return unit_letters(model.nodes, model.block(unit), model.units[std::size_t(unit)]);
  };
  if (i.kind->phases != 0) return name(i.what);
  TextBuilder text;
  const std::vector<int> units = touched_units(model, i);
  for (std::size_t first = 0; first < units.size();) {
    std::size_t last = first;
    while (last + 1 < units.size() && units[last + 1] == units[last] + 1) ++last;
    if (first > 0) text += ", ";
    text += name(units[first]).view();
    if (last > first) (text += to) += name(units[last]).view();
    first = last + 1;
  }
  return text;
}

}  // namespace sinter::detail
