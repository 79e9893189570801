// SPDX-License-Identifier: Apache-2.0
// A small recipe, and forecasts of its steps at costs that are chosen.
#pragma once
#include <doctest/doctest.h>

#include "program/models.hpp"
#include "sinter/forecast/forecast.hpp"
#include "sinter/optimizer/adamw.hpp"
#include "sinter/parallel/ddp.hpp"

namespace sinter::detail::testing {

inline constexpr double endless = 1e30;

template <class... Policies>
using Small = Made<Letters, Gpt2<tiny>, Batch<{.global = 8, .micro = 1}>, AdamW<>, Policies...>;
/// One bucket, which is reduced when backward is over, and so in vain beside it.
using One = Small<Ddp<{.bucket_bytes = 1 << 30}>>;

inline const DeviceCost device{1e9, 1e9};
inline const LinkCost link{1e-4, 1e7};

inline Forecast forecast_of(const PlanView& plan, int ranks, const WorldCosts& costs) {
  const PlanForRanks on(plan, ranks);
  return forecast(on, ranks, costs, computing_seconds(on.view(), device));
}
inline PlanView with_program(const PlanView& plan, const Program& program) {
  PlanView other = plan;
  other.training.program = program;
  return other;
}
inline doctest::Approx about(double value) { return doctest::Approx(value).epsilon(1e-9); }

}  // namespace sinter::detail::testing
