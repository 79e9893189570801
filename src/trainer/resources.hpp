// SPDX-License-Identifier: Apache-2.0
// What a trainer takes of the machine: threads and memory.
#pragma once
#include "sinter/hardware/available.hpp"
#include "sinter/kernels/matmul.hpp"
#include "sinter/trainer/core.hpp"

namespace sinter::detail {

/// Returns the number of threads: as requested, or one for each processor that this process may use,
/// shared equally by `processes`.
int threads_of(const TrainerSettings& settings, int processes);

/// Returns the workspace that the library which multiplies for the recipe's layers takes for each
/// thread. This opens the library, so that its memory counts as taken.
kernel::MatmulWorkspace matmul_workspace_of(const PlanView& plan);

/// The memory that the ranks of a process need.
struct Need {
  const char* what;          ///< beginning of the error message
  int ranks;                 ///< of this process
  std::int64_t each;         ///< bytes of each of them
  std::int64_t taken = 0;    ///< bytes of `each` already taken
  std::int64_t beside = 0;   ///< bytes of the process for the workspace of LibTorch's products
  std::int64_t replies = 0;  ///< bytes of the process while evaluations write replies
};

/// Throws an Error if memory does not suffice. Arenas are mapped without reserve: otherwise only
/// the system would notice, and end some process.
void require_memory(const RecipeView& recipe, AvailableMemory available, const Need& need);

}  // namespace sinter::detail
