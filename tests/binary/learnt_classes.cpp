// SPDX-License-Identifier: Apache-2.0
// What weights have learnt to tell apart, beside what the recipe tells apart.
#include "binary/support.hpp"

namespace sinter::detail::testing::learnt_classes_tests {

/// Texts with topics, as JSON lines, and the words of a training on them.
Words training(const Scratch& scratch, const std::string& out) {
  std::string lines;
  for (int k = 0; k < 60; ++k) {
    Json topics = Json::array();
    for (const char* topic : {"art", "law", "sport"})
      if ((k + topic[0]) % 3 > 0) topics.push_back(topic);
    lines += Json{{"text", std::string(1 + k % 5, "qxz"[k % 3])}, {"topics", topics}}.dump() + "\n";
  }
  return {"train", "--data", write(scratch / "data", lines), "--steps", "2", "--out", out};
}

/// Checks what becomes of weights that are at odds with the recipe: verbs that use them as they are
/// refuse them, and those that learn say so, or refuse them, too.
void check_at_odds(const Scratch& scratch, const std::string& weights, const std::string& why,
                   bool learning_refuses) {
  CAPTURE(why);
  const Words of{"--weights", weights};
  const auto refused = [&](const Words& words) {
    check_refused(run(words + of, SINTER_TOPICS), 1, why);
  };
  refused({"eval", "--data", scratch / "data"});
  refused({"predict", "--text", write(scratch / "texts", "qq\n")});
  refused({"export", "--out", scratch / "no"});
  CHECK(!fs::exists(scratch / "no"));
  for (const Words& words : {Words{"describe"}, training(scratch, scratch / "no")}) {
    if (learning_refuses) {
      refused(words);
    } else {
      CHECK(fine(words + of, SINTER_TOPICS).says("note: The weights in "));
      fs::remove_all(scratch / "no");
      CHECK(fine(words + of, SINTER_TOPICS).says(why));
      fs::remove_all(scratch / "no");
    }
  }
}

TEST_CASE("a run's names of classes are compared with the recipe's") {
  const Scratch scratch;
  const std::string out = scratch / "run";
  fine(training(scratch, out), SINTER_TOPICS);
  const std::string record = content(out + "/run.json"), own = R"(["art","law","sport"])";
  REQUIRE(record.find(own) != record.npos);
  const auto set_names = [&](const std::string& names) {
    std::string changed = record;
    write(out + "/run.json", changed.replace(record.find(own), own.size(), names));
  };
  const Words eval{"eval", "--data", scratch / "data", "--weights", out};
  fine(eval, SINTER_TOPICS);
  set_names(R"(["sport","law","art"])");
  check_at_odds(scratch, out,
                "have the recipe's classes in another order, so that each would be taken for "
                "another one. The recipe's are \"art, law, sport\", and its run has learnt "
                "\"sport, law, art\" (run.json).",
                true);
  set_names(R"(["law","art","food"])");
  check_at_odds(scratch, out, "have some of the recipe's classes, but not all, so that some would",
                false);
  for (const char* harmless : {R"(["a","b","c"])", R"(["Art","Law","Sport"])", R"(["art"])", "7"}) {
    set_names(harmless);
    fine(eval, SINTER_TOPICS);
  }
}

TEST_CASE("a folder's kind of labels and its names are compared with the recipe's") {
  const Scratch scratch;
  const std::string folder = scratch / "folder";
  (void)training(scratch, "");
  fine({"export", "--out", folder}, SINTER_TOPICS);
  const Json own = Json::parse(content(folder + "/config.json"));
  REQUIRE(own["problem_type"] == "multi_label_classification");
  const auto set = [&](const char* key, const Json& value) {
    Json config = own;
    config[key] = value;
    write(folder + "/config.json", config.dump());
  };
  const Words eval{"eval", "--data", scratch / "data", "--weights", folder};
  for (const char* other : {"single_label_classification", "regression"}) {
    set("problem_type", other);
    check_at_odds(scratch, folder,
                  "problem_type is " + std::string(other) +
                      " in their config.json, and multi_label_classification in this recipe",
                  false);
  }
  set("problem_type", nullptr);
  fine(eval, SINTER_TOPICS);
  set("id2label", {{"0", "law"}, {"1", "food"}, {"2", "sport"}});
  check_at_odds(scratch, folder, "and config.json there has \"law, food, sport\" (id2label)",
                false);
  set("id2label", {{"0", "law"}, {"1", "art"}, {"2", "sport"}});
  check_at_odds(scratch, folder, "have the recipe's classes in another order", true);
}

}  // namespace sinter::detail::testing::learnt_classes_tests
