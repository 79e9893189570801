// SPDX-License-Identifier: Apache-2.0
#include "run/row_prediction.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "sinter/error.hpp"
#include "sinter/program/program.hpp"

namespace sinter::detail {
namespace {

/// More rows at once make no matmul faster, and touch memory that nothing else may have touched.
constexpr int enough_rows = 512;

[[noreturn]] void refuse_recipe(const char* why) {
  throw ArgumentError(
      "this recipe's model cannot predict at each position: " + std::string(why) +
      ". In its predict_rows(), or in its predict() if it has none, let the unit that gives the "
      "result, and no other, take the last rows, by a layer that says takes_last, such as LastRow; "
      "see docs/add_a_model.md.");
}

bool is_pooled(int axis) { return axis >= token_axes; }

/// The axis whose last rows the unit takes, which has the model's result.
/// throws    ArgumentError if it does something else with rows, too
int axis_taken_in(const Model& model, int u) {
  const Block& block = model.block(u);
  const auto locals = model.locals.subspan(std::size_t(block.first_local));
  int axis = -1;
  for (const Node& node : model.nodes.subspan(block.first_node, block.nodes)) {
    for (int k = 0; k < node.layer->inputs; ++k) {
      const Local& in = locals[std::size_t(node.in[k])];
      if (is_pooled(in.axis)) continue;
      if (!node.layer->takes_last || (axis >= 0 && axis != in.axis))
        refuse_recipe("its last unit does more with the rows of a sequence than take the last one");
      axis = in.axis;
    }
  }
  for (int k = 0; k < block.inputs; ++k)
    if (is_pooled(locals[std::size_t(k)].axis)) axis = -1;
  if (axis < 0) refuse_recipe("its last unit takes what has one row for each sequence already");
  return axis;
}

int axis_taken(const Model& model) {
  const int last = model.count() - 1;
  if (model.results.size() != 1 || model.writers[std::size_t(model.results[0])] != last)
    refuse_recipe("its last unit does not give its only result");
  return axis_taken_in(model, last);
}

}  // namespace

RowPrediction::RowPrediction(const PlanView& plan, std::byte* arena, const Now& now)
    : axis(axis_taken(plan.predicting_rows)),
      model_(plan.predicting_rows),
      places_(std::size_t(model_.sizes.rows[std::size_t(axis)]) + 1),
      places_memory_(std::int64_t(places_.size() * sizeof(std::int32_t))) {
  instructions_ = plan.forward_program(model_, prediction(model_));
  const auto is_last = [&](const Instruction& i) {
    return i.kind->phases != 0 && i.what == model_.count() - 1;
  };
  tail = int(std::ranges::find_if(instructions_, is_last) - instructions_.begin());
  place_within(plan.memory.total);
  std::iota(places_.begin(), places_.end(), 0);
  shown_ = show_ids(*now.stream, places_, places_memory_.bytes().data());
  const PlacementView placement{instructions_, placement_.buffers, placement_.persistent,
                                placement_.workspace, placement_.peak};
  program = detail::bind(model_, placement, arena, now);
  program.micro = plan.micro;
}

/// Finds the maximum number of rows by bisection.
void RowPrediction::place_within(std::int64_t bytes) {
  const Sizes sizes = model_.sizes;
  const auto taken = std::size_t(pooled(axis));
  auto place_rows = [&](int rows) {
    Sizes wider = sizes;
    wider.rows[taken] = rows;
    units_ = std::make_unique<detail::EvaluationUnits>(model_, wider);
    model_ = units_->of(model_, wider);
    placement_ = place(model_, instructions_);
    at_once = rows;
    return placement_.peak <= bytes;
  };
  int low = sizes.rows[taken];  // fits: so does the prediction of the last rows alone
  int high = std::max(low, std::min(sizes.rows[std::size_t(axis)], enough_rows));
  while (low < high) {
    const int middle = low + (high - low + 1) / 2;
    if (place_rows(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  if (at_once != low && !place_rows(low)) throw Error("no prediction fits into the arena");
}

void RowPrediction::show(Part part, Now& now) const {
  now.sequences[std::size_t(axis)] = {shown_ + part.first, part.rows, part.first + part.rows};
  now.sequences[std::size_t(pooled(axis))] = {shown_, part.rows, part.rows};
}

}  // namespace sinter::detail
