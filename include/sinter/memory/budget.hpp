// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdio>
#include <string>
#include <type_traits>

#include "sinter/memory/checkpoint.hpp"
#include "sinter/memory/keep_all.hpp"

namespace sinter {

struct BudgetOptions {
  std::int64_t bytes = std::int64_t(1) << 30;  ///< maximum size of one rank's arena, in bytes
  SINTER_FIELDS((bytes).at_least(1))
};

namespace detail {
/// A recipe with the memory mode and the micro-batch that Budget chose for it.
template <class R, class Mode, int Micro>
struct Fitted : R {
  /// The chosen mode.
  using memory = Mode;
  /// The batch policy with the chosen micro-batch.
  struct batch : R::batch {
    static constexpr int micro = Micro;  ///< sequences of a micro-batch
  };
};

/// Gives the compile error of a budget that is too small. All numbers are bytes.
template <class Recipe, std::int64_t Budget, std::int64_t Least, std::int64_t Shortfall>
auto the_budget_is_too_small() {
  static_assert(Least <= Budget,
                "Budget: nothing fits. What: the least that this recipe needs, with every unit "
                "recomputed and micro-batches of one sequence, is Least bytes, more than Budget by "
                "Shortfall; all three are in this error. Why: the plan is exact, so it would not "
                "run. Fix: more bytes, a shorter context, a smaller model, or an optimizer with "
                "less state.");
}

/// The largest divisor of `global` that is at most `limit`.
constexpr int micro_up_to(int limit, int global) {
  while (limit > 1 && global % limit != 0) --limit;
  return limit;
}

/// The largest divisor of the global batch, at most Most, with which the recipe's rules hold,
/// including those of ranks and ramps. 1 if the rules hold with none.
template <class R, int Most>
constexpr int legal_micro() {
  constexpr int micro = micro_up_to(Most, R::batch::options.global);
  using Candidate = Fitted<R, KeepAll, micro>;
  if constexpr (micro <= 1 || Candidate::template may_exist<Candidate>()) {
    return micro;
  } else {
    return legal_micro<R, micro - 1>();
  }
}

/// The recipe with the first of these memory modes that fits, and the largest micro-batch that fits
/// with it. If none fits, it has the last mode and the smallest micro-batch. PlanOf is the planner.
template <class R, template <class> class PlanOf, std::int64_t Bytes, int Micro, class Mode,
          class... Modes>
constexpr auto fit() {
  using Candidate = Fitted<R, Mode, Micro>;
  if constexpr (PlanOf<Candidate>::bytes <= Bytes) {
    return std::type_identity<Candidate>{};
  } else if constexpr (Micro > 1) {
    return fit<R, PlanOf, Bytes, legal_micro<R, Micro - 1>(), Mode, Modes...>();
  } else if constexpr (sizeof...(Modes) > 0) {
    return fit<R, PlanOf, Bytes, legal_micro<R, R::batch::micro>(), Modes...>();
  } else {
    return std::type_identity<Candidate>{};
  }
}

SINTER_MODEL_RULE(
    AllIsPlanned, !model.unplanned(),
    "Budget: a layer of this model takes memory that is not planned, as Autograd does. Why: the "
    "budget would count the arena alone, and the run would take more. Fix: leave Budget out and "
    "choose a memory policy, such as Checkpoint<>; the verb train says what its first step took.");
}  // namespace detail

/// Chooses, at compile time, how the step fits into `bytes`: first the least recomputation that
/// suffices (none, selective, full), then the largest micro-batch, up to Batch's `micro`, with
/// which the recipe's rules hold. Smaller micro-batches are tried before recomputation, as they are
/// cheaper: measured on a CPU, halving them costs 0 to 4 % of the time and saves more. `describe`
/// prints the choice and the reason. If nothing fits, the recipe does not compile.
template <BudgetOptions O>
struct Budget {
  using slot = slot::memory;
  using Options = BudgetOptions;
  using model_rules = RuleList<detail::AllIsPlanned>;
  static constexpr Options options = O;
  static constexpr bool recomputed_inside(const detail::Layer&) { return false; }

  /// The recipe that is planned instead of R. PlanOf is the planner.
  template <class R, template <class> class PlanOf>
  using Chosen =
      typename decltype(detail::fit<R, PlanOf, O.bytes, detail::legal_micro<R, R::batch::micro>(),
                                    KeepAll, Checkpoint<{.policy = selective}>,
                                    Checkpoint<{.policy = full}>>())::type;

  /// True if the recipe chosen for R fits. If it does not, that is a compile error.
  template <class R, template <class> class PlanOf>
  [[nodiscard]] static constexpr bool fits() {
    constexpr std::int64_t needed = PlanOf<R>::bytes;
    if constexpr (needed > O.bytes)
      (void)&detail::the_budget_is_too_small<R, O.bytes, needed, needed - O.bytes>;
    return needed <= O.bytes;
  }

  template <class R, template <class> class PlanOf>
  static std::string note() {
    using C = Chosen<R, PlanOf>;
    constexpr int largest = detail::legal_micro<R, R::batch::micro>();
    auto mebibytes = [](std::int64_t bytes) { return double(bytes) / (1 << 20); };
    char text[320];
    int end = std::snprintf(text, sizeof text,
                            "the budget of %.1f MiB: %s, micro-batches of %d: %.1f MiB",
                            mebibytes(O.bytes), mode<typename C::memory>(), C::batch::micro,
                            mebibytes(PlanOf<C>::bytes));
    if (C::batch::micro == largest && std::is_same_v<typename C::memory, KeepAll>) return text;
    std::snprintf(text + end, sizeof text - std::size_t(end),
                  "; keeping everything with micro-batches of %d would need %.1f MiB", largest,
                  mebibytes(PlanOf<detail::Fitted<R, KeepAll, largest>>::bytes));
    return text;
  }

 private:
  template <class Mode>
  static const char* mode() {
    if constexpr (std::is_same_v<Mode, KeepAll>) {
      return "keep everything";
    } else {
      return Mode::options.policy == full ? "recompute whole units" : "recompute what is cheap";
    }
  }
};

}  // namespace sinter
