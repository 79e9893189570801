// SPDX-License-Identifier: Apache-2.0
// What a touch does to the lifetime of a buffer, and a table with a cell for each buffer that a
// program may touch. Placing, verifying and binding keep different things in their cells, but agree
// on this.
#pragma once
#include <algorithm>

#include "sinter/program/model.hpp"

namespace sinter {

/// Whether a use does not need the buffer to be open.
constexpr bool may_open(Use use) {
  return use == Use::write || use == Use::fetch || use == Use::accumulate;
}
/// Whether a use opens a buffer: one that is open already is only added to by accumulate.
constexpr bool opens(Use use, bool is_open) {
  return may_open(use) && !(use == Use::accumulate && is_open);
}
/// Whether a use closes the buffer.
constexpr bool closes(Use use) { return use == Use::consume; }
/// Whether a use changes what the buffer holds.
constexpr bool changes(Use use) {
  return may_open(use) || use == Use::modify || use == Use::exchange;
}
/// Whether what a space holds follows from a micro-batch, so that each has its own.
constexpr bool follows_from_batch(Space space) {
  return space == Space::input || space == Space::value || space == Space::d_value ||
         space == Space::saved;
}
/// Whether a buffer that this instruction opens serves all iterations of the loop: it does if it is
/// opened outside the loop, or by the first iteration alone.
constexpr bool carries(const Instruction& i, bool in_loop) {
  return !in_loop || i.when == When::first;
}

/// A cell for each (space, number) that a program of a model may touch: those of the spaces up to
/// `region`, and of each region.
template <class Cell>
class CellTable {
  int numbers;  // in each space
  std::vector<Cell> cells;

 public:
  constexpr explicit CellTable(const Model& model, const Cell& initial = {})
      : numbers(
            std::max({1, model.count(), int(model.writers.size()), int(model.externals.size())})),
        cells((std::size_t(Space::region) + model.regions.size()) * std::size_t(numbers), initial) {
  }
  constexpr Cell& at(Space space, int index) {
    return cells[std::size_t(int(space) * numbers + index)];
  }
  constexpr Cell& of(const Touch& touch) { return at(touch.space, touch.index); }
  /// All cells, in no order that means anything.
  constexpr const std::vector<Cell>& all() const { return cells; }
};

}  // namespace sinter
