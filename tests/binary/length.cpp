// SPDX-License-Identifier: Apache-2.0
// How long a run is, by steps, epochs and examples, and what its schedule makes of that.
#include "binary/support.hpp"

namespace sinter::detail::testing::length_tests {

/// The recipe small with a schedule whose horizon is the run's length.
Words with_length(const std::string& text, const std::string& out) {
  return {"train", "--data", text, "--out", out, "--schedule.steps", "0", "--seed", "3"};
}

double last_rate(const std::string& run) { return metrics(run).back()["lr"].get<double>(); }

TEST_CASE("a schedule without steps ends with the run, wherever that is") {
  Scratch scratch;
  const std::string text = write(scratch / "text", some_text(3000));
  const std::string stated = scratch / "stated", left_out = scratch / "left_out";
  fine(with_length(text, left_out) + Words{"--steps", "12"});
  fine(Words{"train", "--data", text, "--out", stated, "--seed", "3", "--steps", "12",
             "--schedule.steps", "12"});
  CHECK(metrics(left_out).size() == 12);
  CHECK(last_rate(left_out) == last_rate(stated));
  CHECK(content(left_out + "/last/model.safetensors") ==
        content(stated + "/last/model.safetensors"));
  const Json manifest = Json::parse(content(left_out + "/last/manifest.json"));
  CHECK(manifest["info"]["trainer"]["run_steps"] == 12);
  CHECK(Json::parse(content(left_out + "/run.json"))[0]["run_steps"] == 12);

  // A resume that is told nothing has nothing to do; one that is told more moves the horizon.
  CHECK(run(with_length(text, left_out) + Words{"--resume"}).says("is at step 12 already"));
  const Ended more = run(Words{"train", "--resume", "--out", left_out, "--steps", "20"});
  CHECK(more.code == 0);
  CHECK(more.says("the run's last step, is 20, as given; it was 12"));
  CHECK(metrics(left_out).size() == 20);
}

TEST_CASE("a run that is stopped and told nothing goes on to its own end") {
  Scratch scratch;
  const std::string text = write(scratch / "text", some_text(3000)), out = scratch / "run";
  {
    Process process(SINTER_SMALL, with_length(text, out) + Words{"--steps", "3000"});
    REQUIRE(
        wait_for([&] { return fs::exists(out + "/metrics.jsonl") && metrics(out).size() > 4; }));
    process.signal(SIGTERM);
    CHECK(process.wait().code == 75);
  }
  Process process(SINTER_SMALL, {"train", "--resume", "--out", out});
  const std::size_t before = metrics(out).size();
  REQUIRE(wait_for([&] { return metrics(out).size() > before + 2; }));
  process.signal(SIGTERM);
  const Ended ended = process.wait();
  CHECK(ended.out.find("/3000  loss") != ended.out.npos);
}

TEST_CASE("steps that cannot learn are refused, and another end than the schedule's is said") {
  Scratch scratch;
  const std::string text = write(scratch / "text", some_text(3000)), out = scratch / "run";
  const Words data{"train", "--data", text, "--out", out, "--schedule.floor", "0"};
  check_refused(run(data + Words{"--steps", "60"}), 1,
                "the learning rate is 0 from step 41 to the last step, 60");
  CHECK(!fs::exists(out));
  const Ended early = run(data + Words{"--steps", "3"});
  CHECK(early.code == 0);
  CHECK(
      early.out.find("length  the schedule's horizon is step 40, and the run ends at step 3: that "
                     "is within its warm-up of 5 steps, at 0.6 times") != early.out.npos);
  check_refused(run(data + Words{"--resume", "--steps", "41"}), 1,
                "End the run there (--steps 40), or move the horizon (--schedule.steps 41");
  const Ended moved =
      run(data + Words{"--resume", "--steps", "6", "--schedule.steps", "6", "--quiet"});
  CHECK(moved.code == 0);
}

TEST_CASE("--epochs and --examples end exactly, and a resume goes on to there") {
  Scratch scratch;
  const std::string text = write(scratch / "text", some_text(3000));
  // 2,700 bytes train: epochs of 168 windows, or one less where an epoch begins late; 8 in a batch.
  const std::string whole = scratch / "whole", parts = scratch / "parts", steps = scratch / "steps";
  const Ended ended = run(with_length(text, whole) + Words{"--epochs", "2"});
  REQUIRE_MESSAGE(ended.code == 0, ended.err);
  CHECK(
      ended.out.find("--epochs 2 ends the run after step 42; an epoch is 168 windows of 16 bytes, "
                     "and leaves out 11") != ended.out.npos);
  CHECK(metrics(whole).size() == 42);
  CHECK(metrics(whole).back()["tokens"].get<int>() <= 2 * 168 * 16);
  CHECK(metrics(whole).back()["tokens"].get<int>() > 41 * 8 * 16);
  const Json sampler = Json::parse(content(whole + "/last/manifest.json"))["info"]["sampler"];
  CHECK(sampler["end"] == sampler["items"]);
  CHECK(sampler["epoch"] == "2");
  // Up to the last, its batches are those of --steps.
  fine(with_length(text, steps) + Words{"--steps", "42"});
  for (int k = 0; k < 41; ++k) CHECK(metrics(whole)[k]["loss"] == metrics(steps)[k]["loss"]);

  fine(with_length(text, parts) + Words{"--examples", "100"});
  CHECK(metrics(parts).size() == 13);
  CHECK(metrics(parts).back()["tokens"] == 100 * 16);
  // The schedule ends there: the rates are those of as many steps.
  const std::string as_many = scratch / "as_many";
  fine(with_length(text, as_many) + Words{"--steps", "13"});
  for (int k = 0; k < 13; ++k) CHECK(metrics(parts)[k]["lr"] == metrics(as_many)[k]["lr"]);
  for (int k = 0; k < 12; ++k) CHECK(metrics(parts)[k]["loss"] == metrics(as_many)[k]["loss"]);
  check_refused(run(with_length(text, parts) + Words{"--examples", "5", "--epochs", "1"}), 2,
                "--epochs and --examples exclude each other");
  check_refused(run(with_length(text, parts) + Words{"--resume", "--examples", "50"}), 1,
                "the run has trained on 100 already, and would end after 50");
  fine(with_length(text, parts) + Words{"--resume", "--examples", "104"});
  CHECK(metrics(parts).size() == 14);
}

TEST_CASE("a run with epochs that is stopped ends where it was to end") {
  Scratch scratch;
  const std::string text = write(scratch / "text", some_text(30'000)), out = scratch / "run";
  {
    Process process(SINTER_SMALL, with_length(text, out) + Words{"--epochs", "1"});
    REQUIRE(
        wait_for([&] { return fs::exists(out + "/metrics.jsonl") && metrics(out).size() > 4; }));
    process.signal(SIGTERM);
    const Ended ended = process.wait();
    if (ended.code == 75) CHECK(ended.out.find("--steps") == ended.out.npos);
  }
  fine({"train", "--resume", "--out", out});
  fine(with_length(text, scratch / "whole") + Words{"--epochs", "1"});
  CHECK(metrics(out).size() == metrics(scratch / "whole").size());
  CHECK(content(out + "/last/model.safetensors") ==
        content(scratch / "whole/last/model.safetensors"));
}

TEST_CASE("the best step is named, and --weights RUN takes it and says so") {
  Scratch scratch;
  const std::string text = write(scratch / "text", some_text(3000)), out = scratch / "run";
  // A rate that is far too high at the end of the warm-up makes the first step the best.
  const Words data{"train", "--data",       text, "--out",  out, "--optimizer.lr",
                   "3",     "--eval-every", "1",  "--keep", "9"};
  const Ended ended = run(data + Words{"--steps", "6", "--json"});
  const Json summary = ended.json();
  const int best = summary["best_step"];
  REQUIRE(best < 6);
  CHECK(summary["best_val_loss"] < summary["val_loss"]);
  CHECK(ended.says("; the best is step " + std::to_string(best) + ", whose validation loss is "));
  const std::string step = std::to_string(best);
  const auto loss = [&](const std::string& weights) {
    return run({"eval", "--weights", weights, "--held-out", "--json"}).json()["loss"].get<double>();
  };
  CHECK(loss(out) == loss(out + "@best"));
  CHECK(loss(out) == loss(out + "@" + step));
  CHECK(loss(out + "@last") > loss(out));
  const std::string taken =
      "the weights are those of step " + step + ", the run's best; " + out + "@last takes its last";
  CHECK(run({"eval", "--weights", out, "--held-out"}).says(taken));
  CHECK(run({"generate", "--weights", out, "--tokens", "2", "--prompt", "a"}).says(taken));
  CHECK(run({"describe", "--weights", out}).says(taken));
  CHECK(run({"export", "--weights", out, "--out", scratch / "exported"}).says(taken));
  const std::string ids = write(scratch / "ids", "{\"ids\": [1, 2]}\n");
  CHECK(run({"predict", "--weights", out, "--ids", ids, "--json"}).says(taken));
  CHECK(run({"train", "--data", text, "--weights", out, "--out", scratch / "on", "--steps", "1"})
            .says(taken));
  check_refused(run({"eval", "--weights", out + "@77", "--data", text}), 1, "no checkpoint '77'");
}

}  // namespace sinter::detail::testing::length_tests
