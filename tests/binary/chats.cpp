// SPDX-License-Identifier: Apache-2.0
// Conversations from the command line: training, a run that goes on, and a reply.
#include <sys/stat.h>

#include "binary/support.hpp"

namespace sinter::detail::testing::chats_tests {

/// Questions whose answer is one word each, in two forms of records.
std::string conversations(int count) {
  std::string lines;
  for (int k = 0; k < count; ++k) {
    const bool up = k % 2 == 0;
    const Json asked{{"role", "user"}, {"content", up ? "up" : "left"}},
        answered{{"role", "assistant"}, {"content", up ? "down" : "right"}};
    const Json turns{{"messages", {asked, answered}}},
        alpaca{{"instruction", asked["content"]}, {"output", answered["content"]}};
    lines += (k % 3 == 0 ? alpaca : turns).dump() + "\n";
  }
  return lines;
}

TEST_CASE("a run on conversations goes on with the same bits, and replies") {
  Scratch scratch;
  const std::string file = write(scratch / "a.jsonl", conversations(60) + "{}\n");
  const Words data{"train", "--data", file, "--seed", "7", "--eval-every", "40", "--threads", "2"};
  const std::string whole = scratch / "whole", parts = scratch / "parts";
  const Ended ended = fine(data + Words{"--out", whole, "--steps", "120"}, SINTER_CHATS);
  CHECK(ended.out.find("60 examples of 60 conversations in 1 file, the last 6 held") !=
        std::string::npos);
  CHECK(ended.out.find(" are learnt; 0.00 % are cut") != std::string::npos);
  CHECK(ended.says("left out of the data: 1 conversation (line 61 of '"));
  fine(data + Words{"--out", parts, "--steps", "40"}, SINTER_CHATS);
  fine(data + Words{"--out", parts, "--steps", "120", "--resume"}, SINTER_CHATS);
  require_same_end(whole, parts);
  for (const auto& [asked, answered] : {std::pair{"up", "down"}, {"left", "right"}}) {
    const Ended reply =
        fine({"generate", "--weights", whole, "--prompt", asked, "--temperature", "0", "--quiet"},
             SINTER_CHATS);
    CHECK(reply.out == std::string(asked) + "\n " + answered + "\n");
  }
  const Ended object = fine({"generate", "--weights", whole, "--prompt",
                             R"({"messages": [{"role": "user", "content": "up"}]})",
                             "--temperature", "0", "--quiet", "--json"},
                            SINTER_CHATS);
  CHECK(Json::parse(object.out)["text"] == " down");
}

/// The answers of `chat` to what stands in a file.
Ended talk(const std::string& weights, const std::string& said, const Words& more = {},
           const std::string& binary = SINTER_CHATS) {
  std::string command = "'" + binary + "' chat --weights '" + weights + "' --temperature 0";
  for (const std::string& word : more) command += " '" + word + "'";
  return run({"-c", command + " < '" + said + "'"}, "/bin/bash");
}

TEST_CASE("chat replies to each line, saves the conversation, and begins anew") {
  Scratch scratch;
  const std::string file = write(scratch / "a.jsonl", conversations(60)), weights = scratch / "run",
                    saved = scratch / "saved.jsonl";
  fine({"train", "--data", file, "--seed", "7", "--steps", "120", "--out", weights, "--quiet"},
       SINTER_CHATS);
  const std::string said =
      write(scratch / "said", "up\n/save " + saved + "\n/reset\n\nleft\n/rest\n/save " +
                                  scratch.path() + "/none/a\n/help\n");
  const Ended ended = talk(weights, said);
  REQUIRE_MESSAGE(ended.code == 0, ended.err);
  CHECK(ended.out.starts_with(" down\n right\n/reset "));
  CHECK(ended.says("temperature 0.0 (flag)"));
  CHECK(ended.says("no command '/rest'"));
  CHECK(ended.says("Cannot create " + scratch.path() + "/none/"));
  const Json turns = Json::parse(content(saved))["messages"];
  CHECK(turns ==
        Json{{{"role", "user"}, {"content", "up"}}, {{"role", "assistant"}, {"content", " down"}}});
  const Ended silent = talk(weights, write(scratch / "twice", "up\nup\n"), {"--stop", " "});
  REQUIRE_MESSAGE(silent.code == 0, silent.err);
  CHECK(silent.says("the reply has no text, so that the line is taken back"));
  CHECK_FALSE(silent.says("error"));
  // A reply is shown as it is written, each token by a write of its own.
  int ends[2]{};
  REQUIRE(pipe2(ends, O_DIRECT) == 0);
  const std::string up = write(scratch / "up", "up\n");
  const Process process(
      "/bin/bash", Words{"-c", "exec \"$0\" \"$@\" < '" + up + "' >&" + std::to_string(ends[1]),
                         SINTER_CHATS, "chat", "--weights", weights, "--temperature", "0"});
  close(ends[1]);
  std::string shown;
  int pieces = 0;
  for (char piece[4096]; !shown.ends_with('\n'); ++pieces) {
    const ssize_t size = read(ends[0], piece, sizeof piece);
    REQUIRE(size > 0);
    shown.append(piece, std::size_t(size));
  }
  close(ends[0]);
  CHECK(shown == " down\n");
  CHECK(pieces > 3);
  // What was saved can be learnt from.
  fine({"eval", "--data", saved, "--weights", weights, "--quiet"}, SINTER_CHATS);
}

TEST_CASE(
    "a conversation that is too long loses its oldest turns, and a message alone its beginning") {
  Scratch scratch;
  fine({"export", "--out", scratch / "fresh"}, SINTER_CHATS);
  std::string lines;
  for (int k = 0; k < 6; ++k) lines += "a message " + std::to_string(k) + "\n";
  const Ended many = talk(scratch / "fresh", write(scratch / "many", lines), {"--tokens", "8"});
  REQUIRE_MESSAGE(many.code == 0, many.err);
  CHECK(many.says("the model sees all but its first 2 turns"));
  const Ended one = talk(scratch / "fresh", write(scratch / "one", std::string(200, 'x') + "\n"),
                         {"--tokens", "8"});
  REQUIRE_MESSAGE(one.code == 0, one.err);
  CHECK(one.says("the prompt is too long for the recipe's data"));
}

TEST_CASE("chat talks with a model of dialogues, and with no model of plain text") {
  Scratch scratch;
  const std::string said = write(scratch / "said", "hello\nand\n/save " + (scratch / "a") + "\n");
  fine({"export", "--out", scratch / "fresh"}, SINTER_REPLIES);
  const Ended ended = talk(scratch / "fresh", said, {"--tokens", "4"}, SINTER_REPLIES);
  REQUIRE_MESSAGE(ended.code == 0, ended.err);
  const Json turns = Json::parse(content(scratch / "a"))["turns"];
  REQUIRE(turns.size() == 4);
  CHECK(turns[0] == Json{"A", "hello"});
  CHECK(turns[2] == Json{"A", "and"});
  fine({"export", "--out", scratch / "small"});
  const Ended none = talk(scratch / "small", said, {}, SINTER_SMALL);
  CHECK(none.code == 1);
  CHECK(none.says("does not learn replies, so there is no conversation"));
}

TEST_CASE(
    "chat ends with an error where its weights are not finite or its output cannot be written") {
  Scratch scratch;
  fine({"export", "--out", scratch / "fresh"}, SINTER_CHATS);
  const std::string said = write(scratch / "said", "up\n"),
                    file = scratch / "fresh/model.safetensors",
                    begin = "exec \"$0\" chat --weights '" + (scratch / "fresh") + "' <";
  const ReaderGone gone;
  std::vector<std::pair<std::string, std::string>> outputs{{gone.word(), "Broken pipe"}};
  if (fs::exists("/dev/full")) outputs.emplace_back("/dev/full", "No space left on device");
  for (const auto& [to, why] : outputs) {
    const Ended ended = run({"-c", begin + "'" + said + "' >" + to, SINTER_CHATS}, "/bin/bash");
    CHECK(ended.code == 1);
    CHECK(ended.says("error: Cannot write to standard output: " + why + "."));
  }
  const Ended silent = run({"-c", begin + "&-", SINTER_CHATS}, "/bin/bash");  // nothing is asked
  CHECK(silent.code == 0);
  CHECK(silent.out.empty());
  std::string bytes = content(file);
  std::uint64_t header = 0;
  std::memcpy(&header, bytes.data(), sizeof header);
  std::fill(bytes.begin() + 8 + std::ptrdiff_t(header), bytes.end(), char(0xff));
  write(file, bytes);
  check_refused(talk(scratch / "fresh", said), 3, "The model's prediction is not finite.");
}

TEST_CASE("Ctrl-C between replies ends the chat with the code of a shell") {
  Scratch scratch;
  fine({"export", "--out", scratch / "fresh"}, SINTER_CHATS);
  const std::string pipe = scratch / "pipe", out = scratch / "out";
  REQUIRE(::mkfifo(pipe.c_str(), 0666) == 0);
  const int both_ends = ::open(pipe.c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(both_ends >= 0);
  Process chat("/bin/bash",
               {"-c", "exec \"$0\" chat --weights '" + (scratch / "fresh") + "' < '" + pipe + "'",
                SINTER_CHATS},
               "", out);
  REQUIRE(::write(both_ends, "up\n", 3) == 3);
  CHECK(wait_for([&] { return content(out).ends_with("\n"); }));
  while (!chat.has_ended()) {  // the first may still find the reply
    chat.signal(SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  CHECK(chat.wait().code == 128 + SIGINT);
  ::close(both_ends);
}

TEST_CASE("evaluations write replies and score them, unless a flag skips that") {
  Scratch scratch;
  const std::string file = write(scratch / "a.jsonl", conversations(60)), out = scratch / "run";
  const Words data{"train", "--data", file, "--seed", "7", "--eval-every", "40", "--threads", "2"};
  const Words by{"--best-by", "exact_match_squad"}, skip{"--skip-generation"};
  fine(data + Words{"--out", out, "--steps", "120"} + by, SINTER_CHATS);
  CHECK(metrics(out)[39].contains("val_exact_match_squad"));
  CHECK(metrics(out)[119]["val_exact_match_squad"] == 1);
  CHECK(metrics(out)[119].contains("val_token_accuracy"));

  const Words eval{"eval", "--data", file, "--weights", out + "@last", "--quiet"};
  const std::string text = fine(eval, SINTER_CHATS).out;
  const std::size_t line = text.find("exact_match_squad ");
  REQUIRE(line != text.npos);
  CHECK(text.substr(line, text.find('\n', line) - line).ends_with(" 1.000000"));
  CHECK(fine(eval + Words{"--json"}, SINTER_CHATS).json()["exact_match_squad"] == 1);
  const Json skipped = fine(eval + Words{"--json"} + skip, SINTER_CHATS).json();
  CHECK_FALSE(skipped.contains("exact_match_squad"));
  CHECK(skipped.contains("token_accuracy"));

  const Json told = run({"describe", "--json"}, SINTER_CHATS).json()["replies"];
  CHECK(told["rows"] == 8);
  CHECK(told["memory"] > 0);
  CHECK(fine({"describe"}, SINTER_CHATS)
            .out.find(" bytes more while evaluations write 8 texts at once\n") !=
        std::string::npos);

  const Words on = data + Words{"--out", out, "--resume"};
  const Ended refused = run(on + Words{"--steps", "160"} + skip, SINTER_CHATS);
  CHECK(refused.code != 0);
  CHECK(refused.says("names 'exact_match_squad', a metric of replies, and generation is skipped"));
  const Ended by_flag =
      run(data + Words{"--out", scratch / "other", "--steps", "9"} + by + skip, SINTER_CHATS);
  CHECK(by_flag.says("--best-by names 'exact_match_squad', a metric of replies"));
  fine(on + Words{"--steps", "160", "--best-by", "loss"} + skip, SINTER_CHATS);
  CHECK_FALSE(metrics(out)[159].contains("val_exact_match_squad"));
  fine(on + Words{"--steps", "200"}, SINTER_CHATS);  // nothing remembers that it was skipped
  CHECK(metrics(out)[199].contains("val_exact_match_squad"));

  const Ended nothing =
      run({"eval", "--data", file, "--weights", out, "--skip-generation"}, SINTER_REPLIES);
  CHECK(nothing.code == 2);
  CHECK(nothing.says("--skip-generation is nothing to eval"));
}

/// Dialogues of three turns, whose last repeats the first.
std::string dialogues(int count) {
  std::string lines;
  for (int k = 0; k < count; ++k) {
    const std::string one(1, char('a' + k % 20)), two(1, char('b' + k % 7));
    Json turns = Json::array();
    for (const std::string& text : {one, two, one}) turns.push_back(Json::array({"A", text}));
    lines += Json{{"turns", turns}}.dump() + "\n";
  }
  return lines;
}

TEST_CASE("weights of a run are read with the options of its data, unless a flag gives others") {
  Scratch scratch;
  const std::string file = write(scratch / "a.jsonl", dialogues(60)), out = scratch / "run";
  fine({"train", "--data", file, "--steps", "40", "--data.history", "1", "--out", out, "--quiet"},
       SINTER_REPLIES);
  const std::string taken = "note: data.history is 1 (the recipe says 0), as in the run.";
  const Words history{"--data.history"};
  const auto by = [&](const Words& words, const Words& more) {
    return fine(words + Words{"--weights", out, "--json"} + more, SINTER_REPLIES);
  };
  for (const Words& words :
       {Words{"eval", "--data", file},
        Words{"generate", "--prompt", "a\nb", "--temperature", "1", "--tokens", "9"}}) {
    const Ended plain = by(words, {}), same = by(words, history + Words{"1"}),
                other = by(words, history + Words{"0"});
    CHECK_MESSAGE(plain.says(taken), plain.err);
    CHECK(!same.says("data.history"));
    CHECK(other.says("data.history is 0 (the run had 1), as given."));
    CHECK(plain.out == same.out);
    CHECK(plain.out != other.out);
  }
  CHECK(fine({"generate", "--help"}, SINTER_REPLIES).out.find("--data.history") !=
        std::string::npos);
  check_refused(
      run({"eval", "--data", file, "--weights", out, "--optimizer.lr", "1"}, SINTER_REPLIES), 2,
      "--optimizer.lr is a flag of train and describe, not of eval.");
  const std::string said = write(scratch / "said", "hello\n");
  CHECK(talk(out, said, {"--tokens", "4"}, SINTER_REPLIES).says(taken));
  CHECK(!talk(out, said, {"--tokens", "4", "--quiet"}, SINTER_REPLIES).says("data.history"));

  // Those of evaluations are for eval alone; weights that are of no run have none.
  const std::string asked = write(scratch / "b.jsonl", conversations(60)),
                    evaluated = scratch / "chats";
  fine({"train", "--data", asked, "--steps", "4", "--evaluation.tokens", "3", "--out", evaluated},
       SINTER_CHATS);
  const std::string tokens = "evaluation.tokens is 3 (the recipe says 0), as in the run.";
  CHECK(fine({"eval", "--data", asked, "--weights", evaluated}, SINTER_CHATS).says(tokens));
  CHECK(!fine({"generate", "--prompt", "up", "--weights", evaluated}, SINTER_CHATS)
             .says("evaluation."));
  fine({"export", "--weights", out, "--out", scratch / "hf"}, SINTER_REPLIES);
  CHECK(!fine({"eval", "--data", file, "--weights", scratch / "hf"}, SINTER_REPLIES)
             .says("data.history"));
}

}  // namespace sinter::detail::testing::chats_tests
