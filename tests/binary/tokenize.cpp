// SPDX-License-Identifier: Apache-2.0
// The verbs tokenize and detokenize.
#include "binary/support.hpp"

namespace sinter::detail::testing::tokenize_tests {

const std::string tokenizer = SINTER_SOURCE_DIR "/tests/data/tokenizer/qwen2.json";

void refuses(const Words& words, int code, const std::string& message) {
  check_refused(run(words), code, message);
}

TEST_CASE("tokenize prints the ids of a file behind its BOS, and detokenize the text again") {
  Scratch scratch;
  for (const Json& row :
       sinter::detail::testing::json_rows(SINTER_SOURCE_DIR "/tests/data/tokenizer/ids.jsonl")) {
    const std::string text = row["text"];
    const std::string file = write(scratch / "text", text);
    const Words tokenize{"tokenize", "--tokenizer", tokenizer, "--text", file, "--json"};
    const Ended ids = fine(tokenize);
    Json expected = row["ids"]["qwen2"];
    CHECK(fine(tokenize + Words{"--special-tokens", "off"}).json() == Json{{"ids", expected}});
    expected.insert(expected.begin(), 400);  // <|endoftext|>, by the template in the file
    CHECK(ids.json() == Json{{"ids", expected}});
    const std::string saved = write(scratch / "ids", ids.out);
    CHECK(fine({"detokenize", "--tokenizer", tokenizer, "--ids", saved}).out == text);
  }
}

TEST_CASE(
    "for people, tokenize prints a token a line; without --tokenizer it is the recipe's own") {
  Scratch scratch;
  const std::string file = write(scratch / "text", "a\n\xff");
  CHECK(fine({"tokenize", "--text", file}).out ==
        "97      'a'\n10      '\\x0a'\n255     '\\xff'\n");
  const std::string ids = write(scratch / "ids", "{\"ids\": [97, 10, 255]}\n");
  CHECK(fine({"detokenize", "--ids", ids}).out == "a\n\xff");
}

TEST_CASE("the special tokens around a text are on or off") {
  Scratch scratch;
  const std::string text = write(scratch / "text", "a");
  refuses({"tokenize", "--text", text, "--special-tokens", "none"}, 2,
          "--special-tokens takes on or off, not 'none'");
  refuses({"train", "--data", text, "--special-tokens", "off"}, 2,
          "--special-tokens is nothing to train");
}

TEST_CASE("tokenize and detokenize say what they lack, and what is wrong with ids") {
  Scratch scratch;
  const std::string text = write(scratch / "text", "a");
  refuses({"tokenize", "--tokenizer", tokenizer}, 2, "tokenize needs --text FILE");
  refuses({"detokenize", "--tokenizer", tokenizer}, 2, "detokenize needs --ids FILE");
  refuses({"tokenize", "--text", scratch / "none"}, 1, "none: No such file");
  refuses({"tokenize", "--text", text, "--tokenizer", text}, 1, "cannot be used: ");
  auto refuses_ids = [&](const std::string& ids, const std::string& message) {
    const std::string file = write(scratch / "ids", ids);
    refuses({"detokenize", "--tokenizer", tokenizer, "--ids", file}, 1, message);
  };
  refuses_ids("[1, 2]", "ids cannot be read as ids: it is no object of one list");
  refuses_ids("{\"ids\": [1, \"a\"]}", "id 2 is \"a\", which is no integer");
  refuses_ids("{\"ids\": [1,, 2]}", "parse error at line 1, column 12");
  refuses_ids("{\"ids\": [1, 70000]}",
              "ids: The tokenizer has no token 70000; its tokens are below");
  refuses_ids("{\"ids\": [-1]}", "has no token -1");
}

}  // namespace sinter::detail::testing::tokenize_tests
