// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdio>
#include <string>

#include "sinter/data/batch_shape.hpp"
#include "sinter/policy/concepts.hpp"
#include "sinter/program/model.hpp"

namespace sinter {

namespace slot {
/// The slot of PadRows, which pads micro-batches.
struct row_padding {
  static constexpr std::string_view name = "row_padding";
};
}  // namespace slot

struct PadRowsOptions {
  int multiple = 8;  ///< rows are padded to a multiple of this; tensor cores want 8 or 64
  SINTER_FIELDS((multiple).at_least(1))
};

namespace detail {
template <PadRowsOptions O>
SINTER_RULE(ContextIsAMultiple, R::data::context % O.multiple == 0,
            "PadRows: the context is no multiple of `multiple`. Why: rows are padded up to the "
            "arena's micro × context and never beyond it, by a sequence that is not longer than "
            "the context. Fix: a context that is a multiple of it, or a smaller multiple.");
SINTER_MODEL_RULE(TargetsAreIds,
                  std::ranges::none_of(model.externals,
                                       [](const External& e) { return e.targets && e.width > 0; }),
                  "PadRows: a target of this model is numbers. Why: rows of padding are kept out "
                  "of the loss by the id -1, and numbers have none. Fix: leave PadRows out.");
SINTER_MODEL_RULE(
    OneAxis, !model.has_second_axis(),
    "PadRows: the model has an input on axis 1. Why: padding is a sequence more, and both axes "
    "must have the same number of them, whichever is padded. Fix: leave PadRows out.");
SINTER_MODEL_RULE(
    RowsStayApart, !model.unplanned(),
    "PadRows: a layer of this model computes outside of Sinter, as Autograd does. Why: it cannot "
    "tell rows of padding from others, and what it takes over all rows, such as the statistics of "
    "a batch norm, would count them. Fix: leave PadRows out.");
}  // namespace detail

/// Pads every micro-batch of training and evaluation to a multiple of `multiple` rows. The padding
/// is one more sequence after all others, with id 0 and no targets. Positions, dropout and
/// attention of other rows therefore do not change, and the padding adds exact zeros to the loss
/// and all gradients. The mean is over the same predictions; only a sum over rows may be split
/// differently. Padding helps matrix units that want such shapes (tensor cores: Micikevicius et al.
/// 2018). On a CPU it wastes up to multiple - 1 rows, so it is off by default. It is for batches of
/// variable length.
template <PadRowsOptions O = {}>
struct PadRows {
  using slot = slot::row_padding;
  using Options = PadRowsOptions;
  using rules = RuleList<detail::ContextIsAMultiple<O>>;
  using model_rules = RuleList<detail::TargetsAreIds, detail::OneAxis, detail::RowsStayApart>;
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
