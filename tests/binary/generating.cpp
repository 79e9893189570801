// SPDX-License-Identifier: Apache-2.0
// generate with files of prompts, with beams and with several results.
#include "binary/support.hpp"

namespace sinter::detail::testing::generating_tests {

/// A folder with weights that were never trained.
std::string fresh(const Scratch& scratch) {
  fine({"export", "--out", scratch / "fresh", "--seed", "4"});
  return scratch / "fresh";
}

std::vector<Json> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<Json> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(Json::parse(line));
  return lines;
}

void refuses(const Words& words, const std::string& message) {
  const Ended ended = run(words);
  CHECK(ended.code == 2);
  CHECK_MESSAGE(ended.says(message), ended.err);
}

TEST_CASE("each line of a file is answered as --prompt is, in order, with its other fields") {
  Scratch scratch;
  const std::string weights = fresh(scratch);
  const Words words{"generate", "--weights", weights, "--tokens", "12"};
  const std::string file = write(scratch / "asked.jsonl",
                                 "{\"prompt\": \"the \", \"id\": 7, \"more\": {\"a\": [1]}}\n\n"
                                 "{\"id\": 8, \"prompt\": \"layer of a width\"}\n"
                                 "{\"prompt\": \"x\"}");
  const Words greedy = words + Words{"--temperature", "0"};
  const Ended ended = fine(greedy + Words{"--file", file});
  const std::vector<Json> answers = lines_of(ended.out);
  REQUIRE(answers.size() == 3);
  CHECK(answers[0]["id"] == 7);
  CHECK(answers[0]["more"]["a"][0] == 1);
  CHECK(answers[1]["id"] == 8);
  CHECK(ended.says("temperature 0.0 (flag)"));
  for (const Json& answer : answers) {
    const Json alone = fine(greedy + Words{"--json", "--prompt", answer["prompt"]}).json();
    for (const char* key : {"text", "tokens", "finish_reason", "token_ids"})
      CHECK(answer[key] == alone[key]);
    CHECK(answer["score"].get<double>() == doctest::Approx(alone["score"].get<double>()));
    double sum = 0;
    for (const Json& one : answer["log_probabilities"]) sum += one.get<double>();
    CHECK(answer["score"].get<double>() == doctest::Approx(sum));
    CHECK(answer["tokens"] == 12);
    CHECK(answer["token_ids"].size() == 12);
    CHECK(answer["finish_reason"] == "length");
    CHECK(alone["settings"]["rows"] == Json{{"value", 8}, {"from", "default"}});
    CHECK(alone["settings"]["quantize"] == Json{{"value", "none"}, {"from", "default"}});
  }
  CHECK(fine(greedy + Words{"--file", file, "--rows", "2"}).says(", rows 2 (flag)"));
  // Draws are by line, whatever stands beside; the first line has those of --prompt.
  const Words drawn = words + Words{"--temperature", "1", "--seed", "3", "--quiet"};
  const std::vector<Json> one = lines_of(fine(drawn + Words{"--file", file, "--rows", "1"}).out),
                          all = lines_of(fine(drawn + Words{"--file", file, "--rows", "3"}).out);
  REQUIRE(one.size() == 3);
  for (std::size_t k = 0; k < 3; ++k) CHECK(one[k]["text"] == all[k]["text"]);
  CHECK(one[0]["text"] == fine(drawn + Words{"--json", "--prompt", "the "}).json()["text"]);
}

