// SPDX-License-Identifier: Apache-2.0
// Runs whose ranks are processes, as launchers start them.
#include "binary/launched.hpp"

#include "support/free_port.hpp"

namespace sinter::detail::testing::launched_tests {

Words training(const Scratch& scratch, const std::string& out, const Words& more = {}) {
  return Words{"train", "--data", write(scratch / "text", some_text(3000)), "--out",
               scratch / out} +
         Words{"--seed", "7", "--threads", "1", "--eval-every", "10", "--save-every", "6"} + more;
}

const Words short_run{"--steps", "24"};

/// Goes on for three steps with so many ranks, and with as many threads from a copy.
void check_resumes(const Scratch& scratch, const std::string& out, int ranks) {
  const std::string run_folder = scratch / out, copy = scratch / (out + ".copy");
  const std::string steps = std::to_string(newest_step(run_folder) + 3);
  const auto words = [&](const std::string& folder) {
    return Words{"train", "--resume", "--out", folder, "--steps", steps, "--threads", "1"};
  };
  fs::copy(run_folder, copy, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  if (ranks == 1) {
    fine(words(run_folder) + Words{"--parallel.ranks", "1"});
    CHECK(newest_step(run_folder) == std::stoi(steps));
    return;
  }
  check_ended(Launched(ranks, words(run_folder)).wait(), 0);
  fine(words(copy) + Words{"--parallel.ranks", std::to_string(ranks)});
  require_same_end(run_folder, copy);
}

TEST_CASE("ranks that are processes come to the end of ranks that are threads, bit for bit") {
  for (const int ranks : {2, 4}) {
    CAPTURE(ranks);
    Scratch scratch;
    fine(
        training(scratch, "threads", short_run + Words{"--parallel.ranks", std::to_string(ranks)}));
    const std::vector<Ended> all =
        Launched(ranks, training(scratch, "processes", short_run)).wait();
    check_ended(all, 0);
    CHECK(all[0].out.find("Done after 24 steps") != std::string::npos);
    require_same_end(scratch / "threads", scratch / "processes");
    check_resumes(scratch, "processes", 2);
  }
}

TEST_CASE("ranks on several hosts have the bits of threads, also if one dies and the run goes on") {
  using Hosts = Launched::OnHosts;
  Scratch scratch;
  fine(training(scratch, "threads", short_run + Words{"--parallel.ranks", "2"}));
  const auto start = [&](const char* out, const Words& more) {
    return Launched(Hosts{2, sinter::detail::testing::free_port()}, training(scratch, out, more));
  };
  check_ended(start("hosts", short_run).wait(), 0);
  require_same_end(scratch / "threads", scratch / "hosts");
  Launched ranks = start("dies", endless);
  wait_for_steps(scratch / "dies", 8);
  ranks[1].signal(SIGKILL);
  const std::string said = ranks.wait()[0].err;
  INFO(said);
  CHECK(said.find("cannot go on: rank 1 (process ") != std::string::npos);
  CHECK(said.find(" has died.") != std::string::npos);
  check_place(said, 0);
  check_resumes(scratch, "dies", 2);
}

TEST_CASE("processes evaluate every example once") {
  Scratch scratch;
  check_ended(Launched(2, training(scratch, "run", short_run)).wait(), 0);
  const std::vector<Ended> all =
      Launched(2, {"eval", "--held-out", "--weights", scratch / "run", "--threads", "1", "--json"})
          .wait();
  check_ended(all, 0);
  const Json result = all[0].json();
  CHECK(result["loss"] == metrics(scratch / "run").back()["val_loss"]);
  const Json alone =
      fine({"eval", "--held-out", "--weights", scratch / "run", "--threads", "1", "--json"}).json();
  CHECK(result == alone);
}

TEST_CASE("a signal to one rank stops all after the same step, and any number of ranks goes on") {
  for (const int ranks : {2, 1, 4}) {
    CAPTURE(ranks);
    Scratch scratch;
    Launched launched(2, training(scratch, "run", endless));
    wait_for_steps(scratch / "run", 8);
    launched[1].signal(SIGTERM);
    const std::vector<Ended> all = launched.wait();
    check_ended(all, 75);
    CHECK(all[0].out.find("Stopped after") != std::string::npos);
    CHECK(all[0].out.find("To go on, with a launcher") != std::string::npos);
    check_resumes(scratch, "run", ranks);
  }
}

TEST_CASE("when a rank dies, the others say which, and its run goes on from the checkpoint") {
  for (const int dead : {1, 0}) {
    CAPTURE(dead);
    Scratch scratch;
    Launched launched(2, training(scratch, "run", endless));
    wait_for_steps(scratch / "run", 8);
    const auto begin = std::chrono::steady_clock::now();
    launched[dead].signal(SIGKILL);
    const std::vector<Ended> all = launched.wait();
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
    const Ended& left = all[std::size_t(1 - dead)];
    CHECK(all[std::size_t(dead)].code == -SIGKILL);
    CHECK_MESSAGE(left.code == 1, left.err);
    CHECK_MESSAGE(left.says("error: rank " + std::to_string(1 - dead) + ": "), left.err);
    CHECK_MESSAGE(left.says("rank " + std::to_string(dead) + " (process "), left.err);
    check_place(left.err, 1 - dead);
    check_resumes(scratch, "run", 2);
  }
}

/// Lets a rank be stopped, and checks that the other ends within so many seconds, and that both say why.
void check_stopped(const Words& more, double seconds, const std::string& why) {
  Scratch scratch;
  Launched launched(2, training(scratch, "run", endless + more));
  wait_for_steps(scratch / "run", 8);
  const auto begin = std::chrono::steady_clock::now();
  launched[1].signal(SIGSTOP);
  REQUIRE(wait_for([&] { return launched[0].has_ended(); }));
  CHECK(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < seconds);
  launched[1].signal(SIGCONT);
  const std::vector<Ended> all = launched.wait();
  check_ended(all, 1);
  CHECK_MESSAGE(all[0].says("rank 1 (process "), all[0].err);
  CHECK_MESSAGE(all[0].says(why), all[0].err);
  check_place(all[0].err, 0);
  check_resumes(scratch, "run", 2);
}

TEST_CASE(
    "a rank that is stopped is named within five seconds, or after a shorter --rank-timeout") {
  check_stopped({}, 5, " has been stopped, as by SIGSTOP, for 3.5 s.");
  check_stopped({"--rank-timeout", "1.5"}, 4, " has not taken part in a transfer for 1.5 s.");
}

TEST_CASE("ranks that are not of one run do not begin, and say in what they differ") {
  Scratch scratch;
  const auto differ = [&](const Words& own, const std::string& what, const std::string& value) {
    CAPTURE(what);
    const std::vector<Ended> all =
        Launched(2, training(scratch, "run", short_run), SINTER_SMALL, own).wait();
    check_ended(all, 1);
    for (const Ended& ended : all) {
      CHECK_MESSAGE(ended.says(what), ended.err);
      CHECK_MESSAGE(ended.says(value), ended.err);
    }
    CHECK(!fs::exists(scratch / "run"));
  };
  differ({"--optimizer.lr", "0.5"}, "options", "0.5");
  differ({"--order", "sequential"}, "data is", "\"data_size\":\"3000\"");
  differ({"--clipping.max", "3"}, "options", "3");
}

TEST_CASE("launched ranks with different seeds do not begin") {
  Scratch scratch;
  const Words words{"train", "--data",        write(scratch / "text", some_text(3000)),
                    "--out", scratch / "run", "--steps",
                    "3",     "--threads",     "1"};
  for (const Ended& ended : Launched(2, words, SINTER_SMALL, {"--seed", "8"}).wait()) {
    CHECK_MESSAGE(ended.code == 1, ended.err);
    CHECK_MESSAGE(ended.says("seed is \"0\" in rank 0 and \"8\" in rank 1"), ended.err);
  }
  CHECK(!fs::exists(scratch / "run"));
}

TEST_CASE("ranks of two binaries do not begin, be their recipes the same or not") {
  Scratch scratch;
  const std::string other = scratch / "other";
  fs::copy(SINTER_SMALL, other);
  std::ofstream(other, std::ios::app) << "more";
  const auto check_differ = [&](const std::string& second, const std::string& what) {
    Launched launched({SINTER_SMALL, second}, training(scratch, "run", short_run));
    for (const Ended& ended : launched.wait()) {
      CHECK_MESSAGE(ended.code == 1, ended.err);
      CHECK_MESSAGE(ended.says(what), ended.err);
    }
    CHECK(!fs::exists(scratch / "run"));
  };
  check_differ(other, "binary is ");
  check_differ(SINTER_AT_ROOT, "recipe is ");
}

TEST_CASE("a run goes back over processes as over threads") {
  const auto diverging = [](const Scratch& scratch, const std::string& out) {
    return Words{"train", "--data", write(scratch / "text", some_text(3000)), "--out",
                 scratch / out} +
           Words{"--optimizer.lr", "1e30", "--schedule.warmup", "0", "--save-every", "1"} +
           Words{"--eval-every",    "100000", "--steps",   "20",
                 "--recovery.most", "2",      "--threads", "1"} +
           Words{"--recovery.factor", "0.25"};
  };
  Scratch scratch;
  const Ended alone =
      run(diverging(scratch, "threads") + Words{"--parallel.ranks", "2"}, SINTER_GUARDED);
  CHECK(alone.code == 3);
  const std::vector<Ended> all =
      Launched(2, diverging(scratch, "processes"), SINTER_GUARDED).wait();
  CHECK_MESSAGE(all[0].code == 3, all[0].err);
  CHECK_MESSAGE(all[1].code == 3, all[1].err);
  CHECK(all[1].says("Rank 0 says which checkpoint is good"));
  // Rows of the log name the folder that they go back to.
  for (const char* file : {"last/model.safetensors", "last/state.safetensors"})
    CHECK_MESSAGE(content(scratch / "threads/" + file) == content(scratch / "processes/" + file),
                  file);
  CHECK(metrics(scratch / "threads").size() == metrics(scratch / "processes").size());
}

/// Two processes of a binary are stopped in a run without end. Two processes, and two threads of one, go on
/// from what they have saved, and end alike.
void check_going_on(const Scratch& scratch, const char* binary) {
  Launched launched(2, training(scratch, "stopped", endless), binary);
  wait_for_steps(scratch / "stopped", 8);
  launched[1].signal(SIGTERM);
  check_ended(launched.wait(), 75);
  const std::string steps = std::to_string(newest_step(scratch / "stopped") + 7);
  const std::string copy = scratch / "copy";
  fs::copy(scratch / "stopped", copy,
           fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  const auto go_on = [&](const std::string& folder) {
    return Words{"train", "--resume", "--out", folder, "--steps", steps, "--threads", "1"};
  };
  check_ended(Launched(2, go_on(scratch / "stopped"), binary).wait(), 0);
  fine(go_on(copy), binary);
  require_same_end(scratch / "stopped", copy);
}

TEST_CASE("ranks with shards save whole checkpoints over processes, and go on from them") {
  Scratch scratch;
  fine(training(scratch, "threads", short_run), SINTER_SHARDED);
  check_ended(Launched(2, training(scratch, "processes", short_run), SINTER_SHARDED).wait(), 0);
  require_same_end(scratch / "threads", scratch / "processes");
  check_going_on(scratch, SINTER_SHARDED);
}

TEST_CASE("one rank that updates for all saves over processes, and all go on from that") {
  Scratch scratch;
  fine(training(scratch, "threads", short_run), SINTER_AT_ROOT);
  const std::vector<Ended> all =
      Launched(2, training(scratch, "processes", short_run), SINTER_AT_ROOT).wait();
  check_ended(all, 0);
  CHECK(all[0].out.find("Done after 24 steps") != std::string::npos);
  require_same_end(scratch / "threads", scratch / "processes");
  check_going_on(scratch, SINTER_AT_ROOT);
}

TEST_CASE("verbs and options that several processes do not support are refused") {
  Scratch scratch;
  const auto refused = [&](const Words& words, const std::string& what,
                           const std::string& binary = SINTER_SMALL) {
    for (const Ended& ended : Launched(2, words, binary).wait()) check_refused(ended, 2, what);
  };
  const Words usual = training(scratch, "run", short_run);
  refused(usual + Words{"--parallel.ranks", "2"},
          "./sinter launch has started 2 ranks, which is the number of ranks. Leave "
          "--parallel.ranks out.");
  refused({"train", "--data", scratch / "text", "--steps", "3"}, "Give --out DIR");
  refused({"describe"}, "describe is the work of one process");
  refused(usual, "has no ranks that are processes", SINTER_RAMP);
  for (const Ended& ended : Launched(3, usual, SINTER_SHARDED).wait())
    check_refused(ended, 2, "the recipe sharded is one of 2. Start as many.");
  refused(usual + Words{"--rank-timeout", "0.5"}, "--rank-timeout");
  check_refused(run(usual + Words{"--rank-timeout", "3"}), 2,
                "--rank-timeout is for ranks that a launcher has started");
  CHECK(!fs::exists(scratch / "run"));
}

}  // namespace sinter::detail::testing::launched_tests
