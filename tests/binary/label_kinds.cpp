// SPDX-License-Identifier: Apache-2.0
// Labels that are no single class of a text, from the command line: numbers, several classes, and a
// class for each word.
#include <array>
#include <cmath>
#include <iomanip>
#include <map>
#include <sstream>

#include "binary/support.hpp"
#include "support/python.hpp"

namespace sinter::detail::testing::label_kinds_tests {

Words training(const std::string& file, const std::string& out, const std::string& steps) {
  return {"train", "--data",  file,  "--seed",       "7", "--threads", "2", "--out",
          out,     "--steps", steps, "--eval-every", "20"};
}

/// Trains in one go and in two parts, which must end alike, and returns the log. `fresh` are words for
/// runs that begin, and `all` for all.
std::vector<Json> trained(const std::string& file, const std::string& whole,
                          const std::string& steps, const std::string& binary,
                          const Words& fresh = {}, const Words& all = {}) {
  const std::string parts = whole + "-parts";
  fine(training(file, whole, steps) + fresh + all, binary);
  fine(training(file, parts, "20") + fresh + all, binary);
  fine(training(file, parts, steps) + all + Words{"--resume"}, binary);
  require_same_end(whole, parts);
  return metrics(whole);
}

Json lines_of(const std::string& text) {
  Json all = Json::array();
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) all.push_back(Json::parse(line));
  return all;
}

Json exported_config(const std::string& run, const std::string& to, const std::string& binary) {
  fine({"export", "--weights", run, "--out", to}, binary);
  return Json::parse(content(to + "/config.json"));
}

TEST_CASE("numbers are learned, evaluated, predicted and exported as a regression") {
  Scratch scratch;
  const std::array<double, 3> scores{-1, 0.5, 2};
  std::string table = "score\ttext\n", texts;
  for (int k = 0; k < 90; ++k) {
    const std::string text = std::string(1 + k % 5, 'q') + "xyz"[k % 3];
    table += std::to_string(scores[std::size_t(k % 3)]) + "\t" + text + "\n";
    if (k < 6) texts += text + "\n";
  }
  const std::string file = write(scratch / "a.tsv", table), out = scratch / "run";
  const auto log = trained(file, out, "60", SINTER_SCORES);
  CHECK(log.front()["loss"].get<double>() > 0.5);
  CHECK(log.back()["loss"].get<double>() < 0.2);

  // The loss is the mean of squared errors of what predict prints.
  const Words predict{"predict", "--weights", out, "--text", write(scratch / "texts", texts)};
  const Json answers = lines_of(fine(predict + Words{"--json"}, SINTER_SCORES).out);
  REQUIRE(answers.size() == 6);
  std::string six = table.substr(0, table.find('\n') + 1);
  double sum = 0;
  for (int k = 0; k < 6; ++k) {
    REQUIRE(answers[std::size_t(k)]["values"][0].size() == 1);
    const double got = answers[std::size_t(k)]["values"][0][0], want = scores[std::size_t(k % 3)];
    sum += (got - want) * (got - want);
    six += std::to_string(want) + "\t" + std::string(1 + k % 5, 'q') + "xyz"[k % 3] + "\n";
  }
  const Words eval{"eval", "--weights", out, "--data", write(scratch / "six.tsv", six)};
  const Json found = fine(eval + Words{"--json"}, SINTER_SCORES).json();
  CHECK(found["loss"].get<double>() == doctest::Approx(sum / 6).epsilon(1e-4));
  CHECK(!found.contains("accuracy"));
  double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
  for (std::size_t k = 0; k < 6; ++k) {
    const double got = answers[k]["values"][0][0], want = scores[k % 3];
    x += got / 6, y += want / 6, xx += got * got / 6, yy += want * want / 6, xy += got * want / 6;
  }
  const double pearson = (xy - x * y) / std::sqrt((xx - x * x) * (yy - y * y));
  CHECK(found["pearson"].get<double>() == doctest::Approx(pearson).epsilon(1e-4));
  CHECK(log.back()["val_pearson"].is_number());
  CHECK(fine(eval, SINTER_SCORES).out.find("6 numbers\n") != std::string::npos);
  const std::string first = fine(predict, SINTER_SCORES).out;
  CHECK(std::stod(first) == doctest::Approx(answers[0]["values"][0][0].get<double>()));

  const Json config = exported_config(out, scratch / "exported", SINTER_SCORES);
  CHECK(config["problem_type"] == "regression");
  CHECK(config["architectures"] == Json{"BertForSequenceClassification"});
  CHECK(config["id2label"] == Json{{"0", "LABEL_0"}});
  const std::string bad = write(scratch / "bad.tsv", "score\ttext\n1\ta\nhigh\tb\n");
  check_refused(run(training(bad, scratch / "no", "2"), SINTER_SCORES), 1,
                "line 3 of '" + bad + "' is bad: its label \"score\" is high, and not a number");
}

