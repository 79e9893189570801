// SPDX-License-Identifier: Apache-2.0
// Ranks of several hosts die, stop, hang, are cut off, or do not fit together: the others say so within
// seconds, in the same words.
#include <chrono>
#include <fstream>
#include <random>
#include <string>
#include <thread>

#include "sinter/comm/hosts.hpp"
#include "support/message_of.hpp"
#include "support/rank_processes.hpp"

namespace sinter::detail::testing::hosts_tests {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Say = RankProcesses::Say;

/// Takes part in all kinds of transfers, for ever.
std::string transfer_for_ever(const World& world, const Say& say) {
  const auto end = hosts_rank(world);
  say_all_have_come(*end, say);
  std::vector<float> values(1'200'000), got = values;
  const int ranks = end->ranks();
  for (int turn = 0;; ++turn) {
    const auto count = std::int64_t(values.size()) / ranks * ranks;
    if (turn % 5 == 0) end->start_sum(values.data(), count);
    if (turn % 5 == 1) end->start_reduce_scatter(values.data(), count);
    if (turn % 5 == 2) end->start_all_gather(values.data(), count);
    if (turn % 5 == 3) end->start_all_to_all(values.data(), count);
    if (turn % 5 == 4) {
      end->start_send(values.data(), count, (world.rank + 1) % ranks);
      end->start_receive(got.data(), count, (world.rank + ranks - 1) % ranks);
    }
    end->wait(values.data());
    end->wait(got.data());
    double one = 1;
    if (turn % 2) end->sum(&one);
  }
}

/// Sends a signal to a rank, of which all others must say this within five seconds.
void check_lost(RankProcesses& ranks, int victim, int signal, const std::string& what) {
  const std::string want = ranks.name(victim) + what;
  const Clock::time_point begin = Clock::now();
  ranks.signal(victim, signal);
  for (int r = 0; r < ranks.size(); ++r)
    if (r != victim) check_has(ranks.result(r), want);
  CHECK(Clock::now() - begin < 5s);
}

const char* const no_sign = " has given no sign of life for 3.5 s";

TEST_CASE("a rank dies in the midst of transfers") {
  std::mt19937 random(1);
  for (int victim = 0; victim < 5; ++victim) {
    CAPTURE(victim);
    RankProcesses ranks(RankProcesses::worlds_of_hosts({2, 1, 2}), transfer_for_ever);
    hear_all(ranks);
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 200));
    check_lost(ranks, victim, SIGKILL, " has died");
  }
}

TEST_CASE("a rank is stopped in the midst of transfers") {
  for (int victim : {0, 1, 3}) {
    CAPTURE(victim);
    RankProcesses ranks(RankProcesses::worlds_of_hosts({2, 2}), transfer_for_ever);
    hear_all(ranks);
    std::this_thread::sleep_for(100ms);
    check_lost(ranks, victim, SIGSTOP, no_sign);
    ranks.signal(victim, SIGCONT);  // and then learns that the others have gone
    CHECK(!ranks.result(victim).empty());
  }
}

TEST_CASE("a rank dies or stops while the others wait for its values") {
  for (int signal : {SIGKILL, SIGSTOP}) {
    CAPTURE(signal);
    RankProcesses ranks(RankProcesses::worlds_of_hosts({1, 2}), [](World world, const Say& say) {
      const auto end = hosts_rank(world);
      say_all_have_come(*end, say);
      if (world.rank == 2) ::pause();
      double one = 1;
      end->sum(&one);
      return std::string("fine");
    });
    hear_all(ranks);
    check_lost(ranks, 2, signal, signal == SIGKILL ? " has died" : no_sign);
  }
}

