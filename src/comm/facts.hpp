// SPDX-License-Identifier: Apache-2.0
// Facts that must be equal in all ranks of a world: how they go to rank 0, and the text on a
// difference.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sinter/comm/world.hpp"

namespace sinter::detail {

/// Refuses a world in which no rank can be, or in which two facts have the same name.
/// throws    ArgumentError that gives the reason
void check_place(const World& world);

/// Facts as bytes that can be given to another process, whatever their size.
std::string bytes_of(const std::vector<Fact>& facts);
/// Takes them from there; none if they are not what a rank of this build puts there.
std::optional<std::vector<Fact>> facts_of(std::string_view bytes);

/// A rank, by its number and by the name that it has in messages, and what it says.
struct Witness {
  int rank;
  std::string name;
  const std::vector<Fact>& facts;
};

/// Returns how ranks differ from rank 0, and the fix; empty if they do not.
std::string difference(std::span<const Witness> ranks);

}  // namespace sinter::detail
