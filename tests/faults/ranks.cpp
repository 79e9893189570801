// SPDX-License-Identifier: Apache-2.0
// Ranks that are processes die, stop, or do not fit together: the others say so, soon, and nothing is
// left.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>

#include "sinter/model/mlp.hpp"
#include "sinter/optimizer/adamw.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/trainer/trainer.hpp"
#include "support/batches.hpp"
#include "support/message_of.hpp"
#include "support/rank_processes.hpp"
#include "support/recipes.hpp"

namespace sinter::detail::testing::ranks_tests {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Say = RankProcesses::Say;

/// Whether the system knows anything by the id of a world, or of Sinter's in its shared memory.
bool is_left(const std::string& id) {
  std::ifstream sockets("/proc/net/unix");
  REQUIRE(sockets);
  for (std::string line; std::getline(sockets, line);)
    if (line.find(id) != std::string::npos) return true;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
    const std::string name = entry.path().filename().string();
    if (name.find("sinter") != std::string::npos || name.find(id) != std::string::npos) return true;
  }
  return false;
}

/// Kills a rank, of which all others must say that it has died, within five seconds.
void check_death(RankProcesses& ranks, int victim) {
  const std::string want = ranks.name(victim) + " has died";
  const Clock::time_point begin = Clock::now();
  ranks.signal(victim, SIGKILL);
  for (int r = 0; r < ranks.size(); ++r)
    if (r != victim) check_has(ranks.result(r), want);
  CHECK(Clock::now() - begin < 5s);
}

std::string sum_for_ever(const World& world, const Say& say, std::int64_t count) {
  const auto end = shared_memory_rank(world);
  say_all_have_come(*end, say);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (;;) {
    end->start_sum(values.data(), count);
    end->wait(values.data());
  }
}

TEST_CASE("a rank dies before it takes part in a transfer") {
  for (int victim : {0, 2}) {
    CAPTURE(victim);
    RankProcesses ranks(3, [&](const World& world, const Say& say) {
      const auto end = shared_memory_rank(world);
      say_all_have_come(*end, say);
      if (world.rank == victim) ::pause();
      std::vector<float> values(100);
      end->start_sum(values.data(), 100);
      end->wait(values.data());
      return std::string();
    });
    hear_all(ranks);
    std::this_thread::sleep_for(50ms);  // the others wait already
    check_death(ranks, victim);
  }
}

TEST_CASE("a rank dies in the middle of a transfer") {
  std::mt19937 random(1);
  for (int round = 0; round < 6; ++round) {
    CAPTURE(round);
    const auto worlds = RankProcesses::worlds_of(3);
    RankProcesses ranks(worlds, [](const World& world, const Say& say) {
      return sum_for_ever(world, say, 4'000'000);
    });
    hear_all(ranks);
    CHECK(!is_left(worlds[0].id));  // nor while they live
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 100));
    check_death(ranks, round % 3);
  }
}

/// Sends to the next rank what it has from the one before, and exchanges parts with all, for ever.
/// requires  count is a multiple of the ranks
std::string pass_for_ever(const World& world, const Say& say, std::int64_t count) {
  const auto end = shared_memory_rank(world);
  say_all_have_come(*end, say);
  std::vector<float> sent(static_cast<std::size_t>(count)), got = sent;
  for (;;) {
    end->start_send(sent.data(), count, (world.rank + 1) % world.ranks);
    end->start_receive(got.data(), count, (world.rank + world.ranks - 1) % world.ranks);
    end->wait(sent.data());
    end->wait(got.data());
    end->start_all_to_all(sent.data(), count);
    end->wait(sent.data());
  }
}

TEST_CASE("a rank dies while others send to it, and receive from it") {
  std::mt19937 random(2);
  for (int round = 0; round < 6; ++round) {
    CAPTURE(round);
    RankProcesses ranks(
        3, [](const World& world, const Say& say) { return pass_for_ever(world, say, 3'000'000); });
    hear_all(ranks);
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 100));
    check_death(ranks, round % 3);
  }
}

TEST_CASE("a rank ends, or dies, that another awaits a message of") {
  for (bool dies : {false, true}) {
    CAPTURE(dies);
    RankProcesses ranks(3, [&](const World& world, const Say& say) {
      const auto end = shared_memory_rank(world);
      say_all_have_come(*end, say);
      if (world.rank == 1 && dies) ::pause();
      if (world.rank == 1) throw Error("no data");
      std::vector<float> values(100);
      end->start_receive(values.data(), 100, world.rank - 1 < 0 ? 1 : world.rank - 1);
      end->wait(values.data());
      return std::string();
    });
    hear_all(ranks);
    std::this_thread::sleep_for(50ms);
    if (dies) {
      check_death(ranks, 1);
    } else {
      const std::string want = "waits for ranks that have stopped: " + ranks.name(1);
      for (int r : {0, 2}) check_has(ranks.result(r), want);
      check_has(ranks.result(1), "no data");
    }
  }
}

