// SPDX-License-Identifier: Apache-2.0
// Ranks that a launcher has started as processes.
#pragma once
#include "cli/arguments.hpp"

namespace sinter::detail::cli {

/// Reads the world that a launcher has set up, if any, into the arguments, and the number of ranks
/// into the recipe's options. Makes all ranks but rank 0 quiet.
/// throws    UsageError if the verb or the recipe cannot run as several processes, or a flag does
///           not fit them or is missing; ArgumentError if the launcher's variables are wrong
void take_launched_world(RecipeView& recipe, Arguments& arguments);

/// True if this process writes the run's folder and its reports: rank 0.
inline bool is_first(const Arguments& arguments) { return arguments.world.rank == 0; }

/// Returns the world of the arguments, with facts of the command line that the ranks compare, such
/// as the initial state of the data source.
World world_with_facts(const Arguments& arguments, const SamplerState& data,
                       std::vector<Fact> facts = {});

}  // namespace sinter::detail::cli
