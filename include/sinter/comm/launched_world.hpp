// SPDX-License-Identifier: Apache-2.0
// The rank of a process that a launcher has started.
#pragma once
#include <optional>
#include <string>

#include "sinter/comm/world.hpp"

namespace sinter {

/// The world of a process that a launcher has started.
struct LaunchedWorld {
  World world;           ///< without facts
  std::string launcher;  ///< for messages, such as "torchrun" or "./sinter launch"
};

/// Finds the rank that a launcher has given this process, in the environment. Launchers are
/// ./sinter launch, torchrun, mpirun or mpiexec of Open MPI, mpiexec of MPICH and Intel MPI, and
/// srun; of nested ones the inner one counts. There is no world if no launcher has started this
/// process, or one has started only this process. The id is equal in all ranks; on one host it
/// differs in each run and each restart. If ranks are on several hosts, the world also has their
/// meeting (docs/ranks.md has the variables).
/// throws    ArgumentError that names the launcher and the variable, if a variable is missing or
///           wrong
[[nodiscard]] std::optional<LaunchedWorld> launched_world();

}  // namespace sinter
