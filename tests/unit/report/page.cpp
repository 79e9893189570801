// SPDX-License-Identifier: Apache-2.0
#include "report/page.hpp"
#include "support/message_of.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

namespace sinter::detail::testing::page_tests {
using namespace sinter::detail::report;

RunLog run_of(const std::string& name, int rows, double lr) {
  RunLog run;
  run.name = name;
  run.recipe = "mine";
  for (int step = 1; step <= rows; ++step) {
    Row row;
    row.step = step;
    row.loss = 4. / step;
    row.tokens_per_s = 1000;
    run.rows.push_back(row);
  }
  run.saved = Saved{
      rows, "0", {"model: Mlp"}, {{"optimizer.lr", std::to_string(lr)}, {"batch.micro", "8"}}};
  return run;
}

Known known_of(std::vector<bool> is_of) {
  Known known;
  known.recipe = "mine";
  known.plan = "the plan";
  known.program = "the <program>";
  known.memory = {{"parameters", 30}, {"total", 40}};
  known.in_use = {{0, 1}, {1, 2}};
  known.is_of = std::move(is_of);
  known.defaults = {{"optimizer.lr", std::to_string(0.5)}, {"batch.micro", "8"}};
  return known;
}

std::string page(const std::vector<RunLog>& runs, const Known& known, const char* script = "") {
  return page_of(runs, known, script);
}

TEST_CASE("a page shows the options that differ, and no others") {
  const std::vector runs{run_of("a", 3, 0.5), run_of("b", 3, 0.25)};
  const std::string text = page(runs, known_of({true, true}));
  CHECK(contains(text, "<td>optimizer.lr</td><td>0.500000</td><td>0.250000</td><td>0.500000</td>"));
  CHECK_FALSE(contains(text, "batch.micro"));
  CHECK(contains(page({run_of("a", 3, 0.5)}, known_of({true})), "None, as far as"));
  CHECK(contains(page({run_of("a", 3, 0.25)}, known_of({true})), "<td>optimizer.lr</td>"));
  // Of another recipe, the defaults are not known.
  CHECK(contains(page({run_of("a", 3, 0.25)}, known_of({false})), "None, as far as"));
}

TEST_CASE("memory and program are shown of runs of the binary's own recipe alone") {
  const std::string own = page({run_of("a", 3, 1)}, known_of({true}));
  CHECK(contains(own, "<td>parameters</td><td class=\"number\">30</td>"));
  CHECK(contains(own, "the &lt;program&gt;"));
  CHECK(contains(own, "Memory during a step"));
  const std::string other = page({run_of("a", 3, 1)}, known_of({false}));
  CHECK_FALSE(contains(other, "the &lt;program&gt;"));
  CHECK_FALSE(contains(other, "Memory during a step"));
  CHECK(contains(other, "no run here is of the recipe mine"));
}

TEST_CASE("curves are drawn by the script, and as SVG without one") {
  const std::vector runs{run_of("a", 5, 1)};
  const std::string drawn = page(runs, known_of({true}));
  CHECK(contains(drawn, "<polyline"));
  CHECK(contains(drawn, "<body data-ready=\"true\">"));
  CHECK_FALSE(contains(drawn, "<script"));
  const std::string scripted = page(runs, known_of({true}), "the_script();");
  CHECK_FALSE(contains(scripted, "<polyline"));
  CHECK(contains(scripted, "<body data-ready=\"false\">"));
  CHECK(contains(scripted, "<script>\nthe_script();\n</script>"));
}

TEST_CASE("names, texts and options of a run cannot become part of the page's code") {
  const std::string bad = "</script><img src=x onerror=alert(1)>'\"&<!--";
  RunLog run = run_of(bad, 3, 1);
  run.recipe = run.saved->seed = bad;
  run.saved->policies = {bad + ": " + bad};
  run.saved->options = {{bad, bad}};
  run.happenings = {{1, bad, bad}};
  run.starts = {{0, bad, bad, bad}};
  run.notes = {bad};
  Known known = known_of({true, false});
  known.recipe = known.plan = known.program = bad;
  for (const char* script : {"", "script()"}) {
    const std::string text = page({run, run_of("b", 2, 1)}, known, script);
    CHECK_FALSE(contains(text, "<img"));
    CHECK_FALSE(contains(text, "</script><img"));
    // Only the comment at the beginning opens one.
    CHECK(text.find("<!--", page_begin.size()) == text.npos);
    CHECK(contains(text, "default-src 'none'"));
    for (const char* other : {"src=\"", "href=", "url(", "@import"})
      CHECK_FALSE(contains(text, other));
  }
  const std::string text = page({run}, known, "script()");
  const std::size_t begin = text.find("id=\"data\">") + 10;
  const auto data = nlohmann::json::parse(text.substr(begin, text.find('<', begin) - begin));
  CHECK(data[0]["curves"][0]["points"].size() == 3);
  CHECK(data[0]["curves"][0]["points"][1] == nlohmann::json{{"x", 2}, {"y", 2}});
}

TEST_CASE("a page does not grow with the steps of its runs") {
  const std::string text = page({run_of("a", 200'000, 1)}, known_of({true}), "script()");
  CHECK(text.size() < 150'000);
}

TEST_CASE("a run that has no step yet has a page, too") {
  RunLog run;
  run.name = "new";
  for (const char* script : {"", "script()"}) {
    const std::string text = page({run}, known_of({false}), script);
    CHECK(text.starts_with(page_begin));
    CHECK(text.ends_with("</html>\n"));
  }
}

}  // namespace sinter::detail::testing::page_tests
