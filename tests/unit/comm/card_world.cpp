// SPDX-License-Identifier: Apache-2.0
// What ranks on cards have on their hosts: an id, and who watches.
#include "comm/card_world.hpp"

#include <atomic>
#include <chrono>
#include <thread>

#include "support/message_of.hpp"
#include "support/rank_processes.hpp"

namespace sinter::detail::testing::card_world_tests {

using Say = RankProcesses::Say;

std::string made_id() { return std::string("card\0world", 10); }
const CardWorld::Lost nobody = [](const std::string& what) { throw Error("lost: " + what); };

/// What a rank is told when another is lost; it waits for that, at most ten seconds.
std::string told_of_loss(const World& world, const auto& before) {
  std::string told;
  std::atomic<bool> lost = false;
  CardWorld cards(world, made_id, [&](const std::string& what) {
    told = what;
    lost = true;
  });
  before(cards);
  for (int k = 0; k < 1000 && !lost; ++k)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return told;
}

TEST_CASE("all have the id of the first, on one host and on several, and end in any order") {
  const auto check = [](const std::vector<World>& worlds, const std::string& made) {
    RankProcesses ranks(worlds, [&](const World& world, const Say&) {
      const CardWorld cards(
          world, [&] { return world.rank == 0 ? made : std::string("another"); }, nobody);
      std::this_thread::sleep_for(std::chrono::milliseconds(300 * (world.rank % 2)));
      return cards.id();
    });
    for (const std::string& id : ranks.results()) CHECK(id == made);
  };
  check(RankProcesses::worlds_of(1), made_id());
  for (const std::string& made : {made_id(), std::string(), std::string(1001, '\xff')})
    check(RankProcesses::worlds_of(3), made);
  check(RankProcesses::worlds_of_hosts({1, 2}), made_id());
}

TEST_CASE("all ranks learn that the first rank could not make the id") {
  RankProcesses ranks(2, [](const World& world, const Say&) {
    const CardWorld cards(world, []() -> std::string { throw Error("no id"); }, nobody);
    return std::string("made");
  });
  const std::vector<std::string> all = ranks.results();
  CHECK(all[0].find("no id") != std::string::npos);
  CHECK(all[1].find("rank 0") != std::string::npos);
}

TEST_CASE("a rank that dies or is stopped is noticed by those that only compute, and named") {
  const auto check = [](const std::vector<World>& worlds, int how, const char* what) {
    CAPTURE(how);
    RankProcesses ranks(worlds, [](const World& world, const Say& say) {
      return told_of_loss(world, [&](CardWorld&) { say("begun"); });
    });
    for (int r = 0; r < ranks.size(); ++r) CHECK(ranks.next_said(r) == "begun");
    const auto begin = std::chrono::steady_clock::now();
    ranks.signal(1, how);
    for (const int r : {0, 2}) {
      const std::string told = ranks.result(r);
      INFO(told);
      CHECK(told.find(ranks.name(1)) != std::string::npos);
      CHECK(told.find(what) != std::string::npos);
    }
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(6));
  };
  check(RankProcesses::worlds_of(3), SIGKILL, " has died.");
  check(RankProcesses::worlds_of(3), SIGSTOP, " has been stopped");
  check(RankProcesses::worlds_of_hosts({1, 2}), SIGKILL, " has died.");
}

TEST_CASE("a rank that cannot go on tells the others, and is not told itself") {
  RankProcesses ranks(2, [](const World& world, const Say&) {
    if (world.rank == 0) return told_of_loss(world, [](CardWorld&) {});
    std::string told = "nothing";
    {
      CardWorld cards(world, made_id, [&](const std::string& what) { told = what; });
      cards.abort();
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
    }
    return told;
  });
  const std::vector<std::string> all = ranks.results();
  INFO(all[0]);
  CHECK(all[0].find("rank 1") != std::string::npos);
  CHECK(all[1] == "nothing");
}

}  // namespace sinter::detail::testing::card_world_tests
