// SPDX-License-Identifier: Apache-2.0
// Which tokens divide examples, which tokenizers fit a vocabulary, and prompts like examples.
#include "sinter/data/example_marks.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "data/tokenizer/bounded.hpp"
#include "sinter/data/columns.hpp"
#include "sinter/data/dialogue.hpp"
#include "sinter/data/examples.hpp"
#include "unit/data/support.hpp"

namespace sinter::detail::testing::example_marks_tests {

/// The tokenizer of bytes, with other special tokens.
Tokenizer with_special(std::vector<SpecialToken> special) {
  Tokenizer tokenizer = byte_tokenizer();
  tokenizer.identity = "another";
  tokenizer.vocabulary = 300;
  tokenizer.special = std::move(special);
  return tokenizer;
}

/// What an example shows to the model, up to the token that begins its label.
TokenIds shown_before_label(const ExampleSet& set, std::int64_t number) {
  TokenIds shown = batch_of(set, number).ids[0];
  shown.resize(std::size_t(set.length(number).context) + 1);
  return shown;
}

TEST_CASE("marks are the end of a text, or two tokens beyond where there are no special tokens") {
  auto marks = [](std::vector<SpecialToken> special) {
    const ExampleMarks found = marks_of(with_special(std::move(special)));
    return TokenIds{found.start, found.end, found.pad};
  };
  CHECK(marks({}) == TokenIds{300, 301, 0});
  CHECK(marks({{"<|endoftext|>", 7}}) == TokenIds{7, 7, 7});
  CHECK(marks({{"<s>", 1}, {"</s>", 2}, {"<pad>", 3}}) == TokenIds{2, 2, 3});
  CHECK(marks({{"[PAD]", 0}, {"[CLS]", 4}, {"[SEP]", 5}}) == TokenIds{5, 5, 0});
  CHECK(marks({{"</s>", 2}, {"<|end_of_text|>", 9}}) == TokenIds{9, 9, 9});
  CHECK(marks({{"<eos>", 6}, {"<|pad|>", 8}}) == TokenIds{6, 6, 8});
  CHECK(contains(refusal([&] { marks({{"<s>", 1}, {"<unk>", 0}}); }),
                 "none that is known to end a text"));
  Tokenizer silent = with_special({{"</s>", 2}});
  silent.vocabulary = 0;
  CHECK(contains(refusal([&] { marks_of(silent); }), "says how many tokens it has"));
}

TEST_CASE("the marks of tokenizers from files are theirs") {
  CHECK(marks_of(reference_tokenizer("qwen2")).end == 400);
  CHECK(marks_of(reference_tokenizer("llama2")).start == 2);
  const Tokenizer prefixed = reference_tokenizer("prefixed");
  CHECK(marks_of(prefixed).vocabulary(prefixed) == prefixed.vocabulary + 2);
}

TEST_CASE("a tokenizer that does not fit the vocabulary is refused") {
  CHECK(example_tokenizer("", 258).identity == "bytes");
  CHECK(example_tokenizer(references / "qwen2.json", 403).vocabulary == 403);
  CHECK(example_tokenizer(references / "qwen2.json", 500).vocabulary == 403);
  const std::string small = refusal([] { example_tokenizer(references / "qwen2.json", 400); });
  CHECK(contains(small, "marks examples with its token '<|endoftext|>' (id 400)"));
  CHECK(contains(small, "the recipe's vocabulary is 400"));
  CHECK(contains(small, "a vocabulary of 403"));
  CHECK(contains(refusal([] { example_tokenizer(references / "prefixed.json", 301); }),
                 "has 302 tokens, with those that divide examples"));
  for (int other : {257, 50257})
    CHECK(contains(refusal([&] { example_tokenizer("", other); }), "Give --tokenizer PATH"));
}

TEST_CASE("a tokenizer may have more tokens than the model, where they never occur") {
  const Tokenizer whole = reference_tokenizer("qwen2"),
                  bounded = example_tokenizer(references / "qwen2.json", 401);
  for (const char* text : {"plain text", "its end<|endoftext|>", ""})
    CHECK(bounded.encode(text) == whole.encode(text));
  const std::string refused = refusal([&] { bounded.encode("a<|endoftext|><|end|><|end|>>"); });
  CAPTURE(refused);
  CHECK(contains(refused, "Token 3 of the text is '<|end|>' (id 401), which the model does not"));
  CHECK(contains(refused, "the recipe's vocabulary is 401, and the tokenizer has 403 tokens"));
  CHECK(contains(refusal([&] { bounded.encode("<|end|>>"); }), "Token 1 of the text is '<|end|>"));
  CHECK(bounded_tokenizer(whole, 403).encode("<|end|>") == TokenIds{401});

  const DataFolder folder;
  const std::string path = folder.write("a.tsv", "q\ta\nx\ty\nx\ty<|end|>\n");
  constexpr ColumnsOptions narrow{.text = 8, .label = 8, .vocabulary = 401},
      wide{.text = 8, .label = 8, .vocabulary = 403};
  const DataRequest request{.paths = {path}, .tokenizer = (references / "qwen2.json").string()};
  CHECK(Columns<"q", "a", wide>::open(wide, request).evaluation_size > 0);
  check_refused<ArgumentError>([&] { Columns<"q", "a", narrow>::open(narrow, request); },
                               "line 3 of '" + path + "': Token 2 of the text is '<|end|>'");
}

TEST_CASE("a prompt is what training shows before a reply, of any length of the history") {
  const std::vector<std::string> turns{"Where to?", "", "San Jose, \xc3\xa9", "  When?"};
  for (const Tokenizer& tokenizer :
       {byte_tokenizer(), reference_tokenizer("qwen2"), reference_tokenizer("llama2"),
        reference_tokenizer("prefixed")})
    for (int history : {0, 1, 2, 3})
      for (int text : {5, 100}) {
        const ExampleLimits limits{.context = text, .label = 9, .history = history};
        ExampleSet set(tokenizer, limits);
        set.add_dialogue(turns);
        REQUIRE(set.size() == 3);
        std::string lines;
        for (int k = 0; k < 3; ++k) {
          lines += (k > 0 ? "\n" : "") + turns[std::size_t(k)];
          const Prompt prompt = reply_prompt(tokenizer, limits, turns_of_lines(lines));
          CHECK(prompt.tokens == shown_before_label(set, k));
          CHECK(prompt.end == marks_of(tokenizer).end);
          CHECK(prompt.reply == 9);
        }
      }
}

TEST_CASE("the policies' prompts: turns a line, a context as it is, a text alone that goes on") {
  const Tokenizer bytes = byte_tokenizer();
  const DialogueOptions one{.history = 1};
  CHECK(Dialogue<>::prompt(one, bytes, "ab\nc").tokens == TokenIds{'c', 256});
  CHECK(Dialogue<>::prompt({}, bytes, "ab\nc").tokens == TokenIds{'a', 'b', '\n', 'c', 256});
  CHECK(Dialogue<>::prompt({}, bytes, "").tokens == TokenIds{256});
  CHECK(JsonLines<"q", "a">::prompt({}, bytes, "x\ny").tokens == TokenIds{'x', '\n', 'y', 256});
  CHECK(Columns<"q", "a">::prompt({.text = 2}, bytes, "xyz").tokens == TokenIds{'y', 'z', 256});
  const Prompt alone = JsonLines<"", "a">::prompt({.text = 1, .label = 1}, bytes, "xyz");
  CHECK(alone.tokens == TokenIds{256, 'x', 'y', 'z'});
  CHECK(alone.end == 257);
  CHECK(alone.reply == 0);
  CHECK(contains(refusal([&] { Dialogue<>::prompt({.vocabulary = 400}, bytes, ""); }),
                 "Give --tokenizer PATH"));
  CHECK(contains(refusal([&] { Columns<"q", "a">::prompt({.vocabulary = 400}, bytes, ""); }),
                 "Give --tokenizer PATH"));
}

}  // namespace sinter::detail::testing::example_marks_tests
