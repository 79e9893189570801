// SPDX-License-Identifier: Apache-2.0
// Options of policies as flags: what they may be, alone and together, and who listens to them.
#include <cmath>

#include "binary/support.hpp"

namespace sinter::detail::testing::options_tests {

void refuses(const std::vector<std::string>& words, const std::string& message,
             const std::string& binary = SINTER_SMALL, int code = 2) {
  CAPTURE(words);
  Ended ended = run(words, binary);
  CAPTURE(ended.err);
  CHECK(ended.code == code);
  CHECK(ended.out.empty());
  CHECK(ended.err.starts_with("error: "));
  CHECK(ended.says(message));
}

using Words = std::vector<std::string>;

TEST_CASE("a number outside its range is a wrong command line") {
  for (const char* verb : {"train", "describe"}) {
    for (const char* bad : {"1", "1.5", "-0.1", "nan"})
      refuses(
          {verb, "--optimizer.beta1", bad},
          std::string("--optimizer.beta1 takes a number of at least 0 and below 1, not '") + bad);
    for (const char* bad : {"0", "-1", "inf"})
      refuses({verb, "--clipping.max", bad}, "--clipping.max takes a number above 0, not '");
    refuses({verb, "--optimizer.eps", "0"}, "--optimizer.eps takes a number above 0, not '0'");
    refuses({verb, "--schedule.floor", "1.1"},
            "--schedule.floor takes a number of at least 0 and at most 1, not '1.1'");
    refuses({verb, "--schedule.steps", "-1"},
            "--schedule.steps takes a whole number of at least 0, not '-1'");
    refuses({verb, "--batch.global", "0"}, "--batch.global takes a whole number of at least 1");
  }
  refuses({"train", "--batch_warmup.sequences", "4294967297"},
          "takes a whole number of at least 1 and at most 4294967296, not '4294967297'",
          SINTER_RAMP);
  CHECK(run({"describe", "--optimizer.lr", "0", "--schedule.floor", "1"}).code == 0);
}

TEST_CASE("help and describe say what an option may be") {
  CHECK(run({"train", "--help"}).out.find("Default: 0.9; at least 0 and below 1.") !=
        std::string::npos);
  const std::string text = run({"describe"}).out;
  CHECK(text.find("optimizer.beta1             0.9           at least 0 and below 1\n") !=
        text.npos);
  CHECK(text.find("batch.micro                 2             in the type\n") != text.npos);
}

TEST_CASE("a warm-up that is longer than the schedule is refused") {
  const std::string message = "in schedule, the warm-up is beyond the horizon: schedule.warmup is ";
  for (const char* verb : {"train", "describe"}) {
    refuses({verb, "--schedule.steps", "4"}, message + "5, schedule.steps is 4");
    refuses({verb, "--schedule.warmup", "100"}, "raise steps, or lower warmup.");
  }
  CHECK(run({"describe", "--schedule.steps", "4", "--schedule.warmup", "2"}).code == 0);
}

TEST_CASE("a run that stops within the warm-up is no mistake: the horizon is the schedule's") {
  Scratch scratch;
  std::string text = write(scratch / "text", some_text(3000)), out = scratch / "run";
  CHECK(run({"train", "--data", text, "--out", out, "--steps", "2"}).code == 0);
}

TEST_CASE("a resumed run is checked with the options that it had") {
  Scratch scratch;
  std::string text = write(scratch / "text", some_text(3000)), out = scratch / "run";
  const Words train{"train", "--data", text, "--out", out};
  auto with = [&](Words more) {
    more.insert(more.begin(), train.begin(), train.end());
    return more;
  };
  REQUIRE(run(with({"--steps", "2", "--schedule.warmup", "2", "--schedule.steps", "30"})).code ==
          0);
  // The recipe's warm-up is 5, the run's is 2.
  REQUIRE(run(with({"--resume", "--steps", "4", "--schedule.steps", "4"})).code == 0);
  refuses(with({"--resume", "--steps", "8", "--schedule.warmup", "6"}),
          "as far as no flag gives others: in schedule, the warm-up is beyond the horizon: "
          "schedule.warmup is 6, schedule.steps is 4",
          SINTER_SMALL, 1);
  CHECK(metrics(out).size() == 4);
}

TEST_CASE("an option that nothing reads is no flag, and says why") {
  refuses({"train", "--optimizer.lr", "1e-3"},
          "--optimizer.lr is no flag of this recipe: relative_step makes the rate", SINTER_WATCHER);
  CHECK(run({"describe", "--optimizer.clip_threshold", "2"}, SINTER_WATCHER).code == 0);
}

TEST_CASE("the base of a scaled rate is a flag, and what it does is said") {
  Ended described = run({"describe", "--scaling.base", "2"}, SINTER_WATCHER);
  CAPTURE(described.out);
  CHECK(described.code == 0);
  CHECK(described.out.find("note    the learning rate, found for batches of 2 sequences, is "
                           "multiplied by 4 for those of 8 (linear rule)\n") != std::string::npos);
  refuses({"train", "--scaling.base", "0"}, "takes a whole number of at least 1", SINTER_WATCHER);
  refuses({"train", "--scaling.rule", "root"}, "scaling.rule is part of the recipe's type",
          SINTER_WATCHER);
}

TEST_CASE("a schedule that acts on validation losses gets some, or the run says so") {
  Scratch scratch;
  std::string text = write(scratch / "text", some_text(3000)), out = scratch / "run";
  const Words train{"train", "--data", text, "--out", out, "--steps", "6"};
  auto with = [&](const Words& more) {
    Words words = train;
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  refuses(with({"--order", "sequential"}), "The recipe's schedule acts on validation losses",
          SINTER_WATCHER);
  CHECK(!fs::exists(out));
  Ended late = run(train, SINTER_WATCHER);
  CHECK(late.code == 0);
  CHECK(late.out.find("warning: the recipe's schedule acts on validation losses, but the first one "
                      "comes after step 6, the last") != std::string::npos);
  fs::remove_all(out);
  Ended told = run(with({"--eval-every", "1"}), SINTER_WATCHER);
  CHECK(told.code == 0);
  CHECK(told.out.find("warning: the recipe's schedule") == std::string::npos);
  std::vector<Json> rows = metrics(out);
  REQUIRE(rows.size() == 6);
  // 2 × min(1/√t, 0.01), times 0.1 after each evaluation but the first: none is a tenth of the
  // best.
  for (std::size_t t = 0; t < rows.size(); ++t) {
    const double factor = t < 2 ? 1 : std::pow(.1, double(t - 1));
    CHECK(rows[t]["lr"].get<double>() == doctest::Approx(.02 * factor).epsilon(1e-9));
  }
}

TEST_CASE("labels are smoothed by a flag, and the accuracy of tokens is in log, eval and best") {
  Scratch scratch;
  const std::string text = write(scratch / "text", some_text(3000)),
                    held_out = write(scratch / "held_out", some_text(500)),
                    plain = scratch / "plain", smooth = scratch / "smooth";
  const auto train = [&](const std::string& out, const std::string& factor) {
    return fine({"train", "--data", text, "--validation", held_out, "--out", out, "--steps", "4",
                 "--eval-every", "2", "--label_smoothing.factor", factor, "--best-by",
                 "token_accuracy", "--json"},
                SINTER_WATCHER)
        .json();
  };
  const Json with = train(smooth, "0.5"), without = train(plain, "0");
  const auto of_plain = metrics(plain), of_smooth = metrics(smooth);
  // Near the first weights all tokens are alike, so both losses are ln 256; gradients are not.
  CHECK(of_smooth[0]["loss"].get<double>() != of_plain[0]["loss"].get<double>());
  CHECK(of_smooth[0]["grad_norm"].get<double>() < .9 * of_plain[0]["grad_norm"].get<double>());
  const double accuracy = with["val_token_accuracy"].get<double>();
  CHECK(accuracy >= 0);
  CHECK(accuracy <= 1);
  for (const Json& row : of_smooth)
    CHECK(row.contains("val_token_accuracy") == row.contains("val_loss"));
  CHECK(with.contains("best_val_token_accuracy"));
  const Words eval{"eval", "--weights", smooth, "--data", held_out};
  Words as_json = eval;
  as_json.push_back("--json");
  const Json found = fine(as_json, SINTER_WATCHER).json();
  CHECK(found["token_accuracy"].get<double>() == with["best_val_token_accuracy"].get<double>());
  CHECK(fine(eval, SINTER_WATCHER).out.find("token_accuracy") != std::string::npos);
  refuses({"train", "--label_smoothing.factor", "1"}, "--label_smoothing.factor", SINTER_WATCHER);
  refuses({"train", "--data", text, "--out", scratch / "other", "--best-by", "accuracy"},
          "It has: loss, token_accuracy", SINTER_WATCHER, 1);
}

}  // namespace sinter::detail::testing::options_tests
