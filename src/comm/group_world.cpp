// SPDX-License-Identifier: Apache-2.0
#include "comm/group_world.hpp"

#include <string>

#include "sinter/files/io.hpp"

namespace sinter {

World GroupWorlds::next(const World& whole, std::span<const int> members, int rank) {
  const std::vector<int> list(members.begin(), members.end());
  std::string id = whole.id + " group";
  for (const int member : list) id += " " + std::to_string(member);
  id += " number " + std::to_string(made[list]++);
  World world;
  world.rank = rank;
  world.ranks = int(list.size());
  world.id = hash_of(id);  // whose length is limited
  world.timeout = whole.timeout;
  world.host = whole.host;
  return world;
}

}  // namespace sinter
