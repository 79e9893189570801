// SPDX-License-Identifier: Apache-2.0
// Which rows of a race are on its front, and its picture.
#include "tune/front.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "report/page.hpp"
#include "report/svg.hpp"
#include "tune/race_page.hpp"

namespace sinter::detail::testing::front_tests {
namespace {
using namespace tune;

/// A race of rows with these MiB and milliseconds of a thousand tokens.
struct Raced {
  Grid grid{"mine", {"a"}, {}};
  std::vector<Run> runs{};
  Race race;
  explicit Raced(const std::vector<std::pair<int, double>>& rows) : race({}, true) {
    std::vector<int> numbers;
    for (const auto& [mib, ms] : rows) {
      const int number = int(grid.rows.size());
      const std::string policy = "A<" + std::to_string(number) + ">";
      grid.rows.push_back({{policy}, {policy}, ""});
      grid.rows.back().arena = std::int64_t(mib) << 20;
      runs.push_back({.row = number, .wall_ms = {ms}, .cpu_ms = {ms}, .step_ms = ms});
      numbers.push_back(number);
    }
    race = Race(numbers, true);
    for (const Run& run : runs) race.add(run);
  }
  Standing standing() const { return {grid, runs, race}; }
};

int count_of(std::string_view part, std::string_view text) {
  int count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; ++at) ++count;
  return count;
}

TEST_CASE("a row is on the front if each faster one plans more") {
  CHECK(front_of(Raced({{4, 10}, {2, 20}, {3, 30}, {8, 5}, {9, 6}}).standing()) ==
        std::vector{1, 0, 3});
}

TEST_CASE("of rows with equal bytes the fastest is on it, and of equals one") {
  CHECK(front_of(Raced({{2, 20}, {2, 10}, {2, 10}}).standing()) == std::vector{1});
  CHECK(front_of(Raced({{3, 10}, {2, 10}}).standing()) == std::vector{1});
}

TEST_CASE("a race in which nothing ran has no front") {
  const Grid grid{"mine", {"a"}, {}};
  const std::vector<Run> runs;
  CHECK(front_of({grid, runs, Race({0, 1}, true)}).empty());
}

TEST_CASE("the picture names each row, those of the front first, and has a mark for each") {
  const std::string svg =
      report::svg_file_of(front_chart(Raced({{4, 10}, {3, 30}, {2, 20}}).standing()));
  std::vector<std::size_t> names;
  for (const char* name : {"A&lt;2&gt;", "A&lt;0&gt;", "A&lt;1&gt;"}) {
    names.push_back(svg.find(name));
    CHECK(names.back() != svg.npos);
  }
  CHECK(std::ranges::is_sorted(names));
  CHECK(count_of("<circle", svg) == 3);
}

TEST_CASE(
    "the page has the picture, a row for each that ran, the failures and the fastest recipe") {
  Raced raced({{4, 10}, {3, 30}, {2, 20}});
  raced.grid.rows.push_back({{"A<3>"}, {"A<3>"}, ""});
  raced.runs.push_back({.row = 3, .failure = "no <room>"});
  const std::string page = race_page(raced.standing());
  CHECK(page.starts_with(report::page_begin));
  CHECK(page.ends_with("</html>\n"));
  CHECK(count_of("<circle", page) == 3);
  CHECK(count_of("<li>", page) == 3);  // the line has no name
  CHECK(count_of("<tr", page) == 4);   // and the head
  CHECK(count_of(">yes<", page) == 2);
  CHECK(page.find("no &lt;room&gt;") != page.npos);
  CHECK(page.find("struct mine_tuned : sinter::With&lt;mine, A&lt;0&gt;&gt;") != page.npos);
}

}  // namespace
}  // namespace sinter::detail::testing::front_tests