TEST_CASE(
    "a rank that lives, but takes part in nothing, is found by the one who waits for another") {
  const std::vector<std::vector<int>> layouts{{1, 1, 1}, {2, 1}};
  for (const auto& layout : layouts)
    for (bool in_sum : {false, true}) {
      CAPTURE(in_sum);
      RankProcesses ranks(RankProcesses::worlds_of_hosts(layout), [&](World world, const Say&) {
        world.timeout = 2s;
        const auto end = hosts_rank(world);
        if (world.rank == 1) std::this_thread::sleep_for(4s);  // its thread lives
        std::vector<float> values(1000);
        double one = 1;
        if (in_sum) {
          end->sum(&one);
        } else {
          end->start_sum(values.data(), 1000);
          end->wait(values.data());
        }
        return std::string("fine");
      });
      const std::string want =
          ranks.name(1) + " lives, but has not taken part in a transfer for 2 s";
      for (const std::string& said : ranks.results()) check_has(said, want);
    }
}

TEST_CASE("a rank that another awaits a message of ends, dies, stops or hangs") {
  enum class Way { ends, dies, stops, hangs };
  const std::vector<std::vector<int>> layouts{{1, 1}, {2}};
  for (const auto& layout : layouts)
    for (const Way way : {Way::ends, Way::dies, Way::stops, Way::hangs}) {
      CAPTURE(layout.size());
      CAPTURE(int(way));
      RankProcesses ranks(RankProcesses::worlds_of_hosts(layout), [&](World world, const Say& say) {
        if (way == Way::hangs) world.timeout = 2s;
        const auto end = hosts_rank(world);
        say_all_have_come(*end, say);
        if (world.rank == 0 && way == Way::ends) throw Error("no data");
        if (world.rank == 0) std::this_thread::sleep_for(way == Way::hangs ? 4s : 60s);
        std::vector<float> values(100);
        world.rank == 1 ? end->start_receive(values.data(), 100, 0)
                        : end->start_send(values.data(), 100, 1);
        end->wait(values.data());
        return std::string("fine");
      });
      hear_all(ranks);
      std::this_thread::sleep_for(50ms);
      if (way == Way::dies) check_lost(ranks, 0, SIGKILL, " has died");
      if (way == Way::stops) check_lost(ranks, 0, SIGSTOP, no_sign);
      const std::string hangs = ranks.name(0) + " lives, but has not sent to " + ranks.name(1) +
                                " what that awaits, or not received from it, for 2 s";
      if (way == Way::hangs)
        for (const std::string& said : ranks.results()) check_has(said, hangs);
      if (way == Way::ends)
        check_has(ranks.result(1), "waits for ranks that have stopped: " + ranks.name(0));
    }
}

TEST_CASE("a rank that is only slow is waited for") {
  RankProcesses ranks(RankProcesses::worlds_of_hosts({1, 1}), [](const World& world, const Say&) {
    const auto end = hosts_rank(world);
    if (world.rank == 1) std::this_thread::sleep_for(400ms);
    double value = 1;
    end->sum(&value);
    return std::to_string(value);
  });
  for (const std::string& result : ranks.results()) CHECK(result == "2.000000");
}

TEST_CASE("a rank that fails is no reason to wait for it") {
  for (int victim = 0; victim < 3; ++victim) {
    CAPTURE(victim);
    RankProcesses ranks(RankProcesses::worlds_of_hosts({1, 2}),
                        [&](const World& world, const Say&) {
                          const auto end = hosts_rank(world);
                          if (world.rank == victim) throw Error("no data");
                          std::vector<float> values(10);
                          end->start_sum(values.data(), 10);
                          end->wait(values.data());
                          return std::string("fine");
                        });
    const std::string want =
        "waits for ranks that have stopped: " + ranks.name(victim) + ". Its own error says why.";
    const Clock::time_point begin = Clock::now();
    for (int r = 0; r < ranks.size(); ++r)
      check_has(ranks.result(r), r == victim ? "no data" : want);
    CHECK(Clock::now() - begin < 5s);
  }
}

