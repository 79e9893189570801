// SPDX-License-Identifier: Apache-2.0
// Which rank a process is, where a launcher has started it.
#pragma once
#include <optional>
#include <string>

#include "sinter/comm/world.hpp"

namespace sinter {

/// A world that a launcher has made.
struct LaunchedWorld {
  World world;           ///< without facts
  std::string launcher;  ///< for messages, such as "torchrun" or "./sinter launch"
};

/// Finds the place that a launcher has given this process, in the environment: ./sinter launch, torchrun,
/// mpirun or mpiexec of Open MPI, mpiexec of MPICH and Intel MPI, srun, and of two in one another the
/// inner one. There is none if no launcher has started this process, or one has started it alone. The id is
/// the same in all ranks, and on one host another in each run and each restart. If the launcher has started
/// ranks on several hosts, the world also has their meeting (docs/running.md has the variables).
/// throws    ArgumentError that names the launcher and the variable, if one is missing or wrong
[[nodiscard]] std::optional<LaunchedWorld> launched_world();

}  // namespace sinter
