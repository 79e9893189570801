// SPDX-License-Identifier: Apache-2.0
// Ids with types of tokens, of lines and of texts; binary/predict has the others.
#include "cli/questions.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <utility>

#include "sinter/error.hpp"
#include "support/folder.hpp"

namespace sinter::cli {
namespace {

using testing::TemporaryFolder;
using Ids = std::vector<std::int32_t>;

constexpr QuestionForm form{.ids_below = 9, .types_below = 2, .context = 3};

/// All questions of a file with these lines, in one batch.
HostBatch read(const std::string& lines, Questions::Encode encode = {}) {
  const TemporaryFolder folder;
  const std::string path = folder / "lines";
  std::ofstream(path) << lines;
  Questions questions(path, form, std::move(encode));
  HostBatch batch;
  for (std::int64_t number = 1; const std::int64_t line = questions.next(batch); ++number)
    CHECK(line == number);
  return batch;
}

std::string refusal(const std::string& line, Questions::Encode encode = {}) {
  try {
    read(line, std::move(encode));
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

}  // namespace
}  // namespace sinter::cli
