// SPDX-License-Identifier: Apache-2.0
#include "launch/labelled_lines.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

namespace sinter::detail::launch {
namespace {

/// What becomes of a text that comes in pieces of some bytes.
std::string labelled(std::string_view text, std::size_t piece) {
  LabelledLines lines("> ");
  std::string made;
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size())))
    lines.add(text.substr(0, piece), made);
  lines.end(made);
  return made;
}

TEST_CASE("each line has its label, however its bytes come") {
  for (std::size_t piece : {1, 2, 3, 100}) {
    CAPTURE(piece);
    CHECK(labelled("one\ntwo\n", piece) == "> one\n> two\n");
    CHECK(labelled("\n\none", piece) == "> \n> \n> one\n");
    CHECK(labelled("", piece) == "");
  }
}

TEST_CASE("of a line that is written anew the last text stays") {
  for (std::size_t piece : {1, 2, 3, 100}) {
    CAPTURE(piece);
    CHECK(labelled("10%\r50%\r100%\nnext\n", piece) == "> 100%\n> next\n");
    CHECK(labelled("long text\rshort", piece) == "> short\n");
    CHECK(labelled("50%\r", piece) == "> 50%\n");
    CHECK(labelled("a\r\nb\r\r\n", piece) == "> a\n> b\n");
    CHECK(labelled("\ra\n", piece) == "> a\n");
  }
}

TEST_CASE("a line comes when it ends, not before") {
  LabelledLines lines("> ");
  std::string made;
  lines.add("one\ntwo", made);
  CHECK(made == "> one\n");
  lines.add(" three\n", made);
  CHECK(made == "> one\n> two three\n");
  lines.end(made);
  CHECK(made == "> one\n> two three\n");
}

TEST_CASE("a line that never ends is cut") {
  const std::string text(LabelledLines::longest, 'x');
  CHECK(labelled(text + "\n", 4096) == "> " + text + "\n");
  CHECK(labelled(text + "yz\n", 4096) == "> " + text + "\n> yz\n");
}

}  // namespace
}  // namespace sinter::detail::launch