TEST_CASE("a line that cannot be answered is named before any text is written") {
  Scratch scratch;
  const std::string weights = fresh(scratch);
  const Words words{"generate", "--weights", weights, "--tokens", "2", "--file"};
  const auto fails = [&](const std::string& line, const std::string& part) {
    CAPTURE(line);
    const std::string file = write(scratch / "asked.jsonl", "{\"prompt\": \"a\"}\n" + line + "\n");
    const Ended ended = run(words + Words{file});
    CHECK(ended.code == 1);
    CHECK(ended.out.empty());
    CHECK_MESSAGE(ended.says("asked.jsonl, line 2: "), ended.err);
    CHECK_MESSAGE(ended.says(part), ended.err);
  };
  fails("{\"prompt\": ", "Each line must be {\"prompt\": \"a text\"}.");
  fails("{\"prompt\": ", "it is no JSON, at column 12: ");
  fails("{\"prompt\": \"\"}", "The prompt is empty");
  fails("[1]", "it is no object");
  fails("{\"text\": \"b\"}", "it has no \"prompt\"");
  fails("{\"prompt\": 5}", "its \"prompt\" is no text");
  fails("{\"prompt\": \"b\", \"score\": 1}", "it has the field \"score\", which the answer has");
  const Ended empty = run(words + Words{write(scratch / "empty", "\n")});
  CHECK(empty.code == 1);
  CHECK(empty.says("has no lines that are not blank"));
  CHECK(run(words + Words{scratch / "none"}).code == 1);
  refuses(words + Words{scratch / "empty", "--prompt", "a"}, "--prompt or --file, and not both");
  refuses({"generate", "--weights", weights, "--rows", "3"}, "--rows says how many");
  write(scratch / "asked.jsonl", "{\"prompt\": \"a\"}\n");
  const Words one = words + Words{scratch / "asked.jsonl", "--rows", "2"};
  refuses(one + Words{"--beams", "4"}, "a prompt with 4 beams needs 4 rows at once");
  refuses(one + Words{"--results", "3"}, "Give --rows 3 or more, or fewer --results.");
  CHECK(run(one + Words{"--beams", "2"}).code == 0);
}

TEST_CASE("beams find texts that are at least as likely, best first, with their scores") {
  Scratch scratch;
  const std::string weights = fresh(scratch);
  const Words words{"generate", "--weights", weights, "--tokens", "10", "--prompt", "the "};
  const Json greedy = fine(words + Words{"--temperature", "0", "--json"}).json();
  const Words beams =
      words + Words{"--beams", "4", "--results", "3", "--length-penalty-by", "none"};
  const Json found = fine(beams + Words{"--json"}).json();
  REQUIRE(found["results"].size() == 3);
  CHECK(found["results"][0]["text"] == found["text"]);
  CHECK(found["score"].get<double>() >= greedy["score"].get<double>() - 1e-4);
  for (int k : {1, 2})
    CHECK(found["results"][k]["score"].get<double>() <=
          found["results"][k - 1]["score"].get<double>());
  CHECK(found["settings"]["num_beams"] == Json{{"value", 4}, {"from", "flag"}});
  CHECK(found["settings"]["temperature"] == Json{{"value", 0.}, {"from", "default"}});
  const Json divided =
      fine(words + Words{"--beams", "4", "--json", "--early-stopping", "never"}).json();
  double sum = 0;
  for (const Json& one : divided["log_probabilities"]) sum += one.get<double>();
  CHECK(divided["score"].get<double>() ==
        doctest::Approx(sum / double(divided["log_probabilities"].size())).epsilon(1e-4));
  const Ended shown = fine(beams);
  CHECK(shown.out.starts_with("[1] score -"));
  CHECK(shown.out.find("\n[3] score -") != std::string::npos);
  CHECK(shown.says("num_beams 4 (flag)"));
  refuses(words + Words{"--results", "3", "--beams", "2"}, "2 beams give 2 texts at most");
  refuses(words + Words{"--early-stopping", "true"}, "Give --beams 2 or more");
  refuses(words + Words{"--beams", "2", "--early-stopping", "yes"},
          "--early-stopping takes false, true, never, not 'yes'");
}

