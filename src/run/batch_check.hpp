// SPDX-License-Identifier: Apache-2.0
// What a batch must be before a program may run on it.
#pragma once
#include "sinter/plan/plan_view.hpp"
#include "sinter/program/id_limit.hpp"
#include "sinter/run/machine.hpp"

namespace sinter::detail {

/// Checks that a batch has what the model asks for: inputs, their lengths, ids within their tables,
/// and sequences within the context. The inputs are those of the part whose content it has.
/// throws    ArgumentError, before anything has changed, if it has not
void check_batch(const PlanView& plan, const Model& model, const HostBatch& batch);

}  // namespace sinter::detail
