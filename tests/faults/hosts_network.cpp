// SPDX-License-Identifier: Apache-2.0
// Ranks of several hosts over a network that can be cut, and of which the bytes are counted.
#include "support/network.hpp"

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "sinter/comm/hosts.hpp"
#include "support/rank_processes.hpp"

namespace sinter::testing {
namespace {

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

/// Cuts a host off while the ranks are at work.
void check_cut(int host, const RankProcesses::Work& forever, const Network& network,
               const std::vector<int>& layout) {
  RankProcesses ranks(worlds_of(network, layout), forever);
  std::vector<std::string> names;
  for (int r = 0; r < ranks.size(); ++r) {
    REQUIRE(ranks.next_said(r) == "here");
    names.push_back(ranks.name(r));
  }
  std::this_thread::sleep_for(100ms);
  const Clock::time_point begin = Clock::now();
  network.cut(host);
  int first = 0;  // of its ranks
  for (int h = 0; h < host; ++h) first += layout[std::size_t(h)];
  const int end = first + layout[std::size_t(host)];
  for (int r = 0; r < ranks.size(); ++r) {
    const std::string said = ranks.result(r);
    CAPTURE(said);
    CAPTURE(r);
    CHECK(said.find(" has given no sign of life for 3.5 s: it is stopped, its host is down, or "
                    "the network to it is cut.") != std::string::npos);
    // Rank 0, and who hears it, misses one from whom it hears nothing; the others miss rank 0.
    const auto is_cut = [&](int rank) { return rank >= first && rank < end; };
    bool named = is_cut(r) != is_cut(0) && said.find(names[0]) != std::string::npos;
    for (int other = 0; other < ranks.size() && is_cut(r) == is_cut(0); ++other)
      named |=
          is_cut(other) != is_cut(0) && said.find(names[std::size_t(other)]) != std::string::npos;
    CHECK(named);
  }
  CHECK(Clock::now() - begin < 5s);
}

TEST_CASE("a host that is cut off is noticed on both sides within five seconds") {
  const std::vector<int> layout{1, 2, 1};
  for (int host : {0, 1, 2}) {
    CAPTURE(host);
    const Network network(3);
    if (!network.is_there()) return;
    check_cut(host,
              on(network, layout,
                 [](Communicator& end, const Say& say) {
                   meet(end, say);
                   std::vector<float> values(1'000'000);
                   for (;;) {
                     end.start_sum(values.data(), 1'000'000);
                     end.wait(values.data());
                   }
                   return std::string();
                 }),
              network, layout);
  }
}

TEST_CASE("and so it is where ranks wait for few values") {
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

}  // namespace
}  // namespace sinter::testing
