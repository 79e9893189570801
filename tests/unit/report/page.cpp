// SPDX-License-Identifier: Apache-2.0
#include "report/page.hpp"

#include "report/figures.hpp"
#include "report/headline.hpp"
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
  known.arena = {{{0, 1}, {1, 2}},
                 {{"load", ""}, {"forward a.h.3", "h.3"}},
                 {{"h.3", 1234, 3 << 20}},
                 "1, forward a.h.3"};
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
  CHECK(contains(text,
                 "<th scope=\"row\">optimizer.lr</th><td data-name=\"a\">0.500000</td>"
                 "<td data-name=\"b\">0.250000</td><td data-name=\"recipe\">0.500000</td>"));
  CHECK_FALSE(contains(text, "batch.micro"));
  CHECK(contains(page({run_of("a", 3, 0.5)}, known_of({true})), "None, as far as"));
  CHECK(contains(page({run_of("a", 3, 0.25)}, known_of({true})), ">optimizer.lr</th>"));
  // Of another recipe, the defaults are not known.
  CHECK(contains(page({run_of("a", 3, 0.25)}, known_of({false})), "None, as far as"));
}

TEST_CASE("memory and program are shown of runs of the binary's own recipe alone") {
  const std::string own = page({run_of("a", 3, 1)}, known_of({true}));
  CHECK(contains(own,
                 "parameters</th><td class=\"number\" data-name=\"MiB\">0.00</td>"
                 "<td class=\"number\" data-name=\"bytes\">30</td>"));
  CHECK(contains(own, "fullest at its instruction 1, forward a.h.3."));
  CHECK(contains(own,
                 "h.3</th><td class=\"number\" data-name=\"parameters\">1,234</td>"
                 "<td class=\"number\" data-name=\"MiB while the step is fullest\">3.00"));
  CHECK(contains(own, "the &lt;program&gt;"));
  CHECK(contains(own, "Memory during a step"));
  const std::string other = page({run_of("a", 3, 1)}, known_of({false}));
  CHECK_FALSE(contains(other, "the &lt;program&gt;"));
  CHECK_FALSE(contains(other, "Memory during a step"));
  CHECK(contains(other, "no run here is of the recipe mine"));
}

TEST_CASE("each metric of the runs has a chart, with the runs that have it") {
  RunLog with = run_of("a", 5, 1);
  for (Row& row : with.rows) row.metrics = {{"accuracy", .5}, {"f1_macro", NAN}};
  const std::string text = page({with, run_of("b", 5, 1)}, known_of({true, true}));
  CHECK(contains(text, "Validation: accuracy"));
  CHECK_FALSE(contains(text, "f1_macro"));
  CHECK_FALSE(contains(page({run_of("b", 5, 1)}, known_of({true})), "Validation: "));
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

TEST_CASE("training and validation of a run differ in colour, in the legend and in their marks") {
  std::vector runs{run_of("x/a", 9, 1), run_of("x/b", 9, 1)};
  for (RunLog& run : runs) run.rows[4].validation_loss = 3;
  auto curves = [&](const std::vector<RunLog>& of) {
    return json_of(charts_of(of, labels_of(of)).front())["curves"];
  };
  const auto one = curves({runs[0]}), two = curves(runs);
  CHECK(one[0]["name"] == "training");
  CHECK(one[1]["name"] == "validation");
  REQUIRE(two.size() == 4);
  CHECK(two[2]["name"] == "b: training");
  CHECK(two[3]["name"] == "b: validation");
  for (std::size_t k = 0; k < 4; ++k) {
    CHECK(two[k]["marks"] == (k % 2 == 1));
    for (std::size_t other = 0; other < k; ++other) CHECK(two[k]["colour"] != two[other]["colour"]);
  }
  CHECK(one[0]["colour"] != one[1]["colour"]);
  const std::string text = page(runs, known_of({true, true}));
  CHECK(contains(text, "<li><span class=\"marks\" style=\"background:#00304d\"></span>a: valid"));
}

TEST_CASE("a page begins with the best run, and its table marks it") {
  std::vector runs{run_of("x/a", 4, 1), run_of("x/b", 4, 1)};
  runs[0].rows[3].validation_loss = 3;
  runs[1].rows[2].validation_loss = 2;
  const std::string text = page(runs, known_of({true, true}));
  CHECK(contains(text, "<p class=\"headline\">Best run: b. Its lowest validation loss is 2.0000"));
  CHECK(contains(text, "<tr class=\"best\"><th scope=\"row\">b</th>"));
  CHECK(!contains(text, "best by its metric"));
  for (RunLog& run : runs) run.best_by = "accuracy", run.greater_is_better = true;
  runs[0].rows[3].metrics["accuracy"] = 0.75;
  runs[1].rows[2].metrics["accuracy"] = 0.5;
  const std::string by_metric = page(runs, known_of({true, true}));
  CHECK(contains(by_metric, "Best run: a. Its highest accuracy is 0.7500, at step 4 of 4."));
  CHECK(contains(by_metric, "<tr class=\"best\"><th scope=\"row\">a</th>"));
  CHECK(contains(by_metric, "data-name=\"best by its metric\">accuracy 0.75 (step 4)</td>"));
}

TEST_CASE("a time stays in one line") {
  RunLog run = run_of("a", 3, 1);
  run.starts = {{0, "2026-11-29T10:55:17Z", "0.2.0", "p train"}};
  const std::string text = page({run}, known_of({true}));
  CHECK(contains(text, "<td class=\"time\" data-name=\"begun\">2026-11-29 10:55:17</td>"));
  CHECK(contains(text, "<td class=\"time\" data-name=\"when\">2026-11-29 10:55:17</td>"));
  CHECK(contains(text, ".number, .time { white-space: nowrap; }"));
}

TEST_CASE("the reader chooses the smoothing, and sees what lies beyond an axis") {
  RunLog run = run_of("a", 100, 1);
  run.rows[50].tokens_per_s = 1e9;
  const std::string scripted = page({run}, known_of({true}), "script()");
  CHECK(contains(scripted,
                 "id=\"smoothing\" min=\"0\" max=\"0.999\" step=\"0.001\" "
                 "value=\"0.500\">"));
  CHECK(contains(scripted, "id=\"all1\"> all values"));
  CHECK(contains(scripted, "1 value lies beyond the axis, the farthest 1e+09 at step 51."));
  const std::string drawn = page({run}, known_of({true}));
  CHECK(contains(drawn, "Smoothed with weight 0.500"));
  CHECK_FALSE(contains(page({run_of("a", 9, 1)}, known_of({true})), "Smoothed with"));
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
