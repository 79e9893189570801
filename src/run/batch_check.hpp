// SPDX-License-Identifier: Apache-2.0
// Checks a batch before a program runs on it.
#pragma once
#include "sinter/plan/plan_view.hpp"
#include "sinter/program/id_limit.hpp"
#include "sinter/run/machine.hpp"

namespace sinter::detail {

/// Checks that a batch fits the model: number and lengths of inputs, ids within their tables, and
/// sequences within the context. The inputs are those of the part whose content the batch has.
/// throws    ArgumentError, before anything has changed, if it does not fit
void check_batch(const PlanView& plan, const Model& model, const HostBatch& batch);

}  // namespace sinter::detail