/// Checks the figures that eval finds of texts with topics by what predict says of them.
void check_figures(const Scratch& scratch, const std::string& out, const std::string& data) {
  std::string texts;
  std::istringstream lines(data);
  std::vector<Json> records;
  for (std::string line; std::getline(lines, line);) {
    records.push_back(Json::parse(line));
    texts += records.back()["text"].get<std::string>() + "\n";
  }
  std::istringstream answers(
      fine({"predict", "--weights", out, "--json", "--text", write(scratch / "all", texts)},
           SINTER_TOPICS)
          .out);
  const auto ratio = [](double part, double all) { return all > 0 ? part / all : 0; };
  std::array<double, 4> right{}, said{}, are{};  // of each topic, and of all
  double exact = 0, of_samples = 0;
  for (const Json& record : records) {
    std::string line;
    REQUIRE(std::getline(answers, line));
    const Json logits = Json::parse(line)["logits"][0];
    double both = 0, either = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const char* const name = std::array{"art", "law", "sport"}[k];
      const bool has = std::ranges::count(record["topics"], Json(name)) > 0,
                 says = logits[k].get<double>() > 0;
      for (std::size_t of : {k, std::size_t(3)})
        right[of] += has && says, said[of] += says, are[of] += has;
      both += has && says;
      either += has + says;
    }
    exact += 2 * both == either;
    of_samples += ratio(2 * both, either);
  }
  const Json found =
      fine({"eval", "--weights", out, "--json", "--data", write(scratch / "all.jsonl", data)},
           SINTER_TOPICS)
          .json();
  const double rows = double(records.size());
  const auto is = [&](const char* name, double want) {
    CAPTURE(name);
    CHECK(found[name].get<double>() == doctest::Approx(want).epsilon(1e-12));
  };
  double macro = 0;
  for (std::size_t k = 0; k < 3; ++k) macro += ratio(2 * right[k], said[k] + are[k]) / 3;
  is("exact_match", exact / rows);
  is("f1_macro", macro);
  is("f1_samples", of_samples / rows);
  is("precision_micro", ratio(right[3], said[3]));
  is("recall_micro", ratio(right[3], are[3]));
}

TEST_CASE("several classes are learned, each with a probability of its own") {
  Scratch scratch;
  std::string data;
  for (int k = 0; k < 96; ++k) {
    Json names = Json::array();
    std::string text = "t";
    for (const auto& [bit, letter, name] :
         {std::tuple(1, 'x', "art"), std::tuple(2, 'y', "law"), std::tuple(4, 'z', "sport")})
      if (k % 8 & bit) text += letter, names.push_back(name);
    data += Json{{"text", text}, {"topics", names}}.dump() + "\n";
  }
  const std::string file = write(scratch / "a.jsonl", data), out = scratch / "run";
  const auto log = trained(file, out, "100", SINTER_TOPICS);
  CHECK(log.front()["loss"].get<double>() == doctest::Approx(std::log(2.)).epsilon(.2));
  CHECK(log.back()["loss"].get<double>() < .6);
  CHECK(log.back()["label_length"] == 3);

  const Words predict{"predict", "--weights", out, "--text", write(scratch / "texts", "txz\n")};
  const Json logits = fine(predict + Words{"--json"}, SINTER_TOPICS).json()["logits"][0];
  std::string want;
  double sum = 0;
  for (int k = 0; k < 3; ++k) {
    const double p = 1 / (1 + std::exp(-logits[std::size_t(k)].get<double>()));
    sum -= std::log(k != 1 ? p : 1 - p);
    std::ostringstream shown;
    shown << (k > 0 ? ", " : "") << std::array{"art", "law", "sport"}[std::size_t(k)] << " "
          << std::fixed << std::setprecision(4) << p;
    want += shown.str();
  }
  CHECK(fine(predict, SINTER_TOPICS).out == want + "\n");
  const std::string one =
      write(scratch / "one.jsonl", R"({"text": "txz", "topics": [true, false, true]})");
  const Words evaluation{"eval", "--weights", out, "--data", one};
  const double loss = fine(evaluation + Words{"--json"}, SINTER_TOPICS).json()["loss"];
  CHECK(loss == doctest::Approx(sum / 3).epsilon(1e-4));
  const Ended eval = fine(evaluation, SINTER_TOPICS);
  CHECK(eval.out.find("3 answers\n") != std::string::npos);
  CHECK(eval.out.find(" nats per answer\n") != std::string::npos);

  check_figures(scratch, out, data);

  const Json config = exported_config(out, scratch / "exported", SINTER_TOPICS);
  CHECK(config["problem_type"] == "multi_label_classification");
  CHECK(config["architectures"] == Json{"DistilBertForSequenceClassification"});
  CHECK(config["id2label"] == Json{{"0", "art"}, {"1", "law"}, {"2", "sport"}});
}

