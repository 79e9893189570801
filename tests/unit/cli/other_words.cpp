// SPDX-License-Identifier: Apache-2.0
// The table of other trainers' words.
#include "cli/other_words.hpp"

#include <doctest/doctest.h>

#include <set>

#include "cli/flags.hpp"

namespace sinter::detail::cli {
namespace {

TEST_CASE("each word of another trainer has one meaning") {
  std::set<std::string_view> seen;
  for (const OtherWord& row : other_words())
    for (std::string_view word : split_words(row.words)) {
      CAPTURE(word);
      CHECK(seen.insert(word).second);
      CHECK(word.find('-') == word.npos);
      CHECK(find_other_word(spellings(word).front()) == &row);
      CHECK(find_other_word("--trainer." + std::string(word)) == &row);
    }
}

TEST_CASE("no row of other trainers' words is without an answer") {
  for (const OtherWord& row : other_words()) {
    CAPTURE(row.words);
    CHECK((!row.means.empty() || !row.says.empty()));
    CHECK(!row.says.ends_with('.'));  // what prints it adds that
  }
}

TEST_CASE("a word that nobody uses is none of another trainer's") {
  for (const char* word : {"--xyzzy", "--", "-", "", "--optimizer.", "--steps"}) {
    CAPTURE(word);
    CHECK(find_other_word(word) == nullptr);
  }
}

}  // namespace
}  // namespace sinter::detail::cli
