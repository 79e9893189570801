// SPDX-License-Identifier: Apache-2.0
// generate that is ended by a signal or a reader who goes away, at the edges of what it takes, and with what is broken.
#include "binary/support.hpp"

namespace sinter::detail::testing::generating_ends_tests {

/// A folder with weights that were never trained.
std::string fresh(const Scratch& scratch) {
  fine({"export", "--out", scratch / "fresh", "--seed", "4"});
  return scratch / "fresh";
}

/// A process of generate whose notes go to a file, and that has begun to write.
class Writes {
  Scratch place;

 public:
  Process process;
  explicit Writes(const Words& words, const std::string& out = "")
      : process(
            "/bin/sh",
            Words{"-c", "exec \"$0\" \"$@\" 2> '" + (place / "notes") + "'", SINTER_SMALL} + words,
            "", out) {
    REQUIRE(wait_for([&] { return notes().find("temperature ") != std::string::npos; }));
  }
  std::string notes() const { return content(place / "notes"); }
};

TEST_CASE("a signal ends a text behind the token at hand, with the code of a shell") {
  Scratch scratch;
  const Words words{"generate",      "--weights", fresh(scratch), "--prompt",  "the ",
                    "--temperature", "1",         "--tokens",     "1000000000"};
  for (const int number : {SIGINT, SIGTERM}) {
    const std::string out = scratch / "text";
    Writes text(words, out);
    REQUIRE(wait_for([&] { return content(out).size() > 100; }));
    text.process.signal(number);
    CHECK(text.process.wait().code == 128 + number);
    CHECK(content(out).starts_with("the "));
    CHECK(content(out).ends_with("\n"));
    fs::remove(out);

    Writes json(words + Words{"--json"});
    json.process.signal(number);
    const Ended ended = json.process.wait();
    CHECK(ended.code == 128 + number);
    const Json text_so_far = Json::parse(ended.out);
    CHECK(text_so_far["finish_reason"] == "cancelled");
    CHECK(text_so_far["tokens"] == text_so_far["token_ids"].size());
  }
}

TEST_CASE("each token is shown once it is written, long before the text ends") {
  Scratch scratch;
  int ends[2]{};
  REQUIRE(pipe2(ends, O_DIRECT) == 0);  // so that a read returns what one write has written
  const Process process("/bin/bash", Words{"-c", "exec \"$0\" \"$@\" >&" + std::to_string(ends[1]),
                                           SINTER_SMALL, "generate", "--weights", fresh(scratch),
                                           "--prompt", "the ", "--tokens", "1000000000"});
  close(ends[1]);
  const auto next = [&] {
    char piece[4096];
    const ssize_t size = read(ends[0], piece, sizeof piece);
    REQUIRE(size > 0);
    return std::string(piece, std::size_t(size));
  };
  CHECK(next() == "the ");
  for (int piece = 0; piece < 20; ++piece)
    CHECK(next().size() < 20);  // of a token, not of a buffer
  CHECK_FALSE(process.has_ended());
  close(ends[0]);
}

TEST_CASE("a signal leaves whole lines of the answers to a file") {
  Scratch scratch;
  const int asked = 4000;
  std::string lines;
  for (int k = 0; k < asked; ++k) lines += Json{{"prompt", "the "}, {"id", k}}.dump() + "\n";
  const std::string out = scratch / "answers";
  Writes file({"generate", "--weights", fresh(scratch), "--tokens", "300", "--file",
               write(scratch / "asked", lines)},
              out);
  REQUIRE(wait_for([&] { return content(out).size() > 100; }));
  file.process.signal(SIGTERM);
  CHECK(file.process.wait().code == 128 + SIGTERM);
  CHECK(content(out).ends_with("}\n"));
  const std::vector<Json> answers = json_rows(out);
  REQUIRE(answers.size() < asked);
  for (std::size_t k = 0; k < answers.size(); ++k) {
    CHECK(answers[k]["id"] == k);
    CHECK(answers[k]["tokens"] == 300);
  }
  CHECK(file.notes().find("a signal came: " + std::to_string(answers.size()) + " of 4000 lines") !=
        std::string::npos);
}

/// Weights of which no number is finite.
std::string not_finite(const Scratch& scratch) {
  const std::string folder = fresh(scratch), file = folder + "/model.safetensors";
  std::string bytes = content(file);
  std::uint64_t header = 0;
  std::memcpy(&header, bytes.data(), sizeof header);
  std::fill(bytes.begin() + 8 + std::ptrdiff_t(header), bytes.end(), char(0xff));
  write(file, bytes);
  return folder;
}

TEST_CASE("weights that are not finite are an error, and no text") {
  Scratch scratch;
  const std::string asked = write(scratch / "asked", "{\"prompt\": \"a\"}\n");
  const Words words{"generate", "--weights", not_finite(scratch), "--tokens", "5"};
  for (const Words& more :
       {Words{"--prompt", "a", "--json"}, Words{"--prompt", "a", "--beams", "2"},
        Words{"--prompt", "a", "--temperature", "0", "--json"}, Words{"--file", asked}}) {
    CAPTURE(more);
    check_refused(run(words + more), 3, "The model's prediction is not finite.");
  }
}

TEST_CASE("texts that cannot be written are an error, and a reader who goes away ends them") {
  Scratch scratch;
  std::string lines;
  for (int k = 0; k < 2000; ++k) lines += "{\"prompt\": \"a\"}\n";
  const std::string weights = fresh(scratch), asked = write(scratch / "asked", lines);
  const Words words{"generate", "--weights", weights};
  for (const Words& more : {Words{"--prompt", "a", "--tokens", "1000000000"},
                            Words{"--file", asked, "--tokens", "9"}}) {
    CAPTURE(more);
    if (fs::exists("/dev/full")) {
      const Ended full = Process(SINTER_SMALL, words + more, "", "/dev/full").wait();
      CHECK(full.code == 1);
      CHECK(full.says("error: Cannot write to standard output: No space left on device."));
    }
    const std::string piped = "\"$0\" \"$@\" | head -c 3 > /dev/null; exit ${PIPESTATUS[0]}";
    ::signal(SIGPIPE, SIG_DFL);  // which services ignore
    const Ended said = run(Words{"-c", piped, SINTER_SMALL} + words + more, "/bin/bash");
    CHECK(said.code == 1);
    CHECK(said.says("error: Cannot write to standard output: Broken pipe."));
  }
}

TEST_CASE("a prompt of one token and one of the context are read whole, one token more is cut") {
  Scratch scratch;
  const Words words{"generate", "--weights", fresh(scratch), "--tokens", "1", "--json", "--prompt"};
  for (const int tokens : {1, 16}) {
    const Ended whole = fine(words + Words{std::string(std::size_t(tokens), 'a')});
    CHECK_FALSE(whole.says("the model sees"));
    CHECK(whole.json()["tokens"] == 1);
  }
  const Ended cut = fine(words + Words{"x" + std::string(16, 'a'), "--temperature", "0"});
  CHECK(cut.says("the prompt has 17 tokens, and the model sees the last 16: its context."));
  CHECK(cut.json()["token_ids"] ==
        fine(words + Words{std::string(16, 'a'), "--temperature", "0"}).json()["token_ids"]);
}

TEST_CASE("a model that does not say how it continues a text reads it anew, which a note says") {
  Scratch scratch;
  fine({"export", "--out", scratch / "shifted"}, SINTER_SHIFTED);
  const Words words{"generate",      "--weights", scratch / "shifted", "--tokens", "20",
                    "--temperature", "0"};
  const std::string note = "note: each text is read anew for each token (", layer = "shift";
  const Ended shown = fine(words + Words{"--prompt", "abc"}, SINTER_SHIFTED);
  const std::size_t at = shown.err.find(note);
  REQUIRE_MESSAGE(at != std::string::npos, shown.err);
  CHECK(shown.err.find(layer, at) != std::string::npos);
  CHECK(shown.says("), and the recipe's Generation has no effect."));
  CHECK(
      shown.says("top_k of the recipe has no effect: --temperature 0 takes the likeliest token."));
  CHECK(shown.out.size() == 3 + 20 + 1);
  const std::string asked =
      write(scratch / "asked", "{\"prompt\": \"xy\"}\n{\"prompt\": \"abc\"}\n");
  const std::string answers = fine(words + Words{"--file", asked}, SINTER_SHIFTED).out;
  CHECK(Json::parse(answers.substr(answers.find('\n')))["token_ids"] ==
        fine(words + Words{"--prompt", "abc", "--json"}, SINTER_SHIFTED).json()["token_ids"]);
  CHECK_FALSE(
      fine({"generate", "--weights", fresh(scratch), "--prompt", "a", "--tokens", "1"}).says(note));
}

TEST_CASE("a recipe says how its texts are written, and a flag counts before it") {
  Scratch scratch;
  fine({"export", "--out", scratch / "shifted"}, SINTER_SHIFTED);
  write(scratch / "shifted/generation_config.json", "{\"top_k\": 4, \"top_p\": 0.5}");
  const Words words{"generate", "--weights", scratch / "shifted", "--prompt", "abc", "--json"};
  const Ended written = fine(words, SINTER_SHIFTED);
  CHECK(written.json()["tokens"] == 6);
  CHECK(written.json()["settings"]["top_k"] == Json{{"value", 50}, {"from", "recipe"}});
  CHECK(
      written.says("tokens 6 (recipe), temperature 0.8 (default), top_k 50 (recipe), top_p 0.5 "
                   "(generation_config.json)"));
  const Json by_flag = fine(words + Words{"--top-k", "2"}, SINTER_SHIFTED).json();
  CHECK(by_flag["settings"]["top_k"] == Json{{"value", 2}, {"from", "flag"}});
}

TEST_CASE("a process takes no more memory than is planned, and 40 MiB") {
  Scratch scratch;
  const Ended ended = fine({"generate", "--weights", fresh(scratch), "--prompt", "a", "--tokens",
                            "400", "--no-libtorch", "--threads", "1"});
  // note: memory: 42.8 KiB of weights, 32.0 KiB of caches …, all of them less than one MiB.
  CHECK(ended.says("note: memory: "));
  CHECK_FALSE(ended.says("MiB of"));
  rusage usage{};
  REQUIRE(getrusage(RUSAGE_CHILDREN, &usage) == 0);
  CHECK(usage.ru_maxrss <= 40 * 1024);
}

TEST_CASE("memory is said before weights are read") {
  Scratch scratch;
  const std::string folder = fresh(scratch), file = folder + "/model.safetensors";
  write(file, content(file).substr(0, 100));
  const Ended ended = run({"generate", "--weights", folder, "--prompt", "a"});
  CHECK(ended.code == 1);
  CHECK(ended.says("model.safetensors"));
  CHECK(ended.says("note: memory: "));
}

}  // namespace sinter::detail::testing::generating_ends_tests
