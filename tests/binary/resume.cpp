// SPDX-License-Identifier: Apache-2.0
// A run that is stopped and resumed is, bit for bit, one that never was.
#include "binary/support.hpp"

namespace sinter::detail::testing::resume_tests {

TEST_CASE("40 steps are 20 steps, a stop and 20 more") {
  // 2700 bytes train: an epoch of 168 windows ends inside step 21; 4 micro-batches a step, dropout.
  Scratch scratch;
  Words data{"train", "--data", write(scratch / "text", some_text(3000)), "--seed", "7"};
  for (Words more : {Words{"--eval-every", "10"}, Words{"--order", "sequential"},
                     Words{"--eval-every", "20", "--parallel.ranks", "2", "--threads", "2"}}) {
    CAPTURE(more);
    std::string whole = scratch / ("whole" + more[1]), parts = scratch / ("parts" + more[1]);
    fine(data + more + Words{"--out", whole, "--steps", "40"});
    fine(data + more + Words{"--out", parts, "--steps", "20"});
    CHECK(metrics(parts).size() == 20);
    fine(data + more + Words{"--out", parts, "--steps", "40", "--resume"});
    CHECK(metrics(parts).size() == 40);
    require_same_end(whole, parts);
  }
}

TEST_CASE("a run that stops in the ramp of batch and length goes on in it") {
  Scratch scratch;
  Words data{"train", "--data", write(scratch / "text", some_text(3000)), "--seed", "7"};
  for (const char* order : {"shuffled", "sequential"}) {
    std::string whole = scratch / (std::string("whole") + order), parts = scratch / order;
    Words more{"--order", order, "--batch_warmup.sequences", "80"}, often{"--eval-every", "10"};
    fine(data + more + often + Words{"--out", whole, "--steps", "30"}, SINTER_RAMP);
    fine(data + more + often + Words{"--out", parts, "--steps", "10"}, SINTER_RAMP);
    fine(data + often + Words{"--out", parts, "--steps", "30", "--resume"}, SINTER_RAMP);
    require_same_end(whole, parts);
    std::vector<Json> rows = metrics(whole);
    CHECK(rows[0]["tokens"] == 2 * 4);
    CHECK(rows[0]["lr"].get<double>() == doctest::Approx(5e-3));
    CHECK(rows[29]["tokens"].get<int>() - rows[28]["tokens"].get<int>() == 8 * 16);
    CHECK(rows[29]["lr"].get<double>() == doctest::Approx(1e-2));
  }
}

TEST_CASE("a signal ends the run after a complete step, with a checkpoint and code 75") {
  Scratch scratch;
  Words data{"train", "--data", write(scratch / "text", some_text(3000)), "--schedule.steps",
             "99999"};
  for (int signal : {SIGTERM, SIGHUP, SIGUSR1, SIGXCPU, SIGINT}) {
    CAPTURE(signal);
    std::string out = scratch / std::to_string(signal);
    Process process(SINTER_SMALL, data + Words{"--out", out});
    REQUIRE(
        wait_for([&] { return fs::exists(out + "/metrics.jsonl") && metrics(out).size() > 4; }));
    process.signal(signal);
    // A second one, most likely while it saves, changes nothing, unless it is an interrupt.
    if (signal != SIGINT) process.signal(signal);
    Ended ended = process.wait();
    CHECK(ended.code == 75);
    CHECK(ended.out.find("To go on: ") != ended.out.npos);
    std::size_t steps = metrics(out).size();
    CHECK(Json::parse(content(out + "/last/manifest.json"))["step"] == steps);
    std::string target = std::to_string(steps + 10);
    fine(data + Words{"--out", out, "--resume", "--steps", target});
    std::string whole = out + "-whole";
    fine(data + Words{"--out", whole, "--steps", target});
    require_same_end(whole, out);
  }
}

TEST_CASE("a run that is killed goes on from its newest checkpoint; later rows are dropped") {
  Scratch scratch;
  Words data{"train",
             "--data",
             write(scratch / "text", some_text(3000)),
             "--schedule.steps",
             "99999",
             "--save-every",
             "5"};
  std::string out = scratch / "run";
  {
    Process process(SINTER_SMALL, data + Words{"--out", out});
    REQUIRE(wait_for([&] { return fs::exists(out + "/last") && metrics(out).size() > 12; }));
    process.signal(SIGKILL);
    CHECK(process.wait().code == -SIGKILL);
  }
  // The kill may have come between a checkpoint and the link to it, and so `last` may be one behind.
  int saved = newest_step(out);
  CHECK(saved % 5 == 0);
  std::string target = std::to_string(saved + 3);
  fine(data + Words{"--out", out, "--resume", "--steps", target});
  fine(data + Words{"--out", scratch / "whole", "--steps", target});
  require_same_end(scratch / "whole", out);
}

TEST_CASE("an evaluation that a stop cuts short is made up for") {
  Scratch scratch;
  // Half a million bytes are held out: seconds.
  Words data{"train", "--data", write(scratch / "text", some_text(5'000'000)), "--steps", "1"};
  std::string out = scratch / "run";
  Process process(SINTER_SMALL, data + Words{"--out", out});
  REQUIRE(wait_for([&] { return fs::exists(out + "/metrics.jsonl"); }));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  process.signal(SIGINT);
  Ended ended = process.wait();
  if (ended.code == 0) {
    MESSAGE("skipped: the evaluation was over before the signal came");
    return;
  }
  CHECK(ended.code == 75);
  int step = Json::parse(content(out + "/last/manifest.json"))["step"];
  if (step == 1) CHECK(!metrics(out).at(0).contains("val_loss"));
  fine(data + Words{"--out", out, "--resume"});
  fine(data + Words{"--out", scratch / "whole"});
  require_same_end(scratch / "whole", out);
  CHECK(metrics(out).at(0).contains("val_loss"));
}

TEST_CASE("a resumed run keeps its options, seed and order unless others are given") {
  Scratch scratch;
  std::string text = write(scratch / "text", some_text(3000)), out = scratch / "run";
  fine({"train", "--data", text, "--out", out, "--steps", "6", "--optimizer.lr", "0.004", "--seed",
        "9", "--order", "sequential", "--batch.global", "4"});
  Ended kept = fine({"train", "--data", text, "--out", out, "--steps", "8", "--resume"});
  CHECK(kept.says("note: optimizer.lr is 0.004, as before; the recipe says 0.01."));
  CHECK(metrics(out)[7]["lr"].get<double>() < 0.004);
  CHECK(metrics(out)[7]["lr"].get<double>() > 0.0035);
  CHECK(metrics(out)[7]["tokens"] == 8 * 4 * 16);
  Ended given = fine({"train", "--data", text, "--out", out, "--steps", "9", "--resume",
                      "--optimizer.lr", "0.001"});
  CHECK(given.says("note: optimizer.lr is 0.001, as given; it was 0.004."));
  CHECK(metrics(out)[8]["lr"].get<double>() < 0.001);
  Ended seed = run({"train", "--data", text, "--out", out, "--resume", "--seed", "8"});
  CHECK(seed.code == 2);
  CHECK(seed.says("the run has the seed 9"));
  Ended order = run({"train", "--data", text, "--out", out, "--resume", "--order", "shuffled"});
  CHECK(order.code == 1);
  CHECK(order.says("the order was sequential and is shuffled"));
  Ended data =
      run({"train", "--data", write(scratch / "other", some_text(3001)), "--out", out, "--resume"});
  CHECK(data.code == 1);
  CHECK(data.says("does not fit these data"));
  CHECK(metrics(out).size() == 9);
}

TEST_CASE("at or beyond its last step a run says so") {
  Scratch scratch;
  std::string text = write(scratch / "text", some_text(3000)), out = scratch / "run";
  fine({"train", "--data", text, "--out", out, "--steps", "6"});
  std::string manifest = content(out + "/last/manifest.json");
  Ended at = run({"train", "--data", text, "--out", out, "--steps", "6", "--resume", "--json"});
  CHECK(at.json()["steps"] == 6);
  CHECK(at.says("is at step 6 already; a larger --steps would go on"));
  const Ended told = fine({"train", "--out", out, "--resume"});
  CHECK(told.out.find(": no step is left, a checkpoint") != std::string::npos);
  Ended beyond = run({"train", "--data", text, "--out", out, "--steps", "4", "--resume"});
  CHECK(beyond.code == 1);
  CHECK(beyond.says("is at step 6 already, beyond the step 4"));
  CHECK(metrics(out).size() == 6);
  CHECK(content(out + "/last/manifest.json") == manifest);
}

TEST_CASE("resuming is an error if there is nothing to resume") {
  Scratch scratch;
  std::string text = write(scratch / "text", some_text(3000));
  Ended nothing = run({"train", "--data", text, "--out", scratch / "none", "--resume"});
  CHECK(nothing.code == 1);
  CHECK(nothing.says("There is nothing to resume in " + scratch / "none"));
  CHECK(!fs::exists(scratch / "none"));
  fs::create_directory(scratch / "empty");
  CHECK(run({"train", "--data", text, "--out", scratch / "empty", "--resume"}).code == 1);
}

TEST_CASE("a used folder is not trained into without --resume") {
  Scratch scratch;
  std::string text = write(scratch / "text", some_text(3000)), out = scratch / "run";
  fine({"train", "--data", text, "--out", out, "--steps", "2"});
  Ended again = run({"train", "--data", text, "--out", out, "--steps", "4"});
  CHECK(again.code == 1);
  CHECK(again.says("holds a run that has reached step 2"));
  CHECK(metrics(out).size() == 2);
}

TEST_CASE("a damaged newest checkpoint is passed over; a run with no good one is refused") {
  Scratch scratch;
  Words data{"train", "--data", write(scratch / "text", some_text(3000)), "--eval-every", "100000"};
  std::string out = scratch / "run";
  fine(data + Words{"--out", out, "--steps", "8", "--save-every", "4"});
  std::string bytes = content(out + "/last/state.safetensors");
  bytes[bytes.size() / 2] ^= 1;
  write(fs::canonical(out + "/last/state.safetensors").string(), bytes);
  Ended ended = fine(data + Words{"--out", out, "--steps", "10", "--resume", "--quiet"});
  CHECK(ended.says("state.safetensors"));
  CHECK(ended.says("damaged"));
  fine(data + Words{"--out", scratch / "whole", "--steps", "10", "--save-every", "4"});
  // Step 8 was the end of the first run: it alone was evaluated there.
  CHECK(content(out + "/last/model.safetensors") ==
        content(scratch / "whole/last/model.safetensors"));
  for (const auto& entry : fs::directory_iterator(out))
    if (entry.is_directory() && !entry.is_symlink())
      fs::resize_file(entry.path() / "model.safetensors", 100);
  Ended none = run(data + Words{"--out", out, "--steps", "12", "--resume"});
  CHECK(none.code == 1);
  CHECK(none.says("none of its checkpoints is good"));
}

TEST_CASE("--resume=auto begins where there is nothing, and goes on where there is a checkpoint") {
  Scratch scratch;
  Words data{"train", "--data", write(scratch / "text", some_text(3000)), "--eval-every", "100000"};
  std::string out = scratch / "run";
  for (const Words& resume : {Words{"--resume=auto"}, Words{"--resume", "auto"}}) {
    Words line = data + resume + Words{"--out", out, "--save-every", "4", "--steps"};
    Ended begun = fine(line + Words{"6"});
    CHECK(begun.says("note: there is no checkpoint in " + out + ", so a new run begins."));
    Ended resumed = fine(line + Words{"12"});
    CHECK(!resumed.says("a new run begins"));
    CHECK(metrics(out).size() == 12);
    fs::remove_all(out);
  }
  fine(data + Words{"--resume=auto", "--out", out, "--steps", "6"});
  fine(data + Words{"--resume=auto", "--out", out, "--steps", "12"});
  fine(data + Words{"--out", scratch / "whole", "--steps", "6"});
  fine(data + Words{"--out", scratch / "whole", "--steps", "12", "--resume"});
  require_same_end(scratch / "whole", out);

  // Where a run was killed before its first checkpoint.
  {
    std::string lost = scratch / "killed";
    Process process(SINTER_SMALL,
                    data + Words{"--out", lost, "--schedule.steps", "99999", "--save-every", "0"});
    REQUIRE(
        wait_for([&] { return fs::exists(lost + "/metrics.jsonl") && metrics(lost).size() > 7; }));
    process.signal(SIGKILL);
    process.wait();
  }
  Words killed = data + Words{"--out", scratch / "killed", "--steps", "6", "--quiet"};
  CHECK(run(killed + Words{"--resume"}).says("it holds no checkpoint"));
  CHECK(run(killed).says("the metrics of an earlier run"));
  Ended anew = fine(killed + Words{"--resume=auto"});
  CHECK(
      anew.says("ended before its first checkpoint. Its steps are lost, and the run begins anew"));
  CHECK(metrics(scratch / "killed").size() == 6);

  // Weights are for the beginning; mistakes are found as ever, and leave no folder.
  Words from = data + Words{"--weights", out, "--resume=auto", "--out", scratch / "tuned"};
  fine(from + Words{"--steps", "2"});
  fine(from + Words{"--steps", "4"});
  CHECK(metrics(scratch / "tuned").size() == 4);
  Ended word = run(data + Words{"--resume=maybe", "--out", scratch / "new"});
  CHECK(word.code == 2);
  CHECK(word.says("--resume takes auto, or nothing, not 'maybe'"));
  Ended bad =
      run(data + Words{"--resume=auto", "--out", scratch / "new", "--schedule.warmup", "99"});
  CHECK(bad.code == 2);
  CHECK(
      run({"train", "--data", scratch / "none", "--resume=auto", "--out", scratch / "new"}).code ==
      1);
  CHECK(!fs::exists(scratch / "new"));
  CHECK(run(data + Words{"--resume=auto"}).says("--resume needs --out"));
}

}  // namespace sinter::detail::testing::resume_tests