TEST_CASE("a rank that hangs is found by whoever waits for one that waits for it") {
  RankProcesses ranks(3, [](World world, const Say& say) {
    world.timeout = 2s;
    const auto end = shared_memory_rank(world);
    say_all_have_come(*end, say);
    if (world.rank == 0) std::this_thread::sleep_for(4s);
    std::vector<float> values(100);
    if (world.rank > 0) end->start_receive(values.data(), 100, world.rank - 1);
    end->wait(values.data());
    if (world.rank < 2) end->start_send(values.data(), 100, world.rank + 1);
    end->wait(values.data());
    return std::string();
  });
  hear_all(ranks);
  const std::string want = ranks.name(0) + " lives, but has not taken part in a transfer for 2 s";
  for (const std::string& said : ranks.results()) check_has(said, want);
}

TEST_CASE("all ranks die at once, at any moment, and leave nothing") {
  for (int wait : {0, 2, 5, 20}) {
    const auto worlds = RankProcesses::worlds_of(3);
    {
      RankProcesses ranks(worlds, [](const World& world, const Say& say) {
        return sum_for_ever(world, say, 1000);
      });
      std::this_thread::sleep_for(std::chrono::milliseconds(wait));
    }
    CHECK(!is_left(worlds[0].id));
  }
}

TEST_CASE("a rank dies while others have not come") {
  auto worlds = RankProcesses::worlds_of(3);
  worlds.pop_back();
  for (int victim : {0, 1}) {
    CAPTURE(victim);
    {
      RankProcesses ranks(worlds, [&](const World& world, const Say& say) {
        if (world.rank == victim) say("here");
        return std::to_string(shared_memory_rank(world)->rank());
      });
      REQUIRE(ranks.next_said(victim) == "here");
      std::this_thread::sleep_for(200ms);
      const std::string want = ranks.name(victim) + " has ended before all ranks had come";
      ranks.signal(victim, SIGKILL);
      check_has(ranks.result(1 - victim), want);
    }  // the system has closed what the victim had
    CHECK(!is_left(worlds[0].id));
  }
}

struct Regression : Recipe<Mlp<{.in = 8, .hidden = 64, .out = 1}>, UpTo<1>, AdamW<{.lr = 1e-3}>,
                           Batch<{.global = 16, .micro = 4}>, Ddp<{.bucket_bytes = 1000}>> {};

/// Takes steps for ever, unless it is `paused` after the first.
[[noreturn]] void step_for_ever(Trainer<Regression>& trainer, const Say& say, bool paused) {
  const HostBatch batch = regression_batch(std::vector<int>(16, 1), 8, 1, 5);
  (void)trainer.step(batch);
  say("here");
  if (paused) ::pause();
  for (;;) (void)trainer.step(batch);
}

TEST_CASE("a rank dies between steps, and others say where they wait for it") {
  RankProcesses ranks(2, [](const World& world, const Say& say) -> std::string {
    Trainer<Regression> trainer({.threads = 1, .world = world});
    step_for_ever(trainer, say, world.rank == 1);
  });
  hear_all(ranks);
  std::this_thread::sleep_for(50ms);
  const PlanView& plan = Plan<Regression>::view;
  const auto wait =
      std::ranges::find(plan.training.program, std::string("await reduce"),
                        [](const Instruction& i) { return std::string(i.kind->name); });
  const std::string where =
      std::to_string(wait - plan.training.program.begin()) + ", 'await reduce' of ";
  ranks.signal(1, SIGKILL);
  const std::string said = ranks.result(0);
  check_has(said, "cannot go on: " + ranks.name(1) + " has died.");
  check_has(said,
            " Rank 0 was in step 2, at instruction " + where + subject(plan.model, *wait) + ".");
}

TEST_CASE("a rank dies while another waits for it between steps") {
  RankProcesses ranks(2, [](const World& world, const Say& say) -> std::string {
    Trainer<Regression> trainer({.threads = 1, .world = world});
    if (world.rank == 1) step_for_ever(trainer, say, true);
    (void)trainer.step(regression_batch(std::vector<int>(16, 1), 8, 1, 5));
    say("here");
    trainer.sum_over_processes(1);
    return std::string();
  });
  hear_all(ranks);
  ranks.signal(1, SIGKILL);
  const std::string said = ranks.result(0);
  check_has(said, "cannot go on: " + ranks.name(1) + " has died.");
  check_has(said, " Rank 0 was between steps, and had made 1.");
}

