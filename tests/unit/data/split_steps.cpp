// SPDX-License-Identifier: Apache-2.0
// Cuts of texts by patterns. tests/data/tokenizer/pieces.jsonl has the pieces of tokenizers 0.23.3.
#include "data/tokenizer/split_steps.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data/tokenizer/json_splits.hpp"
#include "data/tokenizer/normal_forms.hpp"
#include "support/json_rows.hpp"
#include "unit/data/support.hpp"

namespace sinter::detail::testing::split_steps_tests {

using Json = nlohmann::json;

std::vector<std::string> pieces_of(const std::string& pattern, const std::string& text) {
  const SplitStep step{std::make_shared<const TextPattern>(pattern)};
  std::vector<std::string> pieces;
  for (const std::string_view piece : cut_by({step}, text)) pieces.emplace_back(piece);
  return pieces;
}

std::string problem(const std::string& pattern) {
  return message_of<TokenizerProblem>([&] { TextPattern made(pattern); });
}

TEST_CASE("pre-tokenizers give the pieces of tokenizers") {
  const std::vector<Json> rows = json_rows(references / "pieces.jsonl");
  REQUIRE(rows.size() == 18);
  const std::vector<std::string> texts = rows[0]["texts"];
  for (std::size_t k = 1; k < rows.size(); ++k) {
    CAPTURE(rows[k]["name"]);
    std::vector<SplitStep> steps;
    for (const Json* part : flattened(rows[k]["pre_tokenizer"], "pretokenizers", "it"))
      steps.push_back(*read_split_step(*part, "it"));
    for (std::size_t t = 0; t < texts.size(); ++t) {
      std::vector<std::string> pieces;
      for (const std::string_view piece : cut_by(steps, texts[t]))
        if (!piece.empty()) pieces.emplace_back(piece);
      CHECK(Json(pieces) == rows[k]["pieces"][t]);
    }
  }
}

TEST_CASE("a byte that is no UTF-8 is a character that only what is left out of a set matches") {
  CHECK(pieces_of(R"([^\s]+)", "a\xff b") == std::vector<std::string>{"a\xff", " ", "b"});
  CHECK(pieces_of(R"(\w+)",
                  "a\xff\xfe"
                  "b") == std::vector<std::string>{"a", "\xff\xfe", "b"});
  CHECK(pieces_of(R"(.+b)",
                  "\xe4\xb8\xff"
                  "b\xad") == std::vector<std::string>{"\xe4\xb8\xff"
                                                       "b",
                                                       "\xad"});
}

TEST_CASE("a pattern that is not understood is named, with what is wrong and where") {
  for (const char* pattern :
       {R"(\bx)",  R"((a)\1)", R"((?<=a)b)", "(?<n>a)",     R"(\p{Han})", "[[:alpha:]]", "a{2}?",
        "a**",     "[a-z&&b]", "(?i:ss)",    "(?i:\u00e9)", "(?i:[^a])",  R"(\X)",       "(a",
        "a)",      "[a",       "*a",         "a{2,1}",      "[]a]",       R"([\s-a])",   R"(\xff)",
        R"(\u12)", "(a?)*",    "\\",         "a{,x}",       "\xff"}) {
    CAPTURE(pattern);
    const std::string said = problem(pattern);
    CHECK(said.starts_with("it cuts texts by the pattern '"));
    CHECK(contains(said, "is not understood"));
  }
  CHECK(contains(problem(std::string(100, '(')), "a group so deep"));
  CHECK(contains(problem("(?:ab){999}(?:ab){999}(?:ab){999}"), "more than can be kept"));
}

TEST_CASE("a pattern with too many ways through a text is an error, and does not hang") {
  const TextPattern pattern("(?:a|aa|aaa)+b");
  CHECK_THROWS_WITH_AS((void)pattern.find(std::string(200, 'a'), 0),
                       doctest::Contains("takes too many ways"), ArgumentError);
}

TEST_CASE("a long run takes no square of the time, and no deep stack") {
  const std::string text = std::string(1'000'000, 'a') + std::string(1'000'000, ' ') + "b";
  CHECK(pieces_of(R"(\p{L}+|\s+(?!\S)|\s+)", text).size() == 4);
}

TEST_CASE("a text is cut at lines only where no step looks across them") {
  const auto cuts = [](const char* pattern, SplitBehavior behavior) {
    return SplitStep{std::make_shared<const TextPattern>(pattern), behavior}.cuts_at_lines();
  };
  CHECK(cuts(R"(\d)", SplitBehavior::isolated));
  CHECK_FALSE(cuts(R"(\d)", SplitBehavior::merged_with_previous));
  CHECK_FALSE(cuts(R"(\d+\n)", SplitBehavior::isolated));
  CHECK_FALSE(cuts(R"(\s)", SplitBehavior::isolated));
}

TEST_CASE("NFKC and NFKD are those of tokenizers") {
  const std::string text =
      "\uFB01 \u2460 \u00BD \uFF21 \uFF76\uFF9E \uFFA1\uFFC2 \u1E9B\u0323 \u00A8 \uFDFA";
  CHECK(normal_form(text, true, true) ==
        "fi 1 1\u20442 A \u30AC \uAC00 \u1E69 \u0020\u0308 \u0635\u0644\u0649 "
        "\u0627\u0644\u0644\u0647 \u0639\u0644\u064A\u0647 \u0648\u0633\u0644\u0645");
  CHECK(normal_form("\u1E9B\u0323", false, true) == "s\u0323\u0307");
}

TEST_CASE("a tokenizer.json with Digits, Replace and NFKC has the ids of tokenizers") {
  TemporaryFolder folder;
  Json json = Json::parse(get(references / "qwen2.json"));
  json["normalizer"] = {
      {"type", "Sequence"},
      {"normalizers",
       {{{"type", "NFKC"}},
        {{"type", "Replace"}, {"pattern", {{"Regex", R"(\s{2,})"}}}, {"content", " "}}}}};
  json["pre_tokenizer"] = {{"type", "Sequence"},
                           {"pretokenizers",
                            {{{"type", "Digits"}, {"individual_digits", true}},
                             {{"type", "ByteLevel"},
                              {"add_prefix_space", false},
                              {"trim_offsets", true},
                              {"use_regex", true}}}}};
  put(folder / "t", json.dump());
  const Tokenizer tokenizer = load_tokenizer(folder / "t");
  CHECK(tokenizer.encode("the  \uFB01x \u2460 2024") ==
        TokenIds{259, 68, 293, 72, 87, 220, 16, 220, 17, 15, 17, 19});
}

}  // namespace sinter::detail::testing::split_steps_tests
