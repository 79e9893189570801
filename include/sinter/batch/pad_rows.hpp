#pragma once
#include <cstdio>
#include <string>

#include "sinter/data/batch_shape.hpp"
#include "sinter/program/model.hpp"
#include "sinter/recipe/concepts.hpp"

namespace sinter {

namespace slot {
struct row_padding {
  static constexpr std::string_view name = "row_padding";
};
}  // namespace slot

/// multiple: of which the rows of a micro-batch are; 8 or 64 for tensor cores.
struct PadRowsOptions {
  int multiple = 8;
  SINTER_FIELDS((multiple).at_least(1))
};

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

/// Every micro-batch of training and evaluation gets rows at its end until their number is a
/// multiple of `multiple`: a sequence of its own with id 0 and nothing to predict, after all
/// others. So nobody's position, dropout or attention changes, the loss and all gradients get exact
/// zeros from it, and the mean is over the same predictions: what remains is that a sum over rows
/// may be split in other places. It serves matrix units that want such shapes (tensor cores:
/// Micikevicius et al. 2018) and costs a CPU up to multiple - 1 rows for nothing, so it is never
/// done unasked. Whole sequences need no padding: it is for batches of variable length.
template <PadRowsOptions O = {}>
struct PadRows {
  using slot = slot::row_padding;
  using Options = PadRowsOptions;
  using rules = RuleList<ContextIsAMultiple<O>>;
  using model_rules = RuleList<TargetsAreIds>;
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