TEST_CASE("words are learned by their first pieces, and predicted one by one") {
  Scratch scratch;
  const std::string folder = scratch / "model", out = scratch / "run";
  fine({"export", "--seed", "3", "--out", folder}, SINTER_TAGGED);
  write(folder + "/vocab.txt",
        "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\njane\nsings\nin\noslo\njan\n##et\nbe\n##rgen\n");
  const std::array<std::pair<const char*, const char*>, 6> known{{{"Jane", "NAME"},
                                                                  {"sings", "O"},
                                                                  {"in", "O"},
                                                                  {"Oslo", "PLACE"},
                                                                  {"Janet", "NAME"},
                                                                  {"Bergen", "PLACE"}}};
  std::string data;
  for (int k = 0; k < 60; ++k) {
    Json words = Json::array(), tags = Json::array();
    for (int w = 0; w < 2 + k % 4; ++w) {
      const auto& [word, tag] = known[std::size_t((k + w * 5) % 6)];
      words.push_back(word);
      tags.push_back(tag);
    }
    data += Json{{"tokens", words}, {"tags", tags}}.dump() + "\n";
  }
  const std::string file = write(scratch / "a.jsonl", data);
  const auto log =
      trained(file, out, "60", SINTER_TAGGED, {"--weights", folder}, {"--tokenizer", folder});
  CHECK(log.front()["loss"].get<double>() == doctest::Approx(std::log(3.)).epsilon(.3));
  CHECK(log.back()["loss"].get<double>() < 0.2);

  const Words predict{"predict",
                      "--weights",
                      out,
                      "--tokenizer",
                      folder,
                      "--text",
                      write(scratch / "texts", "Janet sings  in Bergen\n")};
  const Json answer = fine(predict + Words{"--json"}, SINTER_TAGGED).json();
  CHECK(answer["words"] == Json{"Janet", "sings", "in", "Bergen"});
  REQUIRE(answer["logits"].size() == 4);
  CHECK(answer["logits"][0].size() == 3);
  std::istringstream lines(fine(predict, SINTER_TAGGED).out);
  for (const char* want : {"Janet NAME 0.", "sings O 0.", "in O 0.", "Bergen PLACE 0."}) {
    std::string line;
    std::getline(lines, line);
    CHECK(line.starts_with(want));
  }
  const Words eval{"eval", "--weights", out, "--tokenizer", folder, "--data"};
  const std::string one =
      write(scratch / "one.jsonl", R"({"tokens": ["Janet", "sings"], "tags": ["NAME", "O"]})");
  CHECK(fine(eval + Words{one}, SINTER_TAGGED).out.find("2 words\n") != std::string::npos);

  const Json config = exported_config(out, scratch / "exported", SINTER_TAGGED);
  CHECK(config["architectures"] == Json{"BertForTokenClassification"});
  CHECK(!config.contains("problem_type"));
  CHECK(config["id2label"] == Json{{"0", "O"}, {"1", "NAME"}, {"2", "PLACE"}});
  const std::string bad = write(scratch / "bad.jsonl", R"({"tokens": ["a", "b"], "tags": ["O"]})");
  check_refused(
      run(training(bad, scratch / "no", "2") + Words{"--tokenizer", folder}, SINTER_TAGGED), 1,
      "line 1 of '" + bad + "' is bad: it has 2 words, and 1 labels");
  const auto named = [&](const Json& names) {
    Json other = Json::parse(content(folder + "/config.json"));
    other["id2label"] = names;
    write(folder + "/config.json", other.dump());
  };
  const auto refuses = [&](const Words& words) {
    check_refused(run(words, SINTER_TAGGED), 1,
                  "the recipe's classes in another order, so that each would be taken for another "
                  "one. The recipe's are \"O, NAME, PLACE\", and config.json there has \"name, O, "
                  "place\" (id2label).");
  };
  named({{"0", "name"}, {"1", "O"}, {"2", "place"}});
  const Words of_folder{"--weights", folder, "--tokenizer", folder},
      train = training(file, scratch / "no", "2") + of_folder;
  refuses(train);
  refuses(Words{"eval", "--data", one} + of_folder);
  refuses(Words{"predict", "--text", scratch / "texts"} + of_folder);
  refuses({"export", "--weights", folder, "--out", scratch / "no"});
  refuses({"describe", "--weights", folder});
  CHECK(!fs::exists(scratch / "no"));
  for (const char* harmless :
       {R"({"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"})",
        R"({"0": "O", "1": "Name", "2": "Place"})", R"({"0": "NAME", "1": "O", "2": "other"})"}) {
    named(Json::parse(harmless));
    fine({"describe", "--weights", folder}, SINTER_TAGGED);
  }
  named({{"0", "NAME"}, {"1", "O"}, {"2", "PLACE"}});
  make_body(folder + "/model.safetensors");  // its head starts fresh, and learns the recipe's order
  fine(train, SINTER_TAGGED);
}