TEST_CASE("several results are drawn, and the model's file may ask for beams") {
  Scratch scratch;
  const std::string weights = fresh(scratch);
  const Words words{"generate", "--weights", weights, "--tokens", "10", "--json", "--prompt", "a"};
  const Json drawn = fine(words + Words{"--results", "3", "--seed", "5"}).json();
  CHECK(drawn["results"].size() == 3);
  CHECK(drawn["results"][0]["text"] != drawn["results"][1]["text"]);
  CHECK(drawn["text"] == fine(words + Words{"--seed", "5"}).json()["text"]);
  write(weights + "/generation_config.json",
        R"({"num_beams": 3, "early_stopping": true, "length_penalty": 2.0})");
  const Json by_file = fine(words).json();
  CHECK(by_file["settings"]["num_beams"]["from"] == "generation_config.json");
  CHECK(by_file["settings"]["early_stopping"]["value"] == true);
  const Words flags{"--beams", "3", "--early-stopping", "true", "--length-penalty", "2"};
  CHECK(fine(words + flags).json()["score"] == by_file["score"]);
  CHECK(fine(words + Words{"--beams", "1"}).json()["settings"]["temperature"]["value"] == .8);
}

TEST_CASE("how often a text outgrew the context is said") {
  Scratch scratch;
  const Words words{"generate", "--weights", fresh(scratch), "--prompt", "a", "--tokens"};
  CHECK_FALSE(fine(words + Words{"8"}).says("outgrew"));
  CHECK(fine(words + Words{"20"}).says("note: once a text outgrew the context, and its last 8"));
  CHECK(fine(words + Words{"28"}).says("note: 2 times a text outgrew the context"));
}

TEST_CASE("a stop ends each of several texts, and is cut off") {
  Scratch scratch;
  const std::string weights = fresh(scratch);
  const Words words{"generate", "--weights", weights,         "--tokens", "40",     "--json",
                    "--prompt", "a",         "--temperature", "1",        "--seed", "2"};
  const std::string whole = fine(words).json()["text"];
  // The first letter that is one byte, so that it is a text of its own.
  const auto at =
      whole.find_first_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
  REQUIRE(at != whole.npos);
  const std::string stop = whole.substr(at, 1);
  const Json found = fine(words + Words{"--stop", stop, "--results", "3"}).json();
  CHECK(found["text"] == whole.substr(0, at));
  CHECK(found["stop"] == stop);
  CHECK(found["finish_reason"] == "stop");
  for (const Json& result : found["results"])
    CHECK(result["text"].get<std::string>().find(stop) == std::string::npos);
}

TEST_CASE("an end of text that cannot come is named") {
  Scratch scratch;
  const std::string weights = fresh(scratch), replies = scratch / "replies";
  const auto notes = [&](const std::string& folder, const std::string& ends,
                         const std::string& binary) {
    write(folder + "/generation_config.json", "{\"eos_token_id\": " + ends + "}");
    return fine({"generate", "--weights", folder, "--prompt", "a", "--tokens", "2"}, binary).err;
  };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(has(notes(weights, "65", SINTER_SMALL),
            "eos_token_id 65 of generation_config.json has no effect: the data of the recipe small "
            "have tokens of their own"));
  fine({"export", "--out", replies}, SINTER_REPLIES);
  const std::string beyond = notes(replies, "[257, 50256]", SINTER_REPLIES);
  CHECK(has(beyond,
            "eos_token_id 50256 of generation_config.json has no effect: the model's tokens "
            "are those from 0 to 257."));
  CHECK(!has(beyond, "eos_token_id 257"));
  CHECK(has(beyond, "eos_token_id [257] (generation_config.json)"));
  const std::string fits = notes(replies, "257", SINTER_REPLIES);
  CHECK(has(fits, "eos_token_id [257] (generation_config.json)"));
  CHECK(!has(fits, "no effect"));
  const Json written = fine({"generate", "--weights", replies, "--prompt", "a", "--tokens", "2",
                             "--ignore-eos", "--json"},
                            SINTER_REPLIES)
                           .json();
  CHECK(written["settings"]["ignore_eos"] == Json{{"value", true}, {"from", "flag"}});
  CHECK(!written["settings"].contains("eos_token_id"));
}

