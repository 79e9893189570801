// SPDX-License-Identifier: Apache-2.0
// Sends, receives, all-to-alls and barriers, over every transport.
#include "unit/comm/messages.hpp"

#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <new>
#include <thread>

#include "sinter/comm/hosts.hpp"
#include "support/message_of.hpp"
#include "support/rank_processes.hpp"
#include "support/sanitized.hpp"

namespace sinter::detail::testing::messages_tests {

/// What each rank says that has done this, which is a thread.
std::vector<std::string> on_threads(int ranks, const auto& work) {
  auto ends = thread_ranks(ranks);
  std::vector<std::string> said(ends.size());
  std::vector<std::thread> threads;
  for (std::size_t r = 0; r < ends.size(); ++r)
    threads.emplace_back([&, r] {
      const auto end = std::move(ends[r]);  // which ends with the thread
      try {
        said[r] = work(*end);
      } catch (const Error& error) {
        said[r] = error.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  return said;
}
/// Which is a process of one host.
std::vector<std::string> on_processes(int ranks, const auto& work) {
  return RankProcesses(ranks,
                       [&](const World& world, const RankProcesses::Say&) {
                         return std::string(work(*shared_memory_rank(world)));
                       })
      .results();
}
/// Which is a process of one of several hosts.
std::vector<std::string> on_hosts(const std::vector<int>& hosts, const auto& work) {
  return RankProcesses(RankProcesses::worlds_of_hosts(hosts),
                       [&](const World& world, const RankProcesses::Say&) {
                         return std::string(work(*hosts_rank(world)));
                       })
      .results();
}
void check_right(const std::vector<std::string>& said) {
  for (const std::string& of_rank : said) CHECK(of_rank == "");
}

TEST_CASE_TEMPLATE("messages between threads arrive as they were sent", T, float, double, BFloat16,
                   Float16) {
  for (int ranks : {2, 3, 4}) {
    if (is_sample && ranks != 3) continue;
    CAPTURE(ranks);
    check_right(on_threads(ranks, [](Communicator& end) { return Messages<T>(end).all(); }));
  }
}

TEST_CASE_TEMPLATE("messages between processes arrive as they were sent", T, float, double,
                   BFloat16, Float16) {
  for (int ranks : {2, 3, 4}) {
    if (is_sample && ranks != 3) continue;
    CAPTURE(ranks);
    check_right(on_processes(ranks, [](Communicator& end) { return Messages<T>(end).all(); }));
  }
}

TEST_CASE_TEMPLATE("messages between processes of several hosts arrive as they were sent", T, float,
                   double, BFloat16, Float16) {
  std::vector<std::vector<int>> layouts{{1, 2, 1}, {2}, {1, 1}, {2, 2}, {1, 1, 1, 1}, {3, 2}};
  if (is_sample) layouts.resize(1);
  for (const std::vector<int>& hosts : layouts) {
    CAPTURE(hosts.size());
    CAPTURE(hosts[0]);
    check_right(on_hosts(hosts, [](Communicator& end) { return Messages<T>(end).all(); }));
  }
}

TEST_CASE("no rank passes a barrier before all have come, over every transport") {
  // Of all ranks, where processes share it.
  using Count = std::atomic<int>;
  void* const memory =
      ::mmap(nullptr, sizeof(Count), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  Count& come = *new (memory) Count(0);
  const auto pass = [&](Communicator& end) {
    std::string too_early;
    for (int round = 1; round <= 6; ++round) {
      if (round % end.ranks() == end.rank())
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      ++come;
      end.barrier();
      if (come < round * end.ranks()) too_early += std::to_string(round) + " ";
    }
    return too_early;
  };
  const auto check = [&](const std::vector<std::string>& said) {
    check_right(said);
    CHECK(come.exchange(0) == 6 * int(said.size()));
  };
  for (int ranks : {1, 2, 3}) {
    check(on_threads(ranks, pass));
    check(on_processes(ranks, pass));
  }
  check(on_hosts({2, 1}, pass));
  ::munmap(memory, sizeof(Count));
}

TEST_CASE("a single rank exchanges with itself, and has no peer to send to") {
  auto alone = single_rank();
  std::vector<float> values{1, 2, 3};
  alone->start_all_to_all(values.data(), 3);
  alone->wait(values.data());
  CHECK(values == std::vector<float>{1, 2, 3});
  CHECK(message_of<ArgumentError>([&] { alone->start_send(values.data(), 3, 1); }) ==
        "a communicator was to start the operation 'send' with the rank 1, which is no "
        "rank: they are counted from 0 to 0.");
}

TEST_CASE("an impossible peer, and an array without equal parts, are refused") {
  auto ends = thread_ranks(3);
  std::vector<float> values(6);
  CHECK(message_of<ArgumentError>([&] { ends[1]->start_send(values.data(), 6, 1); }) ==
        "a communicator was to start the operation 'send' of rank 1 with itself. Copy the "
        "array instead.");
  for (const int peer : {-1, 3})
    CHECK(message_of<ArgumentError>([&] {
            ends[0]->start_receive(values.data(), 6, peer);
          }).find("'receive' with the rank " + std::to_string(peer) + ", which is no rank") !=
          std::string::npos);
  CHECK(message_of<ArgumentError>([&] {
          ends[0]->start_all_to_all(values.data(), 5);
        }).find("'all-to-all' of 5 elements, which are no equal parts of 3 ranks") !=
        std::string::npos);
}

/// Checks that ranks say so that do not fit together, on every transport. `begin` starts what is waited for.
template <class Begin>
void check_told(const Begin& begin, const std::string& one, const std::string& other) {
  const auto work = [&](Communicator& end) {
    std::vector<float> values(12);
    std::vector<double> wide(12);
    begin(end, values.data(), wide.data());
    end.wait(values.data());
    end.wait(wide.data());
    double one = 1;
    end.sum(&one);  // those that have nothing to wait for are told here
    return std::string("fine");
  };
  const auto check = [&](const std::vector<std::string>& said) {
    bool all_say = false;
    for (const std::string& of_rank : said) {
      INFO(of_rank);
      CHECK(of_rank.starts_with("rank "));
      all_say |= of_rank.find(one) != std::string::npos && of_rank.find(other) != std::string::npos;
    }
    INFO(said[0]);
    CHECK(all_say);
  };
  check(on_threads(3, work));
  check(on_processes(3, work));
  check(on_hosts({3}, work));
  check(on_hosts({1, 2}, work));
}

TEST_CASE("a send and a receive that do not fit are told, with both ranks") {
  check_told(
      [](Communicator& end, float* data, double*) {
        if (end.rank() == 1) end.start_send(data, 10, 2);
        if (end.rank() == 2) end.start_receive(data, 9, 1);
      },
      "sends 10 elements of fp32 to rank 2", ", which receives 9 elements of fp32.");
  check_told(
      [](Communicator& end, float* data, double* wide) {
        if (end.rank() == 0) end.start_send(wide, 5, 2);
        if (end.rank() == 2) end.start_receive(data, 5, 0);
      },
      "sends 5 elements of fp64 to rank 2", ", which receives 5 elements of fp32.");
}

TEST_CASE("a rank that is past what another awaits of it is told") {
  const auto check = [](const std::vector<std::string>& said) {
    INFO(said[0]);
    CHECK(said[0].find("rank 1") != std::string::npos);
    CHECK(said[0].find("is at another transfer") != std::string::npos);
    CHECK(said[0].find("all-reduce of 10 elements of 4 bytes") != std::string::npos);
    for (const std::string& of_rank : said) CHECK(of_rank.starts_with("rank "));
  };
  const auto work = [](Communicator& end) {
    std::vector<float> values(10), others(10);
    if (end.rank() == 0) end.start_receive(others.data(), 10, 1);
    end.start_sum(values.data(), 10);
    if (end.rank() == 1) end.start_send(others.data(), 10, 0);
    end.wait(others.data());
    end.wait(values.data());
    return std::string("fine");
  };
  check(on_threads(2, work));
  check(on_processes(2, work));
  check(on_hosts({2}, work));
}

TEST_CASE("a rank that ends is no reason to end what others still send") {
  const auto work = [](Communicator& end) {
    std::vector<float> values(100'000, float(end.rank()));
    if (end.rank() == 0) end.start_send(values.data(), 100'000, 1);
    if (end.rank() == 1) end.start_receive(values.data(), 100'000, 0);
    end.wait(values.data());
    if (end.rank() == 0) return std::string();  // and leaves
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    for (int turn = 0; turn < 20; ++turn) {
      if (end.rank() == 1) end.start_send(values.data(), 100'000, 2);
      if (end.rank() == 2) end.start_receive(values.data(), 100'000, 1);
      end.wait(values.data());
    }
    return std::string(values[99'999] == 0 ? "" : "another number");
  };
  check_right(on_threads(3, work));
  check_right(on_processes(3, work));
  check_right(on_hosts({2, 1}, work));
  check_right(on_hosts({1, 1, 1}, work));
}

}  // namespace sinter::detail::testing::messages_tests
