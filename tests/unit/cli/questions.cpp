// SPDX-License-Identifier: Apache-2.0
// Ids with types of tokens and with ids of a decoder, of lines and of texts; binary/predict has the
// others.
#include "cli/questions.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <utility>

#include "sinter/error.hpp"
#include "support/folder.hpp"

namespace sinter::detail::cli {
namespace {

using testing::TemporaryFolder;
using Ids = std::vector<std::int32_t>;

constexpr QuestionForm form{.ids_below = 9, .types_below = 2, .context = 3};
constexpr QuestionForm pair{
    .ids_below = 9, .context = 3, .decoder_ids_below = 7, .decoder_context = 2};

/// All questions of a file with these lines, in one batch.
HostBatch read(const std::string& lines, Questions::Encode encode = {},
               QuestionForm form = cli::form) {
  const TemporaryFolder folder;
  const std::string path = folder / "lines";
  std::ofstream(path) << lines;
  Questions questions(path, form, std::move(encode));
  HostBatch batch;
  for (std::int64_t number = 1; const std::int64_t line = questions.next(batch); ++number)
    CHECK(line == number);
  return batch;
}

std::string refusal(const std::string& line, Questions::Encode encode = {},
                    QuestionForm form = cli::form) {
  try {
    read(line, std::move(encode), form);
    return "";
  } catch (const FileError& error) {
    return error.what();
  }
}

TEST_CASE("each id has its type, which is 0 where a line gives none") {
  const HostBatch batch = read(R"({"ids": [8, 0], "token_types": [0, 1]})"
                               "\n"
                               R"({"ids": [1, 2, 3]})"
                               "\n"
                               R"({"token_types": [1], "ids": [4]})"
                               "\n");
  REQUIRE(batch.ids.size() == 2);
  CHECK(batch.ids[0] == Ids{8, 0, 1, 2, 3, 4});
  CHECK(batch.ids[1] == Ids{0, 1, 0, 0, 0, 1});
  CHECK(batch.starts == Ids{0, 2, 5, 6});
}

TEST_CASE("types that do not fit the ids or the model are refused by name") {
  CHECK(refusal(R"({"ids": [1, 2], "token_types": [0]})").find("it has 2 ids and 1 token types") !=
        std::string::npos);
  CHECK(refusal(R"({"ids": [1], "token_types": [2]})")
            .find("token type 1 is 2, and the model's token types are whole numbers from 0 to 1") !=
        std::string::npos);
  CHECK(refusal(R"({"ids": [1], "token_types": 1})").find("'token_types' is 1, and no list") !=
        std::string::npos);
  CHECK(refusal(R"({"ids": [1], "types": [1]})").find("the key 'types'") != std::string::npos);
  CHECK(refusal(R"({"ids": [1], "types": [1]})")
            .find(R"(Each line must be {"ids": [464, 257], "token_types": [0, 1]})") !=
        std::string::npos);
}

TEST_CASE("a text has the types that its prompt gives, which must fit, too") {
  auto typed = [](Ids types) {
    return [types](const std::string&) { return Prompt{.tokens = {5, 6, 7}, .types = types}; };
  };
  CHECK(read("a\n", typed({0, 1, 1})).ids == std::vector<Ids>{{5, 6, 7}, {0, 1, 1}});
  CHECK(read("a\n", typed({})).ids == std::vector<Ids>{{5, 6, 7}, {0, 0, 0}});
  CHECK(refusal("a", typed({0, 0, 2})).find("line 1: token type 3 is 2") != std::string::npos);
  CHECK(refusal("a", typed({0})).find("it has 3 ids and 1 token types") != std::string::npos);
}

TEST_CASE("texts are counted of which the prompt lacks some") {
  const TemporaryFolder folder;
  const std::string path = folder / "lines";
  std::ofstream(path) << "a\nlong\nb\nlonger\n";
  Questions questions(path, form, [](const std::string& text) {
    return Prompt{.tokens = {5}, .cut = text.size() > 1};
  });
  HostBatch batch;
  for (const std::int64_t cut : {0, 1, 1, 2}) {
    CHECK(questions.next(batch) > 0);
    CHECK(questions.cut() == cut);
  }
}

TEST_CASE("an encoder's ids are on axis 1, and its decoder's on axis 0") {
  const HostBatch batch = read(R"({"ids": [8, 0, 3], "decoder_ids": [6]})"
                               "\n"
                               R"({"decoder_ids": [5, 4], "ids": [1]})"
                               "\n",
                               {}, pair);
  CHECK(batch.ids == std::vector<Ids>{{8, 0, 3, 1}, {6, 5, 4}});
  CHECK(batch.starts == Ids{0, 1, 3});
  CHECK(batch.second_starts == Ids{0, 3, 4});
}

TEST_CASE("ids that are not for an encoder and its decoder are refused by name") {
  struct Case {
    const char *line, *said;
  };
  for (const Case& c : {
           Case{R"({"ids": [1]})", "it has no key 'decoder_ids'"},
           {R"({"decoder_ids": [1]})", "it has no key 'ids'"},
           {R"({"ids": [1], "decoder_ids": 2})", "'decoder_ids' is 2, and no list"},
           {R"({"ids": [1], "decoder_ids": [2], "token_types": [0]})", "the key 'token_types'"},
           {R"({"ids": [9], "decoder_ids": [2]})",
            "id 1 is 9, and the model's ids are whole numbers from 0 to 8"},
           {R"({"ids": [1], "decoder_ids": [2, 7]})",
            "decoder id 2 is 7, and the model's decoder ids are whole numbers from 0 to 6"},
           {R"({"ids": [], "decoder_ids": [2]})", "it has no id; the model needs at least one"},
           {R"({"ids": [1], "decoder_ids": []})", "it has no decoder id; the model needs"},
           {R"({"ids": [1, 2, 3, 4], "decoder_ids": [2]})",
            "it has 4 ids, and the recipe's second_context is 3"},
           {R"({"ids": [1], "decoder_ids": [1, 2, 3]})",
            "it has 3 decoder ids, and the recipe's context is 2"},
       }) {
    const std::string said = refusal(c.line, {}, pair);
    CAPTURE(said);
    CHECK(said.find(c.said) != std::string::npos);
    CHECK(said.find(R"(Each line must be {"ids": [464, 257], "decoder_ids": [2, 464]})") !=
          std::string::npos);
  }
  CHECK(refusal(R"({"ids": [1], "decoder_ids": [1]})").find("the key 'decoder_ids'") !=
        std::string::npos);
}

TEST_CASE("a text has what its decoder begins with, where the model has one") {
  auto begun = [](Ids decoder) {
    return
        [decoder](const std::string&) { return Prompt{.tokens = {5, 6, 7}, .decoder = decoder}; };
  };
  const HostBatch batch = read("a\nb\n", begun({2, 3}), pair);
  CHECK(batch.ids == std::vector<Ids>{{5, 6, 7, 5, 6, 7}, {2, 3, 2, 3}});
  CHECK(refusal("a", begun({}), pair).find("does not say what the decoder begins with") !=
        std::string::npos);
  CHECK(refusal("a", begun({7}), pair).find("line 1: decoder id 1 is 7") != std::string::npos);
  CHECK(refusal("a", begun({1, 2, 3}), pair).find("it has 3 decoder tokens") != std::string::npos);
  CHECK(refusal("a", begun({1})).find("tokens for a decoder, and the model has no encoder") !=
        std::string::npos);
}

}  // namespace
}  // namespace sinter::detail::cli
