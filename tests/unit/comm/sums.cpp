// SPDX-License-Identifier: Apache-2.0
// Sums over ranks, of every type that gradients may have.
#include <cmath>
#include <thread>

#include "sinter/comm/communicator.hpp"
#include "unit/kernels/narrow.hpp"

namespace sinter::testing {
namespace {

TEST_CASE_TEMPLATE("ranks sum in order, in the wide type, and round once", T, float, double,
                   BFloat16, Float16) {
  constexpr int ranks = 3, count = 1001;
  auto ends = thread_ranks(ranks);
  std::vector<std::vector<T>> data;
  for (int r = 0; r < ranks; ++r) data.push_back(normal_values<T>(count, 1 + r));
  std::vector<T> want(count);
  for (int k = 0; k < count; ++k) {
    kernel::Wide<T> sum = 0;
    for (const auto& values : data) sum += values[k];
    want[k] = T(sum);
  }
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r)
    threads.emplace_back([&, r] {
      ends[r]->start_sum(data[r].data(), count);
      ends[r]->wait(data[r].data());
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& values : data) CHECK(same_bits(values, want));

  auto alone = single_rank();
  alone->start_sum(data[0].data(), count);
  alone->wait(data[0].data());
  CHECK(same_bits(data[0], want));
}

}  // namespace
}  // namespace sinter::testing
