// SPDX-License-Identifier: Apache-2.0
// The effect of a touch on the lifetime of a buffer, and a table with a cell for each buffer that a
// program may touch. Placing, verifying and binding share both, and differ only in what their cells
// hold.
#pragma once
#include <algorithm>

#include "sinter/program/model.hpp"

namespace sinter::detail {

/// True if a use does not require an open buffer.
constexpr bool may_open(Use use) {
  return use == Use::write || use == Use::fetch || use == Use::accumulate;
}
/// True if a use opens a buffer. Accumulate only adds to a buffer that is open.
constexpr bool opens(Use use, bool is_open) {
  return may_open(use) && !(use == Use::accumulate && is_open);
}
/// True if a use closes the buffer.
constexpr bool closes(Use use) { return use == Use::consume; }
/// True if a use changes what the buffer holds.
constexpr bool changes(Use use) {
  return may_open(use) || use == Use::modify || use == Use::exchange;
}
/// True if a space's content follows from a micro-batch, so that each micro-batch has its own.
constexpr bool follows_from_batch(Space space) {
  return space == Space::input || space == Space::starts || space == Space::value ||
         space == Space::d_value || space == Space::saved;
}
/// True if a buffer that this instruction opens serves all iterations of the loop, as it is opened
/// outside the loop, or only in the first iteration.
constexpr bool carries(const Instruction& i, bool in_loop) {
  return !in_loop || i.when == When::first;
}

/// A cell for each (space, index) that a program of a model may touch, in the spaces before
/// `region` and in each region.
template <class Cell>
class CellTable {
  int numbers;  // indices in each space
  std::vector<Cell> cells;

 public:
  /// Makes all cells equal to `initial`.
  constexpr explicit CellTable(const Model& model, const Cell& initial = {})
      : numbers(
            std::max({1, model.count(), int(model.writers.size()), int(model.externals.size())})),
        cells((std::size_t(Space::region) + model.regions.size()) * std::size_t(numbers), initial) {
  }
  /// The cell of a buffer.
  constexpr Cell& at(Space space, int index) {
    return cells[std::size_t(int(space) * numbers + index)];
  }
  /// The cell of the buffer that a touch names.
  constexpr Cell& of(const Touch& touch) { return at(touch.space, touch.index); }
  /// All cells, in no particular order.
  constexpr const std::vector<Cell>& all() const { return cells; }
};

}  // namespace sinter::detail
