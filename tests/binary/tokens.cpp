// SPDX-License-Identifier: Apache-2.0
// Training on the tokens of a tokenizer that --tokenizer names.
#include "binary/support.hpp"

namespace sinter::detail::testing::tokens_tests {

const std::string tokenizer = SINTER_SOURCE_DIR "/tests/data/tokenizer/qwen2.json";

/// A folder with a text, in which what the binary keeps is kept, too.
struct Place : Scratch {
  std::string text = write(*this / "text", some_text(20'000)), run = *this / "run";
  Place() { setenv("SINTER_CACHE", (*this / "cache").c_str(), 1); }
};

Ended worded(const Words& words) { return ::run(words, SINTER_WORDED); }

Ended good(const Words& words) { return fine(words, SINTER_WORDED); }

void refuses(const Words& words, int code, const std::string& message) {
  check_refused(worded(words), code, message);
}

TEST_CASE("a run learns from tokens; resume, eval and generate remember the tokenizer") {
  Place place;
  const Words data{"--data", place.text, "--tokenizer", tokenizer};
  const Words train{"train", "--threads", "1", "--eval-every", "100000", "--quiet", "--out"};
  good(train + Words{place.run, "--steps", "60"} + data);
  good(train + Words{place / "parts", "--steps", "25"} + data);
  good(train + Words{place / "parts", "--steps", "60", "--resume"});
  CHECK(content(place.run + "/last/model.safetensors") ==
        content(place / "parts/last/model.safetensors"));
  const std::vector<Json> rows = metrics(place.run);
  CHECK(rows.back()["loss"] < 0.7 * rows.front()["loss"].get<double>());

  const Json held_out =
      good({"eval", "--weights", place.run, "--held-out", "--json", "--threads", "1"}).json();
  CHECK(held_out["loss"] == rows.back()["val_loss"]);
  const Words evaluate{"eval", "--weights", place.run, "--data", place.text, "--json"};
  CHECK(good(evaluate).json() == good(evaluate + Words{"--tokenizer", tokenizer}).json());

  const Ended generated =
      good({"generate", "--weights", place.run, "--prompt", "the width", "--tokens", "9"});
  CHECK(generated.out.starts_with("the width"));
  CHECK(generated.out.size() > 15);
  CHECK(good({"generate", "--weights", place.run, "--prompt", "the width", "--tokens", "9",
              "--tokenizer", tokenizer})
            .out == generated.out);
}

TEST_CASE(
    "weights bring their tokenizer: a run's, its copy, or a folder's, and a note says which") {
  Place place;
  const std::string mine = write(place / "mine.json", content(tokenizer));
  good({"train", "--threads", "1", "--steps", "2", "--quiet", "--out", place.run, "--data",
        place.text, "--tokenizer", mine});
  good({"export", "--weights", place.run, "--out", place / "hf"});
  const std::string lines = write(place / "lines", "the king\n");
  const auto check = [&](const std::string& weights, const std::string& taken) {
    const std::string note = "note: the tokenizer is " + taken;
    for (const Words& words :
         {Words{"generate", "--prompt", "the", "--tokens", "5"}, Words{"predict", "--text", lines},
          Words{"eval", "--data", place.text}}) {
      CAPTURE(words.front());
      const Words ask = words + Words{"--weights", weights, "--json"};
      const Ended found = good(ask), named = good(ask + Words{"--tokenizer", tokenizer});
      CHECK(found.says(note));
      CHECK_FALSE(named.says("the tokenizer is"));
      CHECK(found.out == named.out);
      CHECK_FALSE(good(ask + Words{"--quiet"}).says("the tokenizer is"));
    }
  };
  check(place.run, mine + ", by which the run read its text.");
  check(place / "hf", place / "hf, which came with the weights.");
  fs::remove(mine);
  check(place.run, place.run + "/origin-1, a copy of what the run read its text by.");
  fs::remove(place / "hf/tokenizer.json");
  refuses({"generate", "--weights", place / "hf"}, 2, "generate needs --tokenizer PATH");
}

TEST_CASE("tokenize makes a token file, on which training is the same as on the text") {
  Place place;
  const std::string file = place / "file";
  const Words make{"tokenize", "--data", place.text, "--out", file};
  const Json made = good(make + Words{"--tokenizer", tokenizer, "--json"}).json();
  CHECK(made["bytes"] == 20'000);
  CHECK(made["documents"] == 1);
  const Words train{"train", "--steps", "5", "--quiet", "--threads", "1", "--data"};
  good(train + Words{file, "--out", place / "a"});
  good(train + Words{place.text, "--tokenizer", tokenizer, "--out", place / "b"});
  CHECK(content(place / "a/last/model.safetensors") == content(place / "b/last/model.safetensors"));
  CHECK(good({"tokenize", "--data", place.text, "--out", file, "--tokenizer", tokenizer})
            .out.find(" tokens of 20,000 bytes in ") != std::string::npos);
}

TEST_CASE("a tokenizer with more tokens than the model trains the same where they never occur") {
  Place place;
  Json larger = Json::parse(content(tokenizer));
  for (int id = 403; id < 520; ++id) {
    Json token = larger["added_tokens"][0];
    token["id"] = id;
    token["content"] = "<extra" + std::to_string(id) + ">";
    larger["added_tokens"].push_back(token);
  }
  const std::string with_more = write(place / "larger.json", larger.dump());
  const Words train{"train", "--steps", "3", "--quiet", "--threads", "1", "--data"};
  good(train + Words{place.text, "--tokenizer", tokenizer, "--out", place / "a"});
  good(train + Words{place.text, "--tokenizer", with_more, "--out", place / "b"});
  CHECK(content(place / "a/last/model.safetensors") == content(place / "b/last/model.safetensors"));

  const std::string is = " is '<extra512>' (id 512), ", name = "its end <extra511><extra512>",
                    text = write(place / "other", name + content(place.text));
  refuses(train + Words{text, "--tokenizer", with_more, "--out", place / "c"}, 1, text + is);
  refuses(train + Words{place.text, "--validation", text, "--tokenizer", with_more, "--out",
                        place / "c"},
          1, text + is);
  CHECK(!fs::exists(place / "c"));
  const Words from_b{"--weights", place / "b"};
  refuses(Words{"eval", "--data", text} + from_b, 1, text + is);
  refuses(Words{"generate", "--prompt", name} + from_b, 1, " of the text" + is);
  const std::string lines = write(place / "lines", "its end\n" + name + "\n");
  const Ended predicted = worded(Words{"predict", "--text", lines} + from_b);
  CHECK(predicted.code == 1);
  CHECK(predicted.says(lines + ", line 2: Token "));
  CHECK(predicted.says(is));
}

TEST_CASE("a run says which kept tokens it reads; tokenize refuses what is no text") {
  Place place;
  const Words train{"train", "--steps", "1", "--data", place.text, "--tokenizer", tokenizer};
  CHECK(good(train + Words{"--out", place / "a"}).says("note: the tokens of the text are kept in"));
  CHECK(
      good(train + Words{"--out", place / "b"}).says("note: the tokens of the text are those in"));
  const std::string table = write(place / "table", "a\t1\nb\t2\nc\t1\n");
  const Words make{"tokenize", "--data", table, "--tokenizer", tokenizer, "--out", place / "o"};
  refuses(make, 1, "table' as data: it is a table with tabs (TSV), and no text");
  good(make + Words{"--as-text"});
  refuses({"tokenize", "--text", table, "--tokenizer", tokenizer, "--as-text"}, 2,
          "--as-text goes with --data");
  write(place / "nul", some_text(100) + std::string(1, '\0'));
  refuses({"tokenize", "--data", place / "nul", "--tokenizer", tokenizer, "--out", place / "n"}, 1,
          "byte 100 is NUL");
}

/// Takes the word on special tokens out of a run's record, which older versions did not write.
void make_old(const std::string& run) {
  Json starts = Json::parse(content(run + "/run.json"));
  for (Json& start : starts) CHECK(start.erase("special_tokens") == 1);
  write(run + "/run.json", starts.dump());
}

TEST_CASE("a run that began before texts had a BOS goes on without, and so do its weights") {
  Place place;
  const Words train{"train", "--threads", "1", "--quiet", "--out"},
      data{"--data", place.text, "--tokenizer", tokenizer}, off{"--special-tokens", "off"};
  good(train + Words{place / "whole", "--steps", "20"} + data + off);
  good(train + Words{place / "new", "--steps", "20"} + data);
  CHECK(content(place / "whole/last/model.safetensors") !=
        content(place / "new/last/model.safetensors"));
  good(train + Words{place.run, "--steps", "8"} + data + off);
  make_old(place.run);
  good(train + Words{place.run, "--steps", "14", "--resume"});
  good(train + Words{place.run, "--steps", "20", "--resume"});
  CHECK(content(place.run + "/last/model.safetensors") ==
        content(place / "whole/last/model.safetensors"));
  make_old(place / "whole");
  const std::string line = write(place / "line", "the width\n");
  auto rows = [&](const std::string& run, const Words& more = {}) {
    return good(Words{"predict", "--weights", place / run, "--text", line, "--json"} + more)
        .json()["logits"]
        .size();
  };
  const std::size_t without = rows("whole");
  CHECK(rows("new") == without + 1);  // a row for BOS
  refuses(train + Words{place.run, "--steps", "30", "--resume", "--special-tokens", "on"}, 2,
          "--special-tokens on does not fit the run in " + place.run +
              ", which began with texts as --special-tokens off gives them");
  good(train + Words{place.run, "--steps", "20", "--resume"} + off);
  CHECK(rows("new", off) == without);
  CHECK(rows("whole", {"--special-tokens", "on"}) == without + 1);
  const Words evaluate{"eval", "--json", "--data", place.text, "--weights"};
  const Json old = good(evaluate + Words{place / "whole"}).json();
  CHECK(old == good(evaluate + Words{place / "whole"} + off).json());
  CHECK(old != good(evaluate + Words{place / "whole", "--special-tokens", "on"}).json());
}

/// Writes a vocabulary and its merges, without a word on how they are used.
void write_two_files(const std::string& folder) {
  const Json model = Json::parse(content(tokenizer))["model"];
  fs::create_directory(folder);
  write(folder + "/vocab.json", model["vocab"].dump());
  std::string merges;
  for (const Json& merge : model["merges"])
    merges += merge.is_string()
                  ? merge.get<std::string>() + "\n"
                  : merge[0].get<std::string>() + " " + merge[1].get<std::string>() + "\n";
  write(folder + "/merges.txt", merges);
}

TEST_CASE("a run that began before tokenizer_config.json counted goes on as it began") {
  Place place;
  const std::string folder = place / "two";
  write_two_files(folder);
  const Words train{"train", "--threads", "1", "--quiet", "--out"},
      data{"--data", place.text, "--tokenizer", folder, "--special-tokens", "off"};
  good(train + Words{place / "whole", "--steps", "12"} + data);
  good(train + Words{place.run, "--steps", "5"} + data);
  const int id = int(Json::parse(content(folder + "/vocab.json")).size());
  write(folder + "/tokenizer_config.json", Json{{"tokenizer_class", "GPT2Tokenizer"},
                                                {"added_tokens_decoder",
                                                 {{std::to_string(id),
                                                   {{"content", " the"},
                                                    {"lstrip", false},
                                                    {"normalized", false},
                                                    {"rstrip", false},
                                                    {"single_word", false},
                                                    {"special", false}}}}}}
                                               .dump());
  good(train + Words{place / "new", "--steps", "12"} + data);
  CHECK(content(place / "new/last/model.safetensors") !=
        content(place / "whole/last/model.safetensors"));

  Json starts = Json::parse(content(place.run + "/run.json"));
  for (const char* key : {"special_tokens", "as_text", "config"})
    for (Json& start : starts) start.erase(key);
  write(place.run + "/run.json", starts.dump());
  const std::string old = place / "old";
  fs::copy(place.run, old, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  good(train + Words{place.run, "--steps", "8", "--resume"});
  good(train + Words{place.run, "--steps", "12", "--resume"});
  CHECK(content(place.run + "/last/model.safetensors") ==
        content(place / "whole/last/model.safetensors"));
  const Words predict{"predict", "--json", "--text", write(place / "line", "to the king\n"),
                      "--weights"};
  for (const std::string& run : {place.run, old}) {
    const Ended asked = good(predict + Words{run});
    CHECK(asked.says("note: the tokenizer is " + folder + "/vocab.json, by which the run read"));
    CHECK(asked.json() != good(predict + Words{run, "--tokenizer", folder}).json());
  }
  const Words resume = train + Words{old, "--steps", "12", "--resume", "--tokenizer"};
  refuses(resume + Words{folder}, 1, "does not fit these data");
  good(resume + Words{folder + "/vocab.json"});
  good({"export", "--weights", place.run, "--out", place / "hf"});
  CHECK(fs::exists(place / "hf/merges.txt"));
}

TEST_CASE("a text ends at the end of text, of which nothing is printed, unless it is to go on") {
  Place place;
  std::string text;
  for (int k = 0; k < 1500; ++k) text += "the king<|endoftext|>";
  write(place.text, text);
  good({"train", "--threads", "1", "--quiet", "--out", place.run, "--steps", "150", "--data",
        place.text, "--tokenizer", tokenizer, "--eval-every", "0"});
  const Words generate{"generate", "--prompt", "the",    "--temperature", "0",
                       "--tokens", "40",       "--json", "--weights"};
  const Json ended = good(generate + Words{place.run}).json();
  CHECK(ended["text"] == " king");
  CHECK(ended["finish_reason"] == "stop");
  CHECK(ended["tokens"] < 40);
  const Json on = good(generate + Words{place.run, "--ignore-eos"}).json();
  CHECK(on["finish_reason"] == "length");
  CHECK(on["tokens"] == 40);
  CHECK(on["text"].get<std::string>().find("the king") != std::string::npos);
  const Ended people = good({"generate", "--prompt", "the", "--temperature", "0", "--weights",
                             place.run, "--special-tokens", "on"});
  CHECK(people.out == "the king\n");

  // What came with the weights has the first word, of its ids as of one alone.
  good({"export", "--weights", place.run, "--out", place / "hf"});
  const Json ids = good({"tokenize", "--tokenizer", tokenizer, "--special-tokens", "off", "--json",
                         "--text", write(place / "word", " king")})
                       .json()["ids"];
  CHECK(good(generate + Words{place / "hf"}).json()["text"] == " king");
  write(place / "hf/generation_config.json", Json{{"eos_token_id", {511, ids[0]}}}.dump());
  const Json none = good(generate + Words{place / "hf"}).json();
  CHECK(none["text"] == "");
  CHECK(none["finish_reason"] == "stop");
  write(place / "hf/generation_config.json", Json{{"eos_token_id", 511}}.dump());
  CHECK(good(generate + Words{place / "hf"}).json()["finish_reason"] == "length");
}

TEST_CASE("a prompt that is longer than the context is cut, which a note says") {
  Place place;
  good({"export", "--out", place / "fresh"});
  const Words generate{"generate", "--weights", place / "fresh", "--tokenizer", tokenizer,
                       "--tokens", "1",         "--prompt"};
  CHECK(good(generate + Words{some_text(2000)}).says(" tokens, and the model sees the last "));
  CHECK_FALSE(good(generate + Words{"the"}).says("the model sees"));
  CHECK_FALSE(good(generate + Words{some_text(2000), "--quiet"}).says("the model sees"));
}

TEST_CASE("an empty prompt begins at the BOS, and is refused where the texts have none") {
  Place place;
  good({"export", "--out", place / "fresh"});
  const Words generate{"generate", "--weights", place / "fresh", "--tokenizer", tokenizer,
                       "--tokens", "3",         "--json",        "--ignore-eos"};
  CHECK(good(generate).json()["tokens"] == 3);
  CHECK(good(generate + Words{"--prompt", ""}).json()["prompt"] == "");
  refuses(generate + Words{"--special-tokens", "off"}, 1, "Give a prompt of at least one token");
}

TEST_CASE("a missing or ignored argument of tokens is refused") {
  Place place;
  refuses({"train", "--data", place.text, "--out", place.run, "--steps", "1"}, 1,
          "Give --tokenizer PATH");
  CHECK_FALSE(fs::exists(place.run));
  refuses({"tokenize", "--data", place.text, "--tokenizer", tokenizer}, 2,
          "tokenize needs --out FILE");
  refuses({"tokenize", "--out", place / "o", "--tokenizer", tokenizer}, 2,
          "tokenize needs --data PATH");
  refuses({"tokenize", "--data", place.text, "--out", place / "o"}, 2,
          "tokenize needs --tokenizer PATH");
  refuses({"tokenize", "--text", place.text, "--out", place / "o", "--tokenizer", tokenizer}, 2,
          "and not both");
  refuses({"tokenize", "--data", place.text, "--out", place.text, "--tokenizer", tokenizer}, 1,
          "it does not begin with SINTERTK");
  CHECK(content(place.text).size() == 20'000);
  Ended bytes = ::run({"train", "--data", place.text, "--tokenizer", tokenizer, "--steps", "1"});
  CHECK(bytes.code == 2);
  CHECK(bytes.says("go through no tokenizer"));
}

}  // namespace sinter::detail::testing::tokens_tests
