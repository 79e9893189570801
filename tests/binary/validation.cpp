// SPDX-License-Identifier: Apache-2.0
// What --validation names is evaluated in place of a held-out tenth, and a resumed run finds it again.
#include "binary/support.hpp"

namespace sinter::detail::testing::validation_tests {

TEST_CASE("a run evaluates on --validation, trains on all of --data, and remembers both") {
  Scratch scratch;
  const std::string text = write(scratch / "text", some_text(4000)),
                    first = write(scratch / "first", some_text(900)),
                    second = write(scratch / "second", some_text(700)), out = scratch / "run";
  const Words options{"--eval-every", "3", "--save-every", "3"};
  const Ended trained = fine(Words{"train", "--data", text, "--validation", first, "test=" + second,
                                   "--out", out, "--steps", "6"} +
                             options);
  CHECK(trained.out.find("validation test: ") != std::string::npos);
  CHECK(trained.out.find("4,000 bytes in 1 file") != std::string::npos);
  const auto loss_of = [&](const std::string& data, const std::string& step) {
    return fine({"eval", "--data", data, "--weights", out + "@" + step, "--json"})
        .json()["loss"]
        .get<double>();
  };
  const std::vector<Json> rows = metrics(out);
  REQUIRE(rows.size() == 6);
  for (const std::size_t step : {3, 6}) {
    const Json& row = rows[step - 1];
    CHECK(row["val_loss"].get<double>() ==
          doctest::Approx(loss_of(first, std::to_string(step))).epsilon(1e-6));
    CHECK(row["val_test_loss"].get<double>() ==
          doctest::Approx(loss_of(second, std::to_string(step))).epsilon(1e-6));
  }
  const Json held = fine({"eval", "--held-out", "--weights", out + "@last", "--json"}).json();
  CHECK(held["loss"] == rows[5]["val_loss"]);
  CHECK(held["test_loss"] == rows[5]["val_test_loss"]);
  const Ended people = fine({"eval", "--held-out", "--weights", out + "@last"});
  CHECK(people.out.find("\ntest_loss ") != std::string::npos);

  // Resumed without a word on it, bit for bit as in one go.
  fine(Words{"train", "--resume", "--out", out, "--steps", "12"} + options);
  const std::string whole = scratch / "whole";
  fine(Words{"train", "--data", text, "--validation", first, "test=" + second, "--out", whole,
             "--steps", "12"} +
       options);
  const std::vector<Json> resumed = metrics(out), at_once = metrics(whole);
  REQUIRE(resumed.size() == 12);
  for (std::size_t s = 0; s < 12; ++s)
    for (const char* key : {"loss", "val_loss", "val_test_loss"})
      CHECK(resumed[s].value(key, Json()) == at_once[s].value(key, Json()));
}

TEST_CASE("the held-out tenth is evaluated beside --validation, and the first set chooses") {
  Scratch scratch;
  const std::string text = write(scratch / "text", some_text(4000)),
                    other = write(scratch / "other", some_text(900)), usual = scratch / "usual";
  const Words train{"train", "--data", text, "--steps", "6", "--eval-every", "3"};
  const auto rows_of = [&](const std::string& name, const Words& words) {
    fine(train + Words{"--out", scratch / name} + words);
    return metrics(scratch / name);
  };
  const std::vector<Json> alone = rows_of("usual", {}),
                          first = rows_of("first", {"--validation", "held-out", "dev=" + other}),
                          second = rows_of("second", {"--validation", other, "held-out"});
  for (const std::size_t row : {2, 5}) {
    CHECK(first[row]["loss"] == alone[row]["loss"]);
    CHECK(first[row]["val_loss"] == alone[row]["val_loss"]);
    CHECK(second[row]["val_held_out_loss"] == alone[row]["val_loss"]);
    CHECK(second[row]["val_loss"] == first[row]["val_dev_loss"]);
    CHECK(second[row]["val_loss"] != first[row]["val_loss"]);
  }
  for (const auto& [name, rows] : {std::pair("first", &first), std::pair("second", &second)}) {
    const std::string out = scratch / name;
    const Ended held = fine({"eval", "--held-out", "--weights", out + "@last", "--json"});
    CHECK(held.json()["loss"] == rows->back()["val_loss"]);
    for (const char* other : {"dev_loss", "held_out_loss"})
      CHECK(held.json().value(other, Json()) ==
            rows->back().value(std::string("val_") + other, Json()));
    const Ended again = fine({"train", "--resume", "--out", out, "--steps", "9"});
    CHECK(again.out.find("what is held out of --data") != std::string::npos);
    CHECK(metrics(out).back().contains(name == std::string("first") ? "val_dev_loss"
                                                                    : "val_held_out_loss"));
  }
  CHECK(Json::parse(content(scratch / "first/run.json"))[0]["validation"] ==
        Json{"held-out", "dev=" + other});
  const Words wrong = train + Words{"--out", scratch / "no", "--validation", "held-out"};
  check_refused(run(wrong + Words{other}), 2, "it follows held-out, which is a set of its own");
  check_refused(run(wrong + Words{"held-out"}), 2, "names held-out twice");
  check_refused(run(wrong + Words{"--order", "sequential"}), 2, "--order sequential holds nothing");
}

TEST_CASE(
    "--validation says what is trained on as well, and refuses names that a log cannot have") {
  Scratch scratch;
  const std::string text = write(scratch / "text", some_text(4000));
  const Words train{"train",         "--data",  text, "--out",
                    scratch / "run", "--steps", "1",  "--validation"};
  CHECK(fine(train + Words{text}).says("is in --data, too"));
  const auto refuses = [&](const Words& words, const std::string& why) {
    const Ended ended = run(train + words);
    CHECK(ended.code == 2);
    CHECK_MESSAGE(ended.says(why), ended.err);
  };
  refuses({"My Set=" + text}, "'My Set' cannot be a name in the log");
  refuses({"a=" + text, "a=" + text}, "--validation names 'a' twice");
}

TEST_CASE("--eval-every 0 evaluates never") {
  Scratch scratch;
  const std::string out = scratch / "run";
  fine({"train", "--data", write(scratch / "text", some_text(4000)), "--out", out, "--steps", "3",
        "--eval-every", "0"});
  for (const Json& row : metrics(out)) CHECK(!row.contains("val_loss"));
  CHECK(!fs::exists(out + "/best"));
  const std::string text = scratch / "text";
  const Words never{"train", "--data", text, "--eval-every", "0", "--steps", "1", "--out"};
  const Ended noted = fine(never + Words{scratch / "b", "--validation", text, "--best-by", "loss"});
  CHECK(noted.says("--eval-every 0 evaluates never, so that --validation has no effect."));
  CHECK(noted.says("--eval-every 0 evaluates never, so that --best-by has no effect."));
  CHECK(noted.out.find("Done after 1 step; saved in") != std::string::npos);
  const Ended refused = run(never + Words{scratch / "c", "--early-stop", "2"});
  CHECK(refused.code == 2);
  CHECK(refused.says("--early-stop acts on validation losses, and --eval-every 0 asks for none"));
  CHECK(!fs::exists(scratch / "c"));
  CHECK(run({"train", "--data", text, "--early-stop", "2", "--order", "sequential", "--out",
             scratch / "c"})
            .says("name other data by --validation, or leave --early-stop out."));
}

TEST_CASE("early stopping and a metric's name are flags, too") {
  Scratch scratch;
  const std::string text = write(scratch / "text", some_text(4000)), out = scratch / "run";
  const Words still{
      "train",        "--data", text,      "--out", out,      "--optimizer.lr", "1e-30",
      "--eval-every", "2",      "--steps", "30",    "--json", "--early-stop",   "2"};
  const Ended ended = fine(still);
  CHECK(ended.json()["steps"] == 6);
  CHECK(ended.json()["best_step"] == 2);
  CHECK(ended.says("Done early: 2 evaluations in a row were not better"));
  const Ended again = fine({"train", "--resume", "--out", out, "--eval-every", "2", "--json"});
  CHECK(again.json()["steps"] == 6);
  const Ended named = run({"train", "--data", text, "--out", scratch / "other", "--best-by", "f1"});
  CHECK(named.code == 1);
  CHECK(named.says("--best-by names 'f1', and the recipe"));
  CHECK(!fs::exists(scratch / "other"));
}

TEST_CASE("a metric of --best-by that is never a number ends with a word on it") {
  Scratch scratch;
  // Where all targets are equal, there is no correlation.
  std::string rows = "score\ttext\n", equal = rows;
  for (int k = 0; k < 40; ++k) {
    const std::string text(std::size_t(1 + k % 5), "xyz"[k % 3]);
    rows += std::to_string(k % 3) + "\t" + text + "\n";
    equal += "1\t" + text + "\n";
  }
  const Words train{"train",     "--data",       write(scratch / "a.tsv", rows),
                    "--best-by", "pearson",      "--steps",
                    "6",         "--eval-every", "2",
                    "--json",    "--out"};
  const std::string out = scratch / "run",
                    said = "--best-by pearson: it was no number in any of 3 ";
  CHECK(fine(train + Words{out, "--validation", write(scratch / "b.tsv", equal)}, SINTER_SCORES)
            .says(said));
  CHECK(!fs::exists(out + "/best"));
  CHECK(!fine(train + Words{scratch / "other"}, SINTER_SCORES).says("--best-by"));
  CHECK(fs::exists(scratch / "other/best"));
}

}  // namespace sinter::detail::testing::validation_tests
