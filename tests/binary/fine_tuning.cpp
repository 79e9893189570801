// SPDX-License-Identifier: Apache-2.0
// A downloaded classifier is fine-tuned, evaluated and exported, as its user does it.
#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "binary/support.hpp"

namespace sinter::detail::testing::fine_tuning_tests {

/// Texts whose class their words tell, but for every seventh.
std::string table(int records, int first) {
  const std::array<const char*, 4> texts{"the very bad film", "very good film", "bad very bad",
                                         "the good the film"};
  std::ostringstream lines;
  lines << "label\tsentence\n";
  for (int k = first; k < first + records; ++k)
    lines << (k % 7 == 0 ? k / 7 % 2 : k % 2) << '\t' << texts[std::size_t(k % 4)] << '\n';
  return lines.str();
}

/// The lines of a table behind its first, without the classes; and the classes.
std::pair<std::string, std::vector<int>> divided(const std::string& table) {
  std::istringstream lines(table.substr(table.find('\n') + 1));
  std::string texts;
  std::vector<int> classes;
  for (std::string line; std::getline(lines, line); texts += line.substr(2) + "\n")
    classes.push_back(line[0] - '0');
  return {texts, classes};
}

/// Accuracy, macro F1 and Matthews' coefficient of two classes, by their textbook formulas.
struct Figures {
  double accuracy, f1_macro, matthews;
  Figures(const std::vector<int>& actual, const std::vector<int>& predicted) {
    std::array<std::array<double, 2>, 2> n{};  // by actual and predicted class
    for (std::size_t k = 0; k < actual.size(); ++k)
      ++n[std::size_t(actual[k])][std::size_t(predicted[k])];
    const double tn = n[0][0], fp = n[0][1], fn = n[1][0], tp = n[1][1];
    accuracy = (tp + tn) / double(actual.size());
    f1_macro = (2 * tp / (2 * tp + fp + fn) + 2 * tn / (2 * tn + fp + fn)) / 2;
    matthews = (tp * tn - fp * fn) / std::sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn));
  }
};

TEST_CASE("a model is trained by epochs, stops early, and has the figures of its predictions") {
  Scratch scratch;
  const std::string folder = scratch / "model", out = scratch / "run";
  fine({"export", "--seed", "3", "--out", folder}, SINTER_REVIEWS);
  write(folder + "/vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\ngood\nbad\nfilm\nvery\nthe\n");
  const std::string held_out = table(41, 100), train = write(scratch / "train.tsv", table(80, 0)),
                    dev = write(scratch / "dev.tsv", held_out);
  const Json trained =
      fine({"train", "--weights",    folder, "--tokenizer", folder,     "--data",
            train,   "--validation", dev,    "--epochs",    "3",        "--eval-every",
            "5",     "--early-stop", "2",    "--best-by",   "f1_macro", "--out",
            out,     "--json"},
           SINTER_REVIEWS)
          .json();
  CHECK(trained["steps"].get<int>() <= 15);
  CHECK(trained["steps"].get<int>() >= 10);
  CHECK(trained.contains("val_accuracy"));
  CHECK(trained["best_step"].get<int>() % 5 == 0);

  const Json report = fine({"report", out, "--json"}, SINTER_REVIEWS).json();
  CHECK(report["best"] == Json{{"folder", out}, {"by", "val_f1_macro"}});
  for (const char* key : {"best_step", "best_val_f1_macro"})
    CHECK(report["runs"][0][key] == trained[key]);

  const Json found =
      fine({"eval", "--weights", out, "--data", dev, "--json"}, SINTER_REVIEWS).json();
  CHECK(found["f1_macro"] == trained["best_val_f1_macro"]);
  const auto [texts, actual] = divided(held_out);
  std::istringstream answers(fine({"predict", "--weights", out, "--tokenizer", folder, "--text",
                                   write(scratch / "texts", texts), "--json"},
                                  SINTER_REVIEWS)
                                 .out);
  std::vector<int> predicted;
  for (std::string line; std::getline(answers, line);) {
    const std::vector<double> logits = Json::parse(line)["logits"][0];
    predicted.push_back(logits[1] > logits[0]);
  }
  REQUIRE(predicted.size() == actual.size());
  const Figures want(actual, predicted);
  CHECK(found["accuracy"].get<double>() == doctest::Approx(want.accuracy).epsilon(1e-12));
  CHECK(found["f1_macro"].get<double>() == doctest::Approx(want.f1_macro).epsilon(1e-12));
  CHECK(found["matthews"].get<double>() == doctest::Approx(want.matthews).epsilon(1e-12));

  // Texts that are too long are told of once, and counted.
  std::string longer;
  for (int k = 0; k < 30; ++k) longer += "very ";
  const std::string three = write(scratch / "three", longer + "\ngood\n" + longer + "\n");
  const Words ask{"predict", "--weights", out, "--tokenizer", folder, "--text", three};
  const Ended told = fine(ask, SINTER_REVIEWS);
  CHECK(told.says("three, line 1: the text is too long for the recipe's data, and was cut."));
  CHECK(!told.says("line 3"));
  CHECK(told.says("warning: 2 of 3 texts were too long, and were cut."));
  CHECK(!fine(ask + Words{"--quiet"}, SINTER_REVIEWS).says("cut"));

  // The log, the text of eval and the export have it, too.
  bool logged = false;
  for (const Json& row : metrics(out))
    if (row["step"] == trained["best_step"])
      logged = row["val_f1_macro"] == found["f1_macro"] && row["eval_ms"].get<double>() > 0;
  CHECK(logged);
  const std::string text = fine({"eval", "--weights", out, "--data", dev}, SINTER_REVIEWS).out;
  CHECK(text.find("f1_macro") != text.npos);
  fine({"export", "--weights", out, "--out", scratch / "exported"}, SINTER_REVIEWS);
  for (const char* file : {"config.json", "model.safetensors", "vocab.txt"})
    CHECK(fs::exists(scratch / "exported" + "/" + file));
}

}  // namespace sinter::detail::testing::fine_tuning_tests
