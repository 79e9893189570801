// SPDX-License-Identifier: Apache-2.0
// Runs that diverge, and what their recipe has them do.
#include "binary/support.hpp"

namespace sinter::detail::testing::recovery_tests {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size()) ++found;
  return found;
}

TEST_CASE("a run that diverges goes back as often as it may, and ends with the code 3") {
  Scratch scratch;
  const std::string text = write(scratch / "text", some_text(3000)), out = scratch / "run";
  const Words diverging{"train",  "--data",
                        text,     "--out",
                        out,      "--optimizer.lr",
                        "1e30",   "--schedule.warmup",
                        "0",      "--save-every",
                        "1",      "--eval-every",
                        "100000", "--steps",
                        "20",     "--recovery.most",
                        "2",      "--recovery.factor",
                        "0.25"};
  const Ended ended = run(diverging, SINTER_GUARDED);
  CHECK(ended.code == 3);
  CHECK(ended.says("is not finite, and RollBack gives up (recovery.most is 2), so training stops"));
  CHECK(ended.says("The last good checkpoint is " + scratch / "run/step-0000000"));
  CHECK(count(ended.out, "warning: step ") == 2);
  CHECK(count(ended.out, "Training goes back to step ") == 2);

  // The rows are those of the run as it went on, and the roll backs stand between them.
  std::size_t events = 0;
  int step = 0;
  for (const Json& row : metrics(out)) {
    if (!row.contains("event")) {
      CHECK(row["step"] == ++step);
      continue;
    }
    ++events;
    CHECK(row["event"] == "rolled back");
    CHECK(row["step"] == step);
  }
  CHECK(events == 2);
  const Json trainer = Json::parse(content(out + "/last/manifest.json"))["info"]["trainer"];
  CHECK(trainer["state"]["recovery.rolled_back"] == 2);
  CHECK(trainer["state"]["recovery.factor"] == 0.25 * 0.25);

  // It remembers that, and goes on where more is allowed.
  Ended again = run({"train", "--resume", "--out", out, "--steps", "20"}, SINTER_GUARDED);
  CHECK(again.code == 3);
  CHECK(count(again.out, "Training goes back to step ") == 0);
  again = run({"train", "--resume", "--out", out, "--steps", "20", "--recovery.most", "3"},
              SINTER_GUARDED);
  CHECK(again.code == 3);
  CHECK(count(again.out, "Training goes back to step ") == 1);
}

TEST_CASE("a run that diverges before its first checkpoint says how to have one") {
  Scratch scratch;
  const std::string text = write(scratch / "text", some_text(3000));
  const Ended ended = run({"train", "--data", text, "--out", scratch / "run", "--optimizer.lr",
                           "1e30", "--schedule.warmup", "0", "--eval-every", "100000"},
                          SINTER_GUARDED);
  CHECK(ended.code == 3);
  CHECK(ended.says("No checkpoint has been saved yet to go back to: save earlier"));
  CHECK(ended.says("--save-every N"));
}

TEST_CASE("a guard that takes every rise for a spike refuses it, and its numbers are flags") {
  Scratch scratch;
  const std::string text = write(scratch / "text", some_text(3000)), out = scratch / "run";
  const Ended ended =
      run({"train", "--data", text, "--out", out, "--save-every", "5", "--eval-every", "100000",
           "--guard.sigma", "0.01", "--guard.warmup", "6", "--recovery.skips", "1000000"},
          SINTER_GUARDED);
  CHECK(ended.code == 0);
  CHECK(count(ended.out, "is skipped: the recipe's guard refuses its loss (") > 0);
  CHECK(metrics(out).size() == 40);
  const Ended wrong = run({"train", "--data", text, "--guard.sigma", "0"}, SINTER_GUARDED);
  CHECK(wrong.code == 2);
  CHECK(wrong.says("--guard.sigma takes a number above 0, not '0'."));
}

}  // namespace sinter::detail::testing::recovery_tests
