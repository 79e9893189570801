// SPDX-License-Identifier: Apache-2.0
// Ranks that a launcher has started, each as a process of its own.
#pragma once
#include "cli/arguments.hpp"

namespace sinter::detail::cli {

/// Takes the world in which a launcher has started this process, if one has, into the arguments, and
/// the number of its ranks into the recipe's options. Ranks but the first are quiet.
/// throws    UsageError if the verb or the recipe is none for several processes, or a flag is not
///           for them, or needed; ArgumentError if the launcher's variables are wrong
void take_launched_world(RecipeView& recipe, Arguments& arguments);

/// Whether this process writes the run's folder and says what there is to say.
inline bool is_first(const Arguments& arguments) { return arguments.world.rank == 0; }

/// The arguments' world, with what the command line makes of the run as facts that the ranks compare, such
/// as the data that a source stands at the beginning of.
World world_with_facts(const Arguments& arguments, const SamplerState& data,
                       std::vector<Fact> facts = {});

}  // namespace sinter::detail::cli
