// SPDX-License-Identifier: Apache-2.0
#include "comm/group_world.hpp"

#include <string>

#include "sinter/kernels/random.hpp"

namespace sinter::detail {
namespace {

/// Returns a beginning of a text that distinguishes it from others.
std::string short_id(const std::string& text) {
  std::uint64_t words[]{1, 2};
  for (std::uint64_t& word : words)
    for (const char c : text) word = kernel::mix(word + std::uint8_t(c));
  return std::to_string(words[0]) + "-" + std::to_string(words[1]);
}

}  // namespace

World GroupWorlds::next(const World& whole, std::span<const int> members, int rank) {
  const std::vector<int> list(members.begin(), members.end());
  std::string id = whole.id + " group";
  for (const int member : list) id += " " + std::to_string(member);
  id += " number " + std::to_string(made[list]++);
  World world;
  world.rank = rank;
  world.ranks = int(list.size());
  world.id = short_id(id);
  world.timeout = whole.timeout;
  world.host = whole.host;
  return world;
}

}  // namespace sinter::detail