TEST_CASE("each flag that chooses tokens sets what it says") {
  Scratch scratch;
  const std::string weights = fresh(scratch);
  struct Case {
    const char *flag, *name;
    Json value;
  };
  const auto check = [&](const std::vector<Case>& cases) {
    Words words{"generate", "--weights", weights, "--prompt", "a", "--json"};
    for (const Case& one : cases)
      words = words + Words{one.flag, one.value.is_string() ? one.value.get<std::string>()
                                                            : one.value.dump()};
    const Json settings = fine(words).json()["settings"];
    for (const Case& one : cases) {
      CAPTURE(one.flag);
      CHECK(settings.value(one.name, Json()) == Json{{"value", one.value}, {"from", "flag"}});
    }
  };
  check({{"--tokens", "tokens", 9},
         {"--temperature", "temperature", .9},
         {"--top-k", "top_k", 50},
         {"--top-p", "top_p", .97},
         {"--min-p", "min_p", .01},
         {"--typical-p", "typical_p", .96},
         {"--repetition-penalty", "repetition_penalty", 1.25},
         {"--frequency-penalty", "frequency_penalty", .5},
         {"--presence-penalty", "presence_penalty", .75},
         {"--no-repeat-ngram-size", "no_repeat_ngram_size", 6},
         {"--no-repeat-written-ngram-size", "no_repeat_written_ngram_size", 5},
         {"--no-repeat-prompt-ngram-size", "encoder_no_repeat_ngram_size", 4},
         {"--min-tokens", "min_tokens", 3},
         {"--results", "num_return_sequences", 2},
         {"--seed", "seed", 8}});
  check({{"--tokens", "tokens", 9},
         {"--beams", "num_beams", 3},
         {"--early-stopping", "early_stopping", "never"},
         {"--length-penalty", "length_penalty", .5},
         {"--length-penalty-by", "length_penalty_by", "wu"}});
}

TEST_CASE("more rows than the recipe plans are refused by the name of its policy") {
  Scratch scratch;
  const std::string weights = fresh(scratch),
                    asked = write(scratch / "asked", "{\"prompt\": \"a\"}\n");
  const Words words{"generate", "--weights", weights, "--tokens", "1", "--file", asked, "--rows"};
  const Ended ended = run(words + Words{"9"});
  CHECK(ended.code != 0);
  CHECK(ended.out.empty());
  CHECK(ended.says("9 rows of texts at once; the recipe plans 1 to 8."));
  CHECK(ended.says("Generation<{.rows = 9}>"));
  CHECK(fine(words + Words{"8"}).says("rows 8 (flag)"));
}

TEST_CASE("where Sinter's own products multiply, a text has the same bits beside others") {
  Scratch scratch;
  const std::string weights = fresh(scratch),
                    file = write(scratch / "asked.jsonl",
                                 "{\"prompt\": \"the \"}\n{\"prompt\": \"layer of a width\"}\n"
                                 "{\"prompt\": \"x\"}\n");
  const auto answers = [&](const char* rows) {
    return lines_of(fine({"generate", "--weights", weights, "--tokens", "30", "--temperature", "0",
                          "--no-libtorch", "--file", file, "--rows", rows})
                        .out);
  };
  const std::vector<Json> alone = answers("1"), together = answers("3");
  REQUIRE(alone.size() == 3);
  for (std::size_t k = 0; k < 3; ++k) {
    CHECK(alone[k]["token_ids"] == together[k]["token_ids"]);
    CHECK(alone[k]["log_probabilities"] == together[k]["log_probabilities"]);
  }
}

TEST_CASE("the token that ended a text is named") {
  Scratch scratch;
  const std::string folder = scratch / "replies";
  fine({"export", "--out", folder}, SINTER_REPLIES);
  Json ends;
  for (int id = 0; id < 258; ++id) ends.push_back(id);
  write(folder + "/generation_config.json", Json{{"eos_token_id", ends}}.dump());
  const Words words{"generate", "--weights", folder, "--prompt", "a", "--seed", "5", "--json"};
  const Json ended = fine(words, SINTER_REPLIES).json();
  CHECK(ended["tokens"] == 0);
  CHECK(ended["finish_reason"] == "stop");
  const Json on = fine(words + Words{"--ignore-eos"}, SINTER_REPLIES).json();
  CHECK(ended["stop_token_id"] == on["token_ids"][0]);
  CHECK(!on.contains("stop_token_id"));
}

}  // namespace sinter::detail::testing::generating_tests
