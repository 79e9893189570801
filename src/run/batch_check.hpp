// What a batch must be before a program may run on it.
#pragma once
#include "sinter/plan/plan_view.hpp"
#include "sinter/run/machine.hpp"

namespace sinter {

/// throws ArgumentError, before anything has changed, where the batch does not have what the model
/// asks for: inputs, their lengths, ids within their tables, sequences within the context.
void check_batch(const PlanView& plan, const Model& model, const HostBatch& batch);

}  // namespace sinter
