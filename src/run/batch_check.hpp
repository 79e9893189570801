// What a batch must be before a program may run on it, and how its numbers get into the arena.
#pragma once
#include "sinter/plan/plan_view.hpp"
#include "sinter/run/machine.hpp"

namespace sinter {

/// throws ArgumentError, before anything has changed, where the batch does not have what the model
/// asks for: inputs, their lengths, ids within their tables, sequences within the context.
void check_batch(const PlanView& plan, const Model& model, const HostBatch& batch);

/// Puts floats into the arena as the compute type.
void copy_values(const float* from, std::byte* to, std::int64_t count, Element element);

}  // namespace sinter
