// SPDX-License-Identifier: Apache-2.0
// Sums over ranks that are processes have the bits of those over threads.
#include <cstring>
#include <thread>

#include "sinter/comm/hosts.hpp"
#include "sinter/kernels/random.hpp"
#include "support/rank_processes.hpp"
#include "support/sanitized.hpp"
#include "unit/kernels/narrow.hpp"

namespace sinter::detail::testing {
namespace {

/// One exceeds all that two ranks share, and ends in the middle of a chunk.
template <class T>
std::vector<int> counts() {
  if (is_sample) return {0, 1, 1001, 2, int((1 << 20) / sizeof(T)) + 1, 3};
  return {0, 1, 1001, 2, 131'072, 0, int((7 << 19) / sizeof(T)) + 1, 3};
}

/// Numbers between -1 and 1.
template <class T>
std::vector<T> values_of(int rank, int count) {
  std::vector<T> values(static_cast<std::size_t>(count));
  for (std::size_t k = 0; k < values.size(); ++k)
    values[k] = T(double(std::int64_t(kernel::mix(k * 64 + std::size_t(rank)))) * 0x1p-63);
  return values;
}

/// All that a rank gets: of arrays that are summed one after the other, whole, in parts that are
/// then gathered, and for each rank alone, which then sends its own; of as many at once, and of a few values
/// between.
template <class T>
std::string sums_of(Communicator& end) {
  std::string all;
  const auto add = [&](const auto& values) {
    if (!values.empty())
      all.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof values[0]);
  };
  std::vector<std::vector<T>> together;
  for (int count : counts<T>()) {
    auto values = values_of<T>(end.rank(), count + 1);
    together.push_back(values);
    end.start_sum(values.data(), count);
    std::vector<double> few;
    for (int k = 0; k <= count % Communicator::max_values; ++k)
      few.push_back(.1 * (1 + end.rank()) + count + k);
    end.sum(few.data(), int(few.size()));
    end.wait(values.data());
    add(few);
    add(values);
    auto parts = values_of<T>(end.rank(), count + 1);
    end.start_reduce_scatter(parts.data(), count);
    end.wait(parts.data());
    const auto at = [&](int rank) { return parts.begin() + part_begin(count, rank, end.ranks()); };
    std::fill(parts.begin(), at(end.rank()), T(7));
    std::fill(at(end.rank() + 1), parts.end() - 1, T(7));
    add(parts);
    end.start_all_gather(parts.data(), count);
    end.wait(parts.data());
    add(parts);
    for (int root = 0; root < end.ranks(); ++root) {
      auto reduced = values_of<T>(end.rank(), count + 1),
           sent = values_of<T>(end.rank(), count + 1);
      end.start_reduce(reduced.data(), count, root);
      end.start_broadcast(sent.data(), count, root);
      end.wait(reduced.data());
      end.wait(sent.data());
      if (end.rank() == root) add(reduced);
      add(sent);
    }
  }
  for (auto& values : together) end.start_sum(values.data(), std::int64_t(values.size()) - 1);
  for (auto& values : together) {
    end.wait(values.data());
    add(values);
  }
  return all;
}

template <class T>
std::vector<std::string> sums_over_threads(int ranks) {
  auto ends = thread_ranks(ranks);
  std::vector<std::string> all(ends.size());
  std::vector<std::thread> threads;
  for (std::size_t r = 0; r < ends.size(); ++r)
    threads.emplace_back([&, r] { all[r] = sums_of<T>(*ends[r]); });
  for (std::thread& thread : threads) thread.join();
  return all;
}

/// Checks that ranks that are processes get what threads do.
template <class T>
void check_as_threads(RankProcesses& processes) {
  const std::vector<std::string> want = sums_over_threads<T>(processes.size());
  const std::vector<std::string> got = processes.results();
  for (std::size_t r = 0; r < got.size(); ++r) {
    CAPTURE(r);
    if (got[r].size() < 1000) CAPTURE(got[r]);  // an error
    REQUIRE(got[r].size() == want[r].size());
    CHECK(std::memcmp(got[r].data(), want[r].data(), got[r].size()) == 0);
  }
}

TEST_CASE_TEMPLATE("processes sum as threads do, to the bit", T, float, double, BFloat16, Float16) {
  for (int ranks : {2, 3, 4}) {
    if (is_sample && ranks != 3) continue;
    CAPTURE(ranks);
    RankProcesses processes(ranks, [](const World& world, const RankProcesses::Say&) {
      return sums_of<T>(*shared_memory_rank(world));
    });
    check_as_threads<T>(processes);
  }
}

TEST_CASE_TEMPLATE("processes of several hosts sum as threads do, to the bit", T, float, double,
                   BFloat16, Float16) {
  std::vector<std::vector<int>> layouts{{1, 2, 1}, {2}, {1, 1}, {2, 2}, {1, 1, 1, 1}, {3, 2}};
  if (is_sample) layouts.resize(1);
  for (const std::vector<int>& hosts : layouts) {
    CAPTURE(hosts.size());
    CAPTURE(hosts[0]);
    RankProcesses processes(RankProcesses::worlds_of_hosts(hosts),
                            [](const World& world, const RankProcesses::Say&) {
                              return sums_of<T>(*hosts_rank(world));
                            });
    check_as_threads<T>(processes);
  }
}

TEST_CASE("a world of one process needs no transfers") {
  const auto end = shared_memory_rank({});
  std::vector<float> values{1, 2};
  end->start_sum(values.data(), 2);
  end->wait(values.data());
  CHECK(values == std::vector<float>{1, 2});
  CHECK(end->ranks() == 1);
}

TEST_CASE("ids of worlds differ, and are short enough") {
  CHECK(shared_memory_world_id() != shared_memory_world_id());
  CHECK(shared_memory_world_id().size() <= 80);
}

}  // namespace
}  // namespace sinter::detail::testing
