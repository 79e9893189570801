// SPDX-License-Identifier: Apache-2.0
// Dialogues as the tokens of a tokenizer that --tokenizer names, and replies to a prompt.
#include "binary/support.hpp"

namespace sinter::detail::testing::worded_replies_tests {

const std::string folder = SINTER_SOURCE_DIR "/tests/data/tokenizer/";
const std::string tokenizer = folder + "qwen2.json";

/// A few dialogues, again and again. What comes after "and you?" depends on the first turn.
std::string dialogues() {
  const Words all[] = {{"ping", "pong there"},
                       {"who?", "it is me", "and you?", "the other width"},
                       {"why?", "no reason", "and you?", "some reason"}};
  std::string lines;
  for (int k = 0; k < 60; ++k) {
    Json turns = Json::array();
    for (const std::string& turn : all[k % 3]) turns.push_back({"A", turn});
    lines += Json{{"turns", turns}}.dump() + "\n";
  }
  return lines;
}

Ended worded(const Words& words) { return ::run(words, SINTER_WORDED_REPLIES); }
Ended good(const Words& words) { return fine(words, SINTER_WORDED_REPLIES); }

void refuses(const Words& words, const std::string& message) {
  const Ended ended = worded(words);
  CAPTURE(ended.err);
  CHECK(ended.code == 1);
  CHECK(ended.says(message));
}

TEST_CASE("replies in tokens: stop, resume, eval and generate remember the tokenizer") {
  Scratch scratch;
  const std::string file = write(scratch / "a.jsonl", dialogues()), run = scratch / "run";
  const Words data{"--data", file, "--tokenizer", tokenizer};
  const Words train{"train", "--threads", "1", "--eval-every", "10", "--out"};
  const Ended ended = good(train + Words{run, "--steps", "80"} + data);
  CHECK(ended.out.find("140 examples of 60 dialogues in 1 file, the last ") != std::string::npos);
  good(train + Words{scratch / "parts", "--steps", "30"} + data);
  good(train + Words{scratch / "parts", "--steps", "80", "--resume"});
  require_same_end(run, scratch / "parts");
  const std::vector<Json> rows = metrics(run);
  CHECK(rows.back()["loss"] < 0.1 * rows.front()["loss"].get<double>());

  const Words held_out{"eval", "--weights", run, "--held-out", "--json", "--threads", "1"};
  CHECK(good(held_out).json()["loss"] == rows.back()["val_loss"]);
  const Words evaluate{"eval", "--weights", run, "--data", file, "--json"};
  CHECK(good(evaluate).json() == good(evaluate + Words{"--tokenizer", tokenizer}).json());

  const Words generate{"generate", "--weights", run, "--temperature", "0", "--prompt"};
  CHECK(good(generate + Words{"ping"}).out == "ping\npong there\n");
  const Json reply = good(generate + Words{"who?\nit is me\nand you?", "--json"}).json();
  CHECK(reply["text"] == "the other width");
  CHECK(reply["tokens"] < 24);
  CHECK(good(generate + Words{"why?\nno reason\nand you?", "--json"}).json()["text"] ==
        "some reason");
  CHECK(good(generate + Words{"ping", "--tokens", "1", "--json"}).json()["tokens"] == 1);
}

TEST_CASE("another tokenizer is said and refused on resume; one that does not fit, at once") {
  Scratch scratch;
  const std::string file = write(scratch / "a.jsonl", dialogues()), run = scratch / "run";
  const Words train{"train", "--quiet", "--steps", "2", "--data", file, "--out"};
  good(train + Words{run, "--tokenizer", tokenizer});
  const Ended other = worded(
      {"train", "--out", run, "--steps", "4", "--resume", "--tokenizer", folder + "prefixed.json"});
  CAPTURE(other.err);
  CHECK(other.code == 1);
  CHECK(other.says("the tokenizer is " + folder + "prefixed.json, as given; it was " + tokenizer));
  CHECK(other.says("does not fit these data"));
  refuses(train + Words{scratch / "b", "--tokenizer", folder + "llama2.json"},
          "the recipe's vocabulary is 403, and the tokenizer has 450 tokens");
  refuses(train + Words{scratch / "b"}, "Give --tokenizer PATH");
  CHECK(!fs::exists(scratch / "b"));
}

TEST_CASE("bytes stay what they were: their own tokenizer, and replies that end") {
  Scratch scratch;
  const std::string file = write(scratch / "a.jsonl", dialogues()), run = scratch / "run";
  fine({"train", "--data", file, "--out", run, "--steps", "2", "--quiet"}, SINTER_REPLIES);
  const Words generate{"generate", "--weights", run, "--prompt", "who?\nme", "--json"};
  const Json reply = fine(generate, SINTER_REPLIES).json();
  CHECK(reply["tokens"] <= 16);  // a reply's most
  const std::string text = write(scratch / "text", "ab");
  CHECK(fine({"tokenize", "--text", text, "--json"}, SINTER_REPLIES).json()["ids"] ==
        Json::array({'a', 'b'}));
}

}  // namespace sinter::detail::testing::worded_replies_tests
