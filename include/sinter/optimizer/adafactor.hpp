// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/kernels/adafactor.hpp"
#include "sinter/optimizer/rules.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter {

namespace detail {
SINTER_RULE(AdafactorHasOneRate,
            (!R::optimizer::options.relative_step ||
             R::optimizer::options.lr == AdafactorOptions{}.lr) &&
                (R::optimizer::options.relative_step || !R::optimizer::options.warmup_init),
            "Adafactor: lr is given beside relative_step, or warmup_init without it. Why: a "
            "relative step makes the rate from the number of the step, and only it can warm up. "
            "Fix: leave out one of the two.");
}  // namespace detail

/// Adafactor (Shazeer and Stern 2018) with the arithmetic of transformers' Adafactor, and by
/// default with the settings of its Trainer. A matrix's second moment is stored as one number per
/// row and one per column.
template <AdafactorOptions O = {}>
struct Adafactor {
  using slot = slot::optimizer;
  using Options = AdafactorOptions;
  using rules =
      RuleList<detail::AdafactorHasOneRate, detail::MastersAreFloat, detail::NotClippedByValue>;
  static constexpr Options options = O;
  static constexpr Offer offered{"Adafactor<>", 110};
  static constexpr std::string_view why_fixed(std::string_view option) {
    if (!O.relative_step || option != "lr") return "";
    return "relative_step makes the rate from the number of the step, and nothing reads lr";
  }
  static constexpr bool by_parameter = true;
  static constexpr bool casts = true;

  /// The shape of exp_avg_sq_row; for a vector it has one number per element.
  static constexpr detail::StateShape of_rows(const detail::Layer& layer, int number) {
    const Param& p = layer.params[number];
    return {Element::f32, 1,
            kernel::adafactor_factored(p.rows, p.columns) ? p.rows : int(p.size())};
  }
  /// The shape of exp_avg_sq_col; empty for a vector.
  static constexpr detail::StateShape of_columns(const detail::Layer& layer, int number) {
    const Param& p = layer.params[number];
    return {Element::f32, kernel::adafactor_factored(p.rows, p.columns) ? 1 : 0, p.columns};
  }
  static constexpr auto regions = [] {
    constexpr Region rows{"exp_avg_sq_row", Type::state, nullptr, of_rows},
        columns{"exp_avg_sq_col", Type::state, nullptr, of_columns};
    if constexpr (O.beta1 != 0) {
      return std::array{rows, columns, Region{"exp_avg"}};
    } else {
      return std::array{rows, columns};
    }
  }();
  static constexpr std::int64_t workspace(const detail::Layer& layer, int number) {
    const Param& p = layer.params[number];
    return std::int64_t(sizeof(float)) * kernel::adafactor_scratch(p.rows, p.columns);
  }

  static constexpr double learning_rate(const Options& o) { return o.lr; }
  /// The rate at a step, counted from 1, before the schedule.
  static double learning_rate(const Options& o, std::int64_t step) {
    return o.relative_step ? kernel::adafactor_rate(step, o.warmup_init) : o.lr;
  }
  static void update(const Options& o, const auto& s) {
    auto state = [&](int region) { return s.template part<float>(region); };
    kernel::adafactor(
        o, s, {state(0), state(1), o.beta1 != 0 ? state(2) : nullptr, s.template scratch<float>()},
        s.rows, s.columns);
  }
};

}  // namespace sinter
