// SPDX-License-Identifier: Apache-2.0
// Sums over ranks, of every type that gradients may have.
#include <cmath>
#include <thread>

#include "sinter/comm/communicator.hpp"
#include "support/message_of.hpp"
#include "unit/kernels/narrow.hpp"

namespace sinter::detail::testing {
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

/// Calls work(rank) on a thread for each rank.
void on_threads(int ranks, const auto& work) {
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r) threads.emplace_back([&work, r] { work(r); });
  for (std::thread& thread : threads) thread.join();
}

TEST_CASE("a few values are summed at once, each by itself") {
  constexpr int ranks = 3, count = 4;
  auto ends = thread_ranks(ranks);
  std::vector<std::vector<double>> values(ranks);
  on_threads(ranks, [&](int r) {
    for (int round = 0; round < 3; ++round) {
      values[r].assign({.1 + r, 1., double(r == 1), -1e9 * r, 7.});
      ends[r]->sum(values[r].data(), count);
    }
  });
  for (const auto& sums : values)
    CHECK(sums == std::vector<double>{.1 + 1.1 + 2.1, 3, 1, -1e9 + -2e9, 7});
}

TEST_CASE_TEMPLATE("a part of a sum has the bits of the whole, and all parts are gathered", T,
                   float, double, BFloat16, Float16) {
  for (int ranks : {1, 2, 3, 4})
    for (int count : {0, 1, 2, 3, 1001, 4096}) {
      CAPTURE(ranks);
      CAPTURE(count);
      auto ends = ranks == 1 ? std::vector<std::unique_ptr<Communicator>>() : thread_ranks(ranks);
      if (ranks == 1) ends.push_back(single_rank());
      std::vector<std::vector<T>> whole, parts;
      for (int r = 0; r < ranks; ++r) whole.push_back(normal_values<T>(count + 1, 1 + r));
      parts = whole;
      const T last = whole[0].back();
      on_threads(ranks, [&](int r) {
        ends[r]->start_sum(whole[r].data(), count);
        ends[r]->start_reduce_scatter(parts[r].data(), count);
        ends[r]->wait(whole[r].data());
        ends[r]->wait(parts[r].data());
      });
      std::int64_t end = 0;
      for (int r = 0; r < ranks; ++r) {
        CAPTURE(r);
        const std::int64_t first = part_begin(count, r, ranks);
        CHECK(first == end);
        end = part_begin(count, r + 1, ranks);
        const std::vector<T> got(parts[r].begin() + first, parts[r].begin() + end),
            want(whole[r].begin() + first, whole[r].begin() + end);
        CHECK(same_bits(got, want));
        // What is not this rank's must come from those that have it.
        std::fill(parts[r].begin(), parts[r].begin() + first, T(7));
        std::fill(parts[r].begin() + end, parts[r].begin() + count, T(7));
      }
      CHECK(end == count);
      on_threads(ranks, [&](int r) {
        ends[r]->start_all_gather(parts[r].data(), count);
        ends[r]->wait(parts[r].data());
      });
      for (int r = 0; r < ranks; ++r) CHECK(same_bits(parts[r], whole[r]));
      CHECK(same_bits(std::vector{parts[0].back()}, std::vector{last}));
    }
}

TEST_CASE_TEMPLATE(
    "a reduction gives one rank the bits of the sum, a broadcast gives all a rank's bits", T, float,
    double, BFloat16, Float16) {
  for (int ranks : {1, 2, 3, 4})
    for (int count : {0, 1, 3, 1001})
      for (int root = 0; root < ranks; ++root) {
        CAPTURE(ranks);
        CAPTURE(count);
        CAPTURE(root);
        auto ends = ranks == 1 ? std::vector<std::unique_ptr<Communicator>>() : thread_ranks(ranks);
        if (ranks == 1) ends.push_back(single_rank());
        std::vector<std::vector<T>> own, whole, reduced, sent;
        for (int r = 0; r < ranks; ++r) own.push_back(normal_values<T>(count + 1, 1 + r));
        whole = reduced = sent = own;
        on_threads(ranks, [&](int r) {
          ends[r]->start_sum(whole[r].data(), count);
          ends[r]->start_reduce(reduced[r].data(), count, root);
          ends[r]->start_broadcast(sent[r].data(), count, root);
          for (auto* each : {&whole, &reduced, &sent}) ends[r]->wait((*each)[r].data());
        });
        CHECK(same_bits(reduced[root], whole[root]));
        for (int r = 0; r < ranks; ++r) {
          std::vector<T> want = own[root];
          want.back() = own[r].back();
          CHECK(same_bits(sent[r], want));
          CHECK(same_bits(std::vector{reduced[r].back()}, std::vector{own[r].back()}));
        }
      }
}

TEST_CASE("ranks at different transfers are told so") {
  const auto told = [](const char* what, const auto& start) {
    auto ends = thread_ranks(3);
    std::vector<std::vector<float>> data(3, std::vector<float>(10));
    std::vector<std::string> said(3);
    on_threads(3, [&](int r) {
      start(*ends[r], data[r].data(), r == 2);
      try {
        ends[r]->wait(data[r].data());
      } catch (const RankError& error) {
        said[r] = error.what();
      }
    });
    for (int r = 0; r < 3; ++r) {
      INFO(said[r]);
      CHECK(said[r].find(r < 2 ? "rank 2 is at another transfer, " : "rank 0 is at") !=
            std::string::npos);
      CHECK(said[r].find(what) != std::string::npos);
    }
  };
  told("all-reduce of 9 elements of 4 bytes",
       [](Communicator& end, float* data, bool last) { end.start_sum(data, last ? 9 : 10); });
  told("broadcast from rank 1 of 10", [](Communicator& end, float* data, bool last) {
    end.start_broadcast(data, 10, last ? 1 : 0);
  });
  told("reduce to rank 2 of 10", [](Communicator& end, float* data, bool last) {
    last ? end.start_reduce(data, 10, 2) : end.start_all_gather(data, 10);
  });
}

TEST_CASE("a transfer that no communicator supports is refused before it begins") {
  auto ends = thread_ranks(1);
  std::vector<std::int32_t> ids{1, 2};
  std::vector<float> values{1, 2};
  const auto refusal = [&](const Transfer& transfer) {
    return message_of<ArgumentError>([&] { ends[0]->start(transfer); });
  };
  CHECK(refusal({Operation::all_reduce, ids.data(), 2, Element::i32}).find("of integers") !=
        std::string::npos);
  CHECK(refusal({Operation::barrier, values.data(), 2, Element::f32}).find("'barrier'") !=
        std::string::npos);
  for (const int root : {-1, 1})
    CHECK_THROWS_AS(ends[0]->start_broadcast(values.data(), 2, root), ArgumentError);
  CHECK(message_of<ArgumentError>([&] {
          ends[0]->start_reduce(values.data(), 2, 1);
        }).find("'reduce' with the root 1, which is no rank: they are counted from 0 to 0.") !=
        std::string::npos);
}

}  // namespace
}  // namespace sinter::detail::testing
