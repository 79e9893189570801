// SPDX-License-Identifier: Apache-2.0
// Policies that a recipe offers to ./sinter tune.
#pragma once

namespace sinter {

/// Policies that `./sinter tune` tries beside its own choices, each in its slot: those of your own, or
/// others of Sinter's. A recipe names them in its member `candidates`:
///   struct mine : Recipe<…> {
///     using candidates = Candidates<MyMemory, Fp16<>, DynamicBatch<>>;
///   };
template <class... Policies>
struct Candidates {};

}  // namespace sinter