/// A recipe whose process loses another one while it joins, as it does when that one fails at once.
struct LosesAnother : RecipeOf<Regression> {
  std::unique_ptr<Communicator> join_world(kernel::Stream&, const World&) const override {
    throw RankError("rank 0 has died.");
  }
};

TEST_CASE("a rank that loses another one while it joins says so") {
  CHECK_THROWS_WITH_AS(
      Trainer<Regression>(std::make_shared<LosesAnother>(),
                          {.threads = 1, .world = {.rank = 1, .ranks = 2, .id = "two"}}),
      "rank 0 has died. Rank 1 was joining the others.", RankError);
}

/// Knows at which instruction a rank is.
struct Position : Observer {
  int at = -1;
  void before(const Machine&, int position, int) override { at = position; }
  void after(const Machine&, int, int) override {}
};

TEST_CASE("a rank dies at any moment of a step") {
  std::mt19937 random(2);
  for (int round = 0; round < 6; ++round) {
    CAPTURE(round);
    RankProcesses ranks(2, [&](const World& world, const Say& say) -> std::string {
      Trainer<Regression> trainer({.threads = 1, .world = world});
      Position position;
      trainer.observe({&position});
      try {
        step_for_ever(trainer, say, false);
      } catch (const RankError& error) {
        return error.what() + ("\nin step " + std::to_string(trainer.steps() + 1)) +
               ", at instruction " + std::to_string(position.at) + ",";
      }
    });
    hear_all(ranks);
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 50));
    const int victim = round % 2;
    ranks.signal(victim, SIGKILL);
    const Clock::time_point begin = Clock::now();
    const std::string said = ranks.result(1 - victim);
    CHECK(Clock::now() - begin < 5s);
    check_has(said, ranks.name(victim) + " has died");
    const std::size_t end = said.find('\n');
    REQUIRE(end != std::string::npos);
    check_has(said.substr(0, end), said.substr(end + 1));
  }
}

TEST_CASE("a rank that fails is no reason to wait for it") {
  RankProcesses ranks(3, [](const World& world, const Say&) {
    const auto end = shared_memory_rank(world);
    if (world.rank == 1) throw Error("no data");
    double value = 1;
    end->sum(&value);
    return std::string();
  });
  const std::string want =
      "waits for ranks that have stopped: " + ranks.name(1) + ". Its own error says why.";
  for (int r : {0, 2}) check_has(ranks.result(r), want);
  check_has(ranks.result(1), "no data");
}

TEST_CASE("a rank that is stopped is given up, with transfers of all, and of two, under way") {
  for (const auto& work : {sum_for_ever, pass_for_ever}) {
    RankProcesses ranks(
        3, [&](const World& world, const Say& say) { return work(world, say, 3'000'000); });
    hear_all(ranks);
    std::this_thread::sleep_for(100ms);  // transfers are under way
    const auto begin = std::chrono::steady_clock::now();
    ranks.signal(1, SIGSTOP);
    const std::string want = ranks.name(1) + " has been stopped, as by SIGSTOP, for 3.5 s.";
    for (int r : {0, 2}) check_has(ranks.result(r), want);
    CHECK(std::chrono::steady_clock::now() - begin < 5s);
    ranks.signal(1, SIGCONT);
    check_has(ranks.result(1), want);
  }
}

TEST_CASE("ranks that are all stopped for a while go on") {
  RankProcesses ranks(2, [](World world, const Say& say) {
    world.timeout = 4s;
    const auto end = shared_memory_rank(world);
    say_all_have_come(*end, say);
    const auto begin = std::chrono::steady_clock::now();
    for (double going = 2; going == 2; end->sum(&going))
      going = std::chrono::steady_clock::now() - begin < 6s;
    return std::string("fine");
  });
  hear_all(ranks);
  for (int r : {0, 1}) ranks.signal(r, SIGSTOP);
  std::this_thread::sleep_for(4500ms);
  for (int r : {0, 1}) {
    ranks.signal(r, SIGCONT);
    std::this_thread::sleep_for(300ms);
  }
  for (const std::string& result : ranks.results()) CHECK(result == "fine");
}