TEST_CASE("a rank that has all may leave before others have") {
  for (int turn = 0; turn < 10; ++turn) {
    RankProcesses ranks(RankProcesses::worlds_of_hosts({1, 1, 1}),
                        [](const World& world, const Say&) {
                          const auto end = hosts_rank(world);
                          std::vector<float> values(700'000, 1);
                          end->start_all_gather(values.data(), 700'000);
                          end->start_broadcast(values.data(), 1, 1);
                          end->wait(values.data());
                          return std::string("fine");
                        });
    for (const std::string& said : ranks.results()) CHECK(said == "fine");
  }
}

TEST_CASE("ranks of several hosts at different transfers are told so") {
  struct Difference {
    std::vector<int> hosts;
    int other;
    const char* text;
  };
  for (const Difference& d : {Difference{{1, 1, 1}, 2, "all-reduce of 9 elements of 4 bytes"},
                              Difference{{3}, 2, "all-reduce of 9 elements of 4 bytes"},
                              Difference{{1, 1, 1}, 1, "broadcast from rank 1 of 10 elements"},
                              Difference{{2, 1}, 2, "all-gather of 900000 elements"}}) {
    CAPTURE(d.text);
    RankProcesses ranks(RankProcesses::worlds_of_hosts(d.hosts),
                        [&](const World& world, const Say&) {
                          const auto end = hosts_rank(world);
                          std::vector<float> values(900'000);
                          if (world.rank != d.other) {
                            end->start_sum(values.data(), 10);
                          } else if (d.text[1] == 'r') {
                            end->start_broadcast(values.data(), 10, 1);
                          } else if (d.text[4] == 'r') {
                            end->start_sum(values.data(), 9);
                          } else {
                            end->start_all_gather(values.data(), 900'000);
                          }
                          end->wait(values.data());
                          return std::string("fine");
                        });
    const Clock::time_point begin = Clock::now();
    const std::vector<std::string> all = ranks.results();
    for (const std::string& said : all) {
      check_has(said, " is at another transfer than others, ");
      check_has(said, "All ranks must take the same steps");
      CHECK(said.substr(said.find("cannot")) == all[0].substr(all[0].find("cannot")));
    }
    CHECK(Clock::now() - begin < 5s);
  }
}

TEST_CASE("ranks that sum another number of values are told so") {
  RankProcesses ranks(RankProcesses::worlds_of_hosts({1, 2}), [](const World& world, const Say&) {
    const auto end = hosts_rank(world);
    double values[2]{1, 2};
    end->sum(values, world.rank == 2 ? 1 : 2);
    return std::string("fine");
  });
  for (const std::string& said : ranks.results())
    check_has(said, " is at another transfer than others, all-reduce of ");
}

/// What the ranks of these worlds say of them.
std::vector<std::string> said_of(const std::vector<World>& worlds,
                                 std::chrono::milliseconds timeout = 20s) {
  RankProcesses ranks(worlds, [&](World world, const Say&) {
    world.timeout = timeout;
    const auto end = hosts_rank(world);
    double value = 1;
    end->sum(&value);
    return std::string("fine");
  });
  return ranks.results();
}

TEST_CASE("impossible worlds of several hosts are refused") {
  std::vector<World> worlds = RankProcesses::worlds_of_hosts({1, 1, 1});
  const std::string port = std::to_string(worlds[0].meeting.port);
  SUBCASE("ranks do not come") {
    worlds.pop_back();
    for (const std::string& said : said_of(worlds, 500ms))
      check_has(said, "rank 2 of 3 has not come to rank 0 on a, port " + port + ", within 0.5 s");
  }
  SUBCASE("rank 0 does not come") {
    worlds.erase(worlds.begin());
    for (const std::string& said : said_of(worlds, 500ms)) {
      check_has(said, "rank 0, for which rank ");
      check_has(said, " has waited 0.5 s at 127.0.0.1 port " + port +
                          ", has not come: Connection refused.");
    }
  }
  SUBCASE("rank 0 is nowhere") {
    worlds.erase(worlds.begin(), worlds.begin() + 2);
    worlds[0].meeting.address = "there.is.no.such.host.invalid";
    check_has(said_of(worlds, 500ms)[0], "at there.is.no.such.host.invalid port " + port);
  }
  SUBCASE("another number of ranks") {
    worlds[1].ranks = 4;
    worlds.pop_back();
    for (const std::string& said : said_of(worlds)) {
      check_has(said, "says that there are 4 ranks, and rank 0 that there are 3");
      check_has(said, "rank 1 (process ");
    }
  }
  SUBCASE("a rank twice") {
    worlds[2].rank = 1;
    for (const std::string& said : said_of(worlds, 2s))
      check_has(said, "rank 1 has come twice: as rank 1 (process ");
  }
  SUBCASE("the port is taken") {
    World other = worlds[0];
    other.ranks = worlds[0].ranks = 2;
    other.id = "another";
    const auto said = said_of({worlds[0], other}, 1s);
    const bool second = said[1].find("cannot listen") != std::string::npos;
    check_has(said[second], "rank 0 cannot listen at port " + port);
    check_has(said[!second], "rank 1 of 2 has not come");
  }
  SUBCASE("another run is there") {
    worlds[2].id = "another";
    const auto said = said_of(worlds, 1s);
    for (int r : {0, 1}) check_has(said[std::size_t(r)], "rank 2 of 3 has not come");
    check_has(said[2], "rank 0, for which rank 2 has waited 1 s at 127.0.0.1 port " + port);
  }
  SUBCASE("other facts") {
    for (World& world : worlds) world.facts = {{"seed", world.rank == 2 ? "43" : "42"}};
    for (const std::string& said : said_of(worlds)) {
      check_has(said, "are not of the same run: seed is \"42\" in rank 0 and \"43\" in rank 2");
      check_has(said, " on a) and rank 2 (process ");
    }
  }
  SUBCASE("not a rank, no id, and no meeting") {
    const auto says = [&](auto change, const char* what) {
      World world = worlds[1];
      change(world);
      check_has(message_of<ArgumentError>([&] { (void)hosts_rank(world); }), what);
    };
    says([](World& w) { w.rank = 3; }, "rank 3 of 3 ranks cannot be");
    says([](World& w) { w.id = ""; }, "the id of a world has 0 bytes");
    says([](World& w) { w.meeting = {}; }, "its address is \"\" and its port 0");
    says([](World& w) { w.meeting.port = 70'000; }, "its port 70000");
  }
}

TEST_CASE("a rank dies while others have not come") {
  std::vector<World> worlds = RankProcesses::worlds_of_hosts({1, 1, 1});
  worlds.pop_back();
  for (int victim : {0, 1}) {
    CAPTURE(victim);
    RankProcesses ranks(worlds, [&](const World& world, const Say& say) {
      if (world.rank == victim) say("here");
      return std::to_string(hosts_rank(world)->rank());
    });
    REQUIRE(ranks.next_said(victim) == "here");
    std::this_thread::sleep_for(300ms);
    const std::string who = victim == 0 ? "rank 0, at 127.0.0.1 port " : ranks.name(victim);
    ranks.signal(victim, SIGKILL);
    const std::string said = ranks.result(1 - victim);
    check_has(said, who);
    check_has(said, "has ended before all ranks had come");
  }
}

TEST_CASE("strangers at the port of rank 0 are no reason to fail") {
  const std::vector<World> worlds = RankProcesses::worlds_of_hosts({1, 1});
  RankProcesses ranks(worlds, [](const World& world, const Say& say) {
    if (world.rank == 1) {
      std::this_thread::sleep_for(200ms);
      say("now");
      std::this_thread::sleep_for(500ms);
    }
    const auto end = hosts_rank(world);
    double one = 1;
    end->sum(&one);
    return std::to_string(int(one));
  });
  REQUIRE(ranks.next_said(1) == "now");
  for (const char* said : {"", "GET / HTTP/1.1\r\n\r\n", "sinhost1 and more that is not of here"}) {
    const int made = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(std::uint16_t(worlds[0].meeting.port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(made, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    CHECK(::send(made, said, std::char_traits<char>::length(said), MSG_NOSIGNAL) >= 0);
    ::close(made);
  }
  for (const std::string& result : ranks.results()) CHECK(result == "2");
}

}  // namespace sinter::detail::testing::hosts_tests
