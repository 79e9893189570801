// SPDX-License-Identifier: Apache-2.0
// Ranks that have an emulated device each, on threads.
#pragma once
#include <thread>
#include <vector>

#include "sinter/comm/nccl.hpp"
#include "sinter/comm/shared_memory.hpp"

namespace sinter::detail::testing {

/// Calls work(world) for each rank of a new world, on a thread of its own. Returns what they say.
template <class Work>
auto on_world(int ranks, const Work& work) {
  const std::string id = shared_memory_world_id();
  std::vector<decltype(work(World{}))> results(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r)
    threads.emplace_back([&, r] { results[std::size_t(r)] = work(World{r, ranks, id}); });
  for (std::thread& thread : threads) thread.join();
  return results;
}

}  // namespace sinter::detail::testing
