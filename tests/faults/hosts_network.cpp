// SPDX-License-Identifier: Apache-2.0
// Ranks of several hosts over a network that can be cut, and of which the bytes are counted.
#include "support/network.hpp"

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "comm/hosts/socket.hpp"
#include "sinter/comm/hosts.hpp"
#include "support/rank_processes.hpp"

namespace sinter::detail::testing::hosts_network_tests {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Say = RankProcesses::Say;

/// What a rank does on its host.
template <class Work>
RankProcesses::Work on(const Network& network, const std::vector<int>& ranks, const Work& work) {
  return [&network, ranks, work](const World& world, const Say& say) -> std::string {
    int host = 0;
    for (int end = ranks[0]; world.rank >= end; end += ranks[std::size_t(++host)]) continue;
    network.enter(host);
    const auto end = hosts_rank(world);
    return work(*end, say);
  };
}

void meet(Communicator& end, const Say& say) {
  double one = 1;
  end.sum(&one);
  say("here");
}

/// Cuts the network while all ranks are at work, and calls check(rank, what it said at its end, all names).
template <class Cut, class Check>
void check_ends(const RankProcesses::Work& forever, const Network& network,
                const std::vector<int>& layout, const Cut& cut, const Check& check) {
  RankProcesses ranks(worlds_of(network, layout), forever);
  std::vector<std::string> names;
  for (int r = 0; r < ranks.size(); ++r) {
    REQUIRE(ranks.next_said(r) == "here");
    names.push_back(ranks.name(r));
  }
  std::this_thread::sleep_for(100ms);
  const Clock::time_point begin = Clock::now();
  cut();
  for (int r = 0; r < ranks.size(); ++r) {
    const std::string said = ranks.result(r);
    CAPTURE(said);
    CAPTURE(r);
    check(r, said, names);
  }
  CHECK(Clock::now() - begin < 5s);
}

/// Cuts a host off.
void check_cut(int host, const RankProcesses::Work& forever, const Network& network,
               const std::vector<int>& layout) {
  int first = 0;  // of its ranks
  for (int h = 0; h < host; ++h) first += layout[std::size_t(h)];
  const int end = first + layout[std::size_t(host)];
  const auto is_cut = [&](int rank) { return rank >= first && rank < end; };
  const auto check = [&](int r, const std::string& said, const std::vector<std::string>& names) {
    CHECK(said.find(" has given no sign of life for 3.5 s: it is stopped, its host is down, or "
                    "the network to it is cut.") != std::string::npos);
    // Rank 0, and who hears it, misses one from whom it hears nothing; the others miss rank 0.
    bool named = is_cut(r) != is_cut(0) && said.find(names[0]) != std::string::npos;
    for (int other = 0; other < int(names.size()) && is_cut(r) == is_cut(0); ++other)
      named |=
          is_cut(other) != is_cut(0) && said.find(names[std::size_t(other)]) != std::string::npos;
    CHECK(named);
  };
  check_ends(forever, network, layout, [&] { network.cut(host); }, check);
}

std::string sum_forever(Communicator& end, const Say& say) {
  meet(end, say);
  std::vector<float> values(1'000'000);
  for (;;) {
    end.start_sum(values.data(), 1'000'000);
    end.wait(values.data());
  }
}

TEST_CASE("a host that is cut off is noticed on both sides within five seconds") {
  const std::vector<int> layout{1, 2, 1};
  for (int host : {0, 1, 2}) {
    CAPTURE(host);
    const Network network(3);
    if (!network.is_there()) return;
    check_cut(host, on(network, layout, sum_forever), network, layout);
  }
}

TEST_CASE("a cut host is noticed within five seconds also if ranks exchange few values") {
  const std::vector<int> layout{1, 1};
  const Network network(2);
  if (!network.is_there()) return;
  check_cut(1,
            on(network, layout,
               [](Communicator& end, const Say& say) {
                 meet(end, say);
                 for (double one = 1;;) end.sum(&one);
                 return std::string();
               }),
            network, layout);
}

/// Cuts the last two of three hosts off from each other, which both still reach the first.
void check_cut_between(const RankProcesses::Work& forever, const Network& network,
                       const std::vector<int>& layout) {
  const auto check = [](int, const std::string& said, const std::vector<std::string>& names) {
    CHECK(said.find("lives, but nothing of it has come to rank ") != std::string::npos);
    CHECK(said.find(" for 3.5 s. Is the network between their hosts cut?") != std::string::npos);
    CHECK(said.find(names.back()) != std::string::npos);
  };
  check_ends(forever, network, layout, [&] { network.cut_between(1, 2); }, check);
}

TEST_CASE("a cut between two hosts that both reach the first rank is noticed in that time, too") {
  const std::vector<int> layout{1, 2, 1};
  const auto check = [&](const auto& forever) {
    const Network network(3);
    if (network.is_there()) check_cut_between(on(network, layout, forever), network, layout);
  };
  SUBCASE("where they sum") { check(sum_forever); }
  SUBCASE("where one waits for what the other sends") {
    check([](Communicator& end, const Say& say) {
      float value = 0;
      const auto pass = [&] {
        if (end.rank() == 2) end.start_send(&value, 1, 3);
        if (end.rank() == 3) end.start_receive(&value, 1, 2);
        end.wait(&value);
      };
      pass();
      meet(end, say);
      if (end.rank() == 2) std::this_thread::sleep_for(1s);
      pass();
      if (end.rank() != 3) meet(end, [](const std::string&) {});
      return std::string();
    });
  }
}

/// A connection of two hosts, which one of them has made; none if it takes long.
hosts::Descriptor connected(const Network& network, int host) {
  constexpr int port = 29'501;
  const Clock::time_point until = Clock::now() + 9s;
  const hosts::Descriptor listener = host == 0 ? hosts::listen_at(port) : hosts::Descriptor();
  hosts::Descriptor end;
  for (std::string why; end.get() < 0 && Clock::now() < until; std::this_thread::sleep_for(5ms))
    end = host == 0 ? hosts::accept_from(listener)
                    : hosts::connect_with(network.address(0), port, until, why);
  return end;
}

/// Fills it in both directions, and returns how many seconds later it is cut; `most` if it is not by then.
std::string full_until_cut(const Network& network, const World& world, Clock::duration most,
                           const Say& say) {
  network.enter(world.rank);
  const hosts::Descriptor end = connected(network, world.rank);
  const std::vector<char> more(64 << 20);
  if (hosts::send_all(end, more.data(), more.size(), Clock::now() + 300ms)) return "has room";
  say("full");
  const Clock::time_point full = Clock::now();
  while (!hosts::is_cut(end, 3500ms) && Clock::now() < full + most)
    std::this_thread::sleep_for(20ms);
  return std::to_string(std::chrono::duration<double>(Clock::now() - full).count());
}

TEST_CASE("a connection on which both ends wait for room is cut if nobody answers") {
  for (const bool cut : {true, false}) {
    CAPTURE(cut);
    const Network network(2);
    if (!network.is_there()) return;
    // It counts from when an end is full, which the other may be seconds later on a busy machine; and
    // the system asks ever more seldom whether there is room.
    const Clock::duration most = cut ? 40s : 9s;
    RankProcesses ranks(2, [&](const World& world, const Say& say) {
      return full_until_cut(network, world, most, say);
    });
    for (int r : {0, 1}) REQUIRE(ranks.next_said(r) == "full");
    if (cut) network.cut(1);
    for (const std::string& said : ranks.results()) {
      CAPTURE(said);
      const double seconds = std::stod(said);
      CHECK(seconds > (cut ? 2.5 : 8.9));
      if (cut) CHECK(seconds < 30);
    }
  }
}

TEST_CASE("who is slow to receive is not taken for cut off") {
  // It is more than the system keeps, which then asks ever more seldom whether there is room.
  constexpr int elements = 16 << 20;
  const std::vector<int> layout{1, 1, 1};
  const Network network(3);
  if (!network.is_there()) return;
  RankProcesses ranks(worlds_of(network, layout),
                      on(network, layout, [](Communicator& end, const Say&) {
                        std::vector<float> values(elements, float(end.rank()));
                        for (int count : {1, elements}) {  // first they connect
                          if (end.rank() == 1) end.start_send(values.data(), count, 2);
                          if (end.rank() == 2 && count > 1) std::this_thread::sleep_for(11s);
                          if (end.rank() == 2) end.start_receive(values.data(), count, 1);
                          end.wait(values.data());
                        }
                        double all = double(values.back());
                        end.sum(&all);
                        return all == 2 ? "2" : "wrong";
                      }));
  for (const std::string& result : ranks.results()) CHECK(result == "2");
}

TEST_CASE("a sum crosses each cable once in each direction, however many ranks a host has") {
  constexpr int elements = 4 << 20;
  const std::vector<int> layout{2, 2, 2};
  const Network network(3);
  if (!network.is_there()) return;
  RankProcesses ranks(worlds_of(network, layout),
                      on(network, layout, [](Communicator& end, const Say& say) {
                        std::vector<float> values(elements, float(end.rank()));
                        end.start_sum(values.data(), elements);
                        end.wait(values.data());
                        meet(end, say);
                        return values == std::vector<float>(elements, 15) ? "15" : "wrong";
                      }));
  for (int r = 0; r < ranks.size(); ++r) REQUIRE(ranks.next_said(r) == "here");
  const double array = elements * sizeof(float);
  // The hosts at the ends of the line send one array, and that between them two.
  for (int h : {0, 1, 2}) {
    const double arrays = double(network.sent_by(h)) / array;
    MESSAGE("host " << h << " sent " << arrays << " times the array");
    CHECK(arrays > (h == 1 ? 2 : 1));
    CHECK(arrays < (h == 1 ? 2.1 : 1.05));
  }
  for (const std::string& result : ranks.results()) CHECK(result == "15");
}

}  // namespace sinter::detail::testing::hosts_network_tests
