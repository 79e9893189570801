// SPDX-License-Identifier: Apache-2.0
// Evaluation in the arena of training. Evaluation saves nothing for backward, so it can take more
// sequences at once.
#pragma once
#include <limits>

#include "sinter/plan/plan_view.hpp"
#include "sinter/plan/unit_planner.hpp"
#include "sinter/program/program.hpp"

namespace sinter::detail {

/// Maximum number of sequences that are evaluated at once, even if more fit. A run stops only after
/// the current batch, and more than 2,048 rows were slower on the CPU of the measurement (1 MiB of
/// L2 a core).
constexpr int evaluation_bound(int micro, int context) {
  constexpr int enough_rows = 1 << 11;
  const std::int64_t wider = std::max<std::int64_t>(2 * std::int64_t(micro), enough_rows / context);
  return int(std::min<std::int64_t>(wider, std::numeric_limits<int>::max() / context));
}

/// Sizes for `sequences` sequences, from `sizes` for `micro` of them.
constexpr Sizes sizes_for(Sizes sizes, int micro, int sequences) {
  for (int& rows : sizes.rows) rows = int(std::int64_t(rows) * sequences / micro);
  return sizes;
}

/// The units of a model, planned only for evaluation.
struct EvaluationUnits {
  std::vector<UnitPlan> plans;
  std::vector<LayerCall> layer_calls;

  constexpr EvaluationUnits(const Model& model, const Sizes& sizes, const Caching& caching = {}) {
    Graph graph;
    graph.locals.assign(model.locals.begin(), model.locals.end());
    graph.nodes.assign(model.nodes.begin(), model.nodes.end());
    plans.reserve(model.plans.size());
    layer_calls.reserve(model.nodes.size());
    for (const Block& block : model.blocks)
      plans.push_back(UnitPlanner(graph, block, sizes, nullptr, false, layer_calls, caching).plan);
    // Blocks that are kept whole have the same plans, as nothing is saved for backward.
    while (plans.size() < model.plans.size())
      plans.push_back(plans[plans.size() - model.blocks.size()]);
  }
  constexpr Model of(Model model, const Sizes& sizes) const {
    model.plans = plans;
    model.layer_calls = layer_calls;
    model.sizes = sizes;
    return model;
  }
};

/// Bytes of the arena that an evaluation of `sequences` sequences at once needs.
constexpr std::int64_t evaluation_bytes(const Model& model, int micro, int sequences,
                                        ForwardProgram forward_program) {
  const Sizes sizes = sizes_for(model.sizes, micro, sequences);
  const EvaluationUnits units(model, sizes);
  const Model wider = units.of(model, sizes);
  return place(wider, forward_program(wider, evaluation(wider))).peak;
}

/// The state of a search for the maximum number of sequences that an evaluation can take.
struct EvaluationSearch {
  int low, high;           // `low` sequences fit, more than `high` do not
  std::int64_t low_bytes;  // bytes that `low` sequences need
  std::int64_t budget;     // bytes into which they must fit
  int next;                // number of sequences to try next

  constexpr EvaluationSearch(int micro, int most, std::int64_t persistent, std::int64_t bytes,
                             std::int64_t b)
      : low(micro), high(most), low_bytes(bytes), budget(b), next(micro) {
    if (bytes <= persistent || bytes > budget) return;
    aim(micro, bytes - persistent);
  }
  /// Sets `next` to the number that fits if bytes grow linearly, by `more` for each `sequences`.
  /// (They nearly do.)
  constexpr void aim(std::int64_t sequences, std::int64_t more) {
    if (low >= high) return;
    const std::int64_t further = more > 0 ? (budget - low_bytes) * sequences / more : high - low;
    next = int(std::min<std::int64_t>(low + further, high));
  }
  /// The search after a trial in which `next` sequences needed `bytes`.
  [[nodiscard]] constexpr EvaluationSearch after(std::int64_t bytes) const {
    EvaluationSearch s = *this;
    if (bytes <= budget) {
      s.low = next;
      s.low_bytes = bytes;
    } else {
      s.high = next - 1;
    }
    s.aim(next - low, bytes - low_bytes);
    return s;
  }
};

/// The largest micro-batch of evaluation whose program fits into the budget, found in a few
/// placements. (Each is a separate constant expression, as compilers limit the cost of one.) The
/// first try follows from the ratio of bytes. It is nearly right, as all memory except the chunks
/// of losses grows with the rows.
template <const Model& model, int Micro, EvaluationSearch Search, ForwardProgram Forward,
          int Tries = 6>
constexpr int max_sequences() {
  if constexpr (Tries == 0 || Search.low >= Search.high || Search.next <= Search.low) {
    return Search.low;
  } else {
    constexpr std::int64_t bytes = evaluation_bytes(model, Micro, Search.next, Forward);
    return max_sequences<model, Micro, Search.after(bytes), Forward, Tries - 1>();
  }
}

}  // namespace sinter::detail