/// Exports fresh weights of a binary, and compares its figures with those of transformers, whose class for
/// such a head must load them. `lines` are what predict --ids reads, and `names` what transformers calls
/// the keys there.
void check_by_transformers(const std::string& python, const std::string& binary,
                           const std::vector<Json>& lines,
                           const std::map<std::string, std::string>& names) {
  CAPTURE(binary);
  Scratch scratch;
  const std::string folder = scratch / "exported";
  fine({"export", "--seed", "3", "--out", folder}, binary);
  Json expected{{"inputs", Json::array()}, {"logits", Json::array()}};
  std::string asked;
  for (const Json& line : lines) {
    asked += line.dump() + "\n";
    Json inputs;
    for (const auto& [key, ids] : line.items()) inputs[names.at(key)] = ids;
    expected["inputs"].push_back(inputs);
  }
  const Json answers = lines_of(
      fine({"predict", "--json", "--weights", folder, "--ids", write(scratch / "ids", asked)},
           binary)
          .out);
  for (const Json& answer : answers)
    expected["logits"].push_back(answer.contains("logits") ? answer["logits"] : answer["values"]);
  const std::string command = "'" + python + "' " SINTER_SOURCE_DIR "/scripts/check_export.py " +
                              folder + " " + write(scratch / "expected.json", expected.dump());
  CHECK(std::system(command.c_str()) == 0);
}

TEST_CASE("transformers loads the export of each head by its class, and gives its figures") {
  const auto python = python_with("torch, transformers");
  if (!python) return;
  const Json one{11, 5, 7, 6}, two{11, 9, 8, 12, 10, 5, 6};
  const std::vector<Json> texts{{{"ids", one}}, {{"ids", two}}},
      pairs{{{"ids", one}, {"decoder_ids", {9, 5}}}, {{"ids", two}, {"decoder_ids", {9, 8, 7}}}};
  const std::map<std::string, std::string> names{{"ids", "input_ids"},
                                                 {"token_types", "token_type_ids"},
                                                 {"decoder_ids", "decoder_input_ids"}};
  for (const char* binary : {SINTER_SCORES, SINTER_TOPICS, SINTER_HIDDEN})
    check_by_transformers(*python, binary, texts, names);
  check_by_transformers(*python, SINTER_BART, pairs, names);
  check_by_transformers(
      *python, SINTER_TAGGED,
      {{{"ids", one}, {"token_types", {0, 0, 1, 1}}}, {{"ids", two}, {"token_types", Json(7, 0)}}},
      names);
}

}  // namespace sinter::detail::testing::label_kinds_tests