TEST_CASE("a rank that lives, but takes no part, is given up") {
  RankProcesses ranks(2, [](World world, const Say&) -> std::string {
    world.timeout = 1s;
    const auto end = shared_memory_rank(world);
    if (world.rank == 1) std::this_thread::sleep_for(2500ms);
    for (double value = 1;; value = 1) end->sum(&value);
  });
  const std::string want = ranks.name(1) + " lives, but has not taken part in a transfer for 1 s";
  for (const std::string& result : ranks.results()) check_has(result, want);
}

TEST_CASE("a rank that is only slow is waited for") {
  RankProcesses ranks(2, [](const World& world, const Say&) {
    const auto end = shared_memory_rank(world);
    if (world.rank == 1) std::this_thread::sleep_for(400ms);
    double value = 1;
    end->sum(&value);
    return std::to_string(value);
  });
  for (const std::string& result : ranks.results()) CHECK(result == "2.000000");
}

/// What the ranks of these worlds say of them.
std::vector<std::string> said_of(const std::vector<World>& worlds,
                                 std::chrono::milliseconds timeout = 20s) {
  RankProcesses ranks(worlds, [&](World world, const Say&) {
    world.timeout = timeout;
    const auto end = shared_memory_rank(world);
    double value = 1;
    end->sum(&value);
    return std::string("fine");
  });
  return ranks.results();
}

TEST_CASE("impossible worlds of one host are refused") {
  const std::string id = shared_memory_world_id();
  SUBCASE("ranks do not come") {
    for (const std::string& said : said_of({{0, 5, id}, {3, 5, id}}, 300ms))
      check_has(said, "ranks 1, 2, 4 of 5 have not come within 0.3 s");
  }
  SUBCASE("rank 0 does not come") {
    check_has(
        said_of({{1, 2, id}}, 300ms)[0],
        "rank 0 of the world \"" + id + "\", for which rank 1 has waited 0.3 s, has not come");
  }
  SUBCASE("another number of ranks") {
    for (const std::string& said : said_of({{0, 4, id}, {1, 3, id}})) {
      check_has(said, "says that there are 3 ranks, and rank 0 that there are 4");
      check_has(said, "rank 1 (process ");
    }
  }
  SUBCASE("a rank twice") {
    for (const std::string& said : said_of({{0, 3, id}, {1, 3, id}, {1, 3, id}}))
      check_has(said, "rank 1 has come twice: as process ");
  }
  SUBCASE("rank 0 twice") {
    const auto said = said_of({{0, 2, id}, {0, 2, id}}, 1s);
    const bool second = said[1].find("already") != std::string::npos;
    check_has(said[second], "there is a rank 0 of the world \"" + id + "\" already");
    check_has(said[!second], "rank 1 of 2 has not come within 1 s");
  }
  SUBCASE("not a rank, and no id") {
    const auto says = [](const World& world, const char* what) {
      check_has(message_of<ArgumentError>([&] { (void)shared_memory_rank(world); }), what);
    };
    says({2, 2, id}, "rank 2 of 2 ranks cannot be");
    says({-1, 2, id}, "rank -1 of 2 ranks cannot be");
    says({0, 0, id}, "rank 0 of 0 ranks cannot be");
    says({0, 2, ""}, "the id of a world has 0 bytes");
    says({0, 2, std::string(81, 'x')}, "the id of a world has 81 bytes");
  }
  CHECK(!is_left(id));
}

TEST_CASE("ranks that sum different arrays are told so") {
  RankProcesses ranks(3, [](const World& world, const Say&) {
    const auto end = shared_memory_rank(world);
    std::vector<float> values(10);
    end->start_sum(values.data(), world.rank == 2 ? 9 : 10);
    end->wait(values.data());
    return std::string("fine");
  });
  for (const std::string& said : ranks.results())
    check_has(said, "All ranks must take the same steps");
}

TEST_CASE("ranks with different roots, or at different transfers, are told so") {
  for (const bool root : {true, false}) {
    RankProcesses ranks(3, [&](const World& world, const Say&) {
      const auto end = shared_memory_rank(world);
      std::vector<float> values(10);
      if (root || world.rank < 2) end->start_broadcast(values.data(), 10, world.rank == 2 ? 1 : 0);
      if (!root && world.rank == 2) end->start_reduce(values.data(), 10, 0);
      end->wait(values.data());
      return std::string("fine");
    });
    for (const std::string& said : ranks.results()) {
      check_has(said, "is at another transfer than others, ");
      check_has(said, root ? "broadcast from rank " : " of 10 elements of 4 bytes");
    }
  }
}

}  // namespace sinter::detail::testing::ranks_tests
