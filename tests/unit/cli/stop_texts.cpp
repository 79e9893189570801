// SPDX-License-Identifier: Apache-2.0
// Texts that end a generated text.
#include "cli/stop_texts.hpp"

#include <doctest/doctest.h>

using sinter::detail::cli::StopTexts;
using Words = std::vector<std::string>;

namespace {

/// What is shown of pieces, and the stop that was found.
struct Shown {
  std::string text, stop;
  bool operator==(const Shown&) const = default;
};
Shown shown(const Words& stops, const Words& pieces) {
  StopTexts texts(stops);
  std::string all;
  for (const std::string& piece : pieces) all += texts.add(piece);
  return {all + texts.rest(), texts.found()};
}

}  // namespace

TEST_CASE("without stops, or where none occurs, all is shown") {
  CHECK(shown({}, {"a", "b"}) == Shown{"ab", ""});
  CHECK(shown({"xy", "zz"}, {"a", "x", "zy", "z"}) == Shown{"axzyz", ""});
}

TEST_CASE("a text ends where a stop begins, however it is cut into pieces") {
  for (const Words& pieces :
       {Words{"one\n\ntwo"}, Words{"one", "\n", "\n", "two"}, Words{"one\n", "\ntwo"}})
    CHECK(shown({"\n\n"}, pieces) == Shown{"one", "\n\n"});
  CHECK(shown({"stop"}, {"the st", "opera"}) == Shown{"the ", "stop"});
}

TEST_CASE("the first of several stops ends the text") {
  CHECK(shown({"b", "a"}, {"xxab"}) == Shown{"xx", "a"});
  CHECK(shown({"aab", "ab"}, {"a", "a", "a", "b"}) == Shown{"a", "aab"});
}

TEST_CASE("what may begin a stop is held back until it cannot") {
  StopTexts texts({"END"});
  CHECK(texts.add("the E") == "the ");
  CHECK(texts.add("N") == "");
  CHECK(texts.add("S") == "ENS");
  CHECK(texts.add("EEND, and more") == "E");
  CHECK(texts.found() == "END");
  CHECK(texts.add("never") == "");
  CHECK(texts.rest().empty());
}
