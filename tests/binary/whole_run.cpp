// SPDX-License-Identifier: Apache-2.0
// One recipe from its first step to its use: what a person does with a binary, for the first tier of tests.
#include "binary/support.hpp"

namespace {

/// The prediction of a line of ids by weights, as it is printed.
std::string predicted(const std::string& weights, const std::string& ids) {
  return fine({"predict", "--json", "--weights", weights, "--ids", ids}).out;
}
Json evaluated(const std::string& weights, const std::string& text) {
  return run({"eval", "--json", "--weights", weights, "--data", text}).json();
}

}  // namespace

TEST_CASE("a run is killed, resumed bit for bit, evaluated, predicted and exported") {
  Scratch scratch;
  const std::string text = write(scratch / "text", some_text(3000)), out = scratch / "run";
  const Words data{"train", "--data",       text, "--schedule.steps", "99999", "--seed",
                   "7",     "--save-every", "5"};
  {
    Process process(SINTER_SMALL, data + Words{"--out", out});
    REQUIRE(wait_for([&] { return fs::exists(out + "/last") && metrics(out).size() > 12; }));
    process.signal(SIGKILL);
    REQUIRE(process.wait().code == -SIGKILL);
  }
  const Words end{"--steps", std::to_string(newest_step(out) + 10)};
  fine(data + end + Words{"--out", out, "--resume"});
  fine(data + end + Words{"--out", scratch / "whole"});
  require_same_end(scratch / "whole", out);

  const std::string exported = scratch / "exported", fresh = scratch / "fresh";
  fine({"export", "--weights", out, "--out", exported});
  fine({"export", "--seed", "7", "--out", fresh});
  CHECK(evaluated(exported, text) == evaluated(out, text));
  CHECK(evaluated(out, text)["loss"] < evaluated(fresh, text)["loss"]);

  const std::string ids = write(scratch / "ids", "{\"ids\": [116, 104, 101]}\n");
  CHECK(predicted(exported, ids) == predicted(out, ids));
  CHECK(Json::parse(predicted(out, ids))["logits"].size() == 3);
}

TEST_CASE("what describe says of the memory is what it adds up to") {
  const Json described = run({"describe", "--json"}).json();
  std::int64_t sum = 0;
  for (const auto& [name, bytes] : described["memory"].items())
    if (name != "total") sum += bytes.get<std::int64_t>();
  CHECK(sum == described["memory"]["total"].get<std::int64_t>());
  CHECK(described["recipe"] == "small");
}
