// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>

#include "sinter/base/text.hpp"
#include "sinter/metric/metric.hpp"
#include "sinter/policy/concepts.hpp"
#include "sinter/schedule/warmup.hpp"

namespace sinter {

/// Options of Plateau. The rate is lowered after more than `patience` evaluations in a row whose
/// loss is not below best × (1 - threshold), or whose metric, if greater is better, is not above
/// best × (1 + threshold).
struct PlateauOptions {
  std::int64_t warmup = 0;  ///< steps of linear growth
  double factor = 0.1;      ///< multiplies the rate when it is lowered
  int patience = 10;        ///< allowed evaluations in a row without a better figure
  double threshold = 1e-4;  ///< relative change from which a figure counts as better
  int cooldown = 0;         ///< evaluations that do not count after the rate was lowered
  double floor = 0;         ///< minimum factor of the learning rate
  SINTER_FIELDS((warmup).at_least(0).adjustable(), (factor).above(0).below(1).adjustable(),
                (patience).at_least(0).adjustable(), (threshold).at_least(0).below(1).adjustable(),
                (cooldown).at_least(0).adjustable(), (floor).at_least(0).at_most(1).adjustable())
};

struct PlateauState {
  /// The best figure; this largest number if there is none.
  double best = std::numeric_limits<double>::max();
  int waited = 0;      ///< evaluations in a row without a better figure
  int cooling = 0;     ///< remaining evaluations that do not count
  double factor = 1;   ///< factor of the learning rate
  double watched = 0;  ///< a number for the name of the metric that `best` is of; 0 for the loss
  SINTER_FIELDS((best), (waited), (cooling), (factor), (watched))
};

namespace detail {
/// A number that tells names of metrics apart; 0 for no name.
constexpr double number_of_name(std::string_view name) {
  std::uint32_t hash = name.empty() ? 0 : 2166136261u;  // FNV-1a
  for (const char letter : name) hash = (hash ^ std::uint8_t(letter)) * 16777619u;
  return hash;
}
}  // namespace detail

/// Lowers the learning rate when the validation loss stops falling, like torch's ReduceLROnPlateau
/// in mode "min". Each evaluation counts as one of its epochs. Plateau<{}, "accuracy"> watches a
/// metric of the recipe instead, in mode "max" if greater is better. A figure that is NaN is not
/// better. A run that goes on with another metric begins its count anew, and keeps the rate.
template <PlateauOptions O = {}, detail::Text Metric = "">
struct Plateau {
  using slot = slot::schedule;
  using Options = PlateauOptions;
  using State = PlateauState;
  static constexpr Options options = O;

  static constexpr double factor(const Options& o, const State& s, std::int64_t step) {
    return detail::warmup_factor(step, o.warmup) * s.factor;
  }
  static constexpr std::string_view watches = Metric.text;  ///< the metric; "" or "loss": the loss
  static constexpr void after_evaluation(const Options& o, State& s, const Watched& figure) {
    const double of_name = detail::number_of_name(figure.name);
    if (s.watched != of_name) s = {.factor = s.factor, .watched = of_name};
    if (is_better(o, s, figure)) {
      s.best = figure.value;
      s.waited = 0;
    } else {
      ++s.waited;
    }
    if (s.cooling > 0) {
      --s.cooling;
      s.waited = 0;
    }
    if (s.waited <= o.patience) return;
    s.factor = std::max(s.factor * o.factor, o.floor);
    s.cooling = o.cooldown;
    s.waited = 0;
  }

 private:
  static constexpr bool is_better(const Options& o, const State& s, const Watched& figure) {
    if (!figure.greater_is_better) return figure.value < s.best * (1 - o.threshold);
    const bool is_first = s.best == State().best;
    return is_first ? figure.value == figure.value : figure.value > s.best * (1 + o.threshold);
  }
};

}  // namespace sinter
