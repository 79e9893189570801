// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdio>
#include <string>

#include "sinter/data/batch_shape.hpp"
#include "sinter/policy/concepts.hpp"
#include "sinter/program/model.hpp"

namespace sinter {

namespace slot {
/// Whether micro-batches are padded (PadRows).
struct row_padding {
  static constexpr std::string_view name = "row_padding";
};
}  // namespace slot

struct PadRowsOptions {
  int multiple = 8;  ///< rows are padded to a multiple of this; tensor cores want 8 or 64
  SINTER_FIELDS((multiple).at_least(1))
};

/// A rule: whole sequences need no padding.
template <PadRowsOptions O>
struct ContextIsAMultiple {
  template <class R>
  static constexpr bool holds = R::data::context % O.multiple == 0;
  template <class R>
  static auto enforce() {
    static_assert(holds<R>,
                  "PadRows: the context is no multiple of `multiple`. Why: rows are padded up to "
                  "the arena's micro × context and never beyond it, by a sequence that is not "
                  "longer than the context. Fix: a context that is a multiple of it, or a smaller "
                  "multiple.");
  }
};

/// A rule of the model: no target is numbers.
struct TargetsAreIds {
  static constexpr bool holds(const Model& model) {
    for (const External& e : model.externals)
      if (e.targets && e.width > 0) return false;
    return true;
  }
  template <class R>
  static auto enforce() {
    static_assert(
        sizeof(R) == 0,
        "PadRows: a target of this model is numbers. Why: rows of padding are kept out of "
        "the loss by the id -1, and numbers have none. Fix: leave PadRows out.");
  }
};

/// A rule of the model: all of its inputs have the rows or the sequences of axis 0.
struct OneAxis {
  static constexpr bool holds(const Model& model) { return !model.has_second_axis(); }
  template <class R>
  static auto enforce() {
    static_assert(sizeof(R) == 0,
                  "PadRows: the model has an input on axis 1. Why: padding is a sequence more, and "
                  "both axes must have the same number of them, whichever is padded. Fix: leave "
                  "PadRows out.");
  }
};

/// A rule of the model: no layer sees more of rows than Sinter's do.
struct RowsStayApart {
  static constexpr bool holds(const Model& model) { return !model.unplanned(); }
  template <class R>
  static auto enforce() {
    static_assert(sizeof(R) == 0,
                  "PadRows: a layer of this model computes outside of Sinter, as Autograd does. "
                  "Why: it cannot tell rows of padding from others, and what it takes over all "
                  "rows, such as the statistics of a batch norm, would count them. Fix: leave "
                  "PadRows out.");
  }
};

/// Pads every micro-batch of training and evaluation until the number of its rows is a multiple of
/// `multiple`. The padding is a sequence of its own after all others, with id 0 and nothing to
/// predict. So the position, dropout and attention of other rows stay as they are, the loss and all
/// gradients get exact zeros from the padding, and the mean is over the same predictions; only a
/// sum over rows may be split in other places. Padding serves matrix units that want such shapes
/// (tensor cores: Micikevicius et al. 2018) and costs a CPU up to multiple - 1 rows for nothing, so
/// it is never done unasked. It is for batches of variable length, as whole sequences need none.
template <PadRowsOptions O = {}>
struct PadRows {
  using slot = slot::row_padding;
  using Options = PadRowsOptions;
  using rules = RuleList<ContextIsAMultiple<O>>;
  using model_rules = RuleList<TargetsAreIds, OneAxis, RowsStayApart>;
  static constexpr Options options = O;
  static constexpr int row_multiple = O.multiple;

  template <class R>
  static std::string note(const Options& o, const BatchLimits&) {
    char text[160];
    std::snprintf(text, sizeof text,
                  "each micro-batch is padded to a multiple of %d rows, with rows that predict "
                  "nothing",
                  o.multiple);
    return text;
  }
};

}  // namespace sinter
