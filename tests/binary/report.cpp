// SPDX-License-Identifier: Apache-2.0
// The verb report, and its page in a real browser where one is installed (Debian's
// chromium-headless-shell or chromium).
#include <algorithm>

#include "binary/support.hpp"

namespace sinter::detail::testing::report_tests {

bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

Words short_run(const Scratch& scratch, const std::string& out) {
  const std::string text = scratch / "text";
  if (!fs::exists(text)) write(text, some_text(3000));
  return {"train", "--data", text, "--out", scratch / out, "--steps", "12", "--eval-every", "4"};
}

std::string browser() {
  for (const char* name : {"chromium-headless-shell", "chromium"})
    for (const char* folder : {"/usr/bin/", "/usr/local/bin/"})
      if (fs::exists(std::string(folder) + name)) return std::string(folder) + name;
  return "";
}

/// The page's elements when its scripts have run.
std::string seen_by_browser(const std::string& program, const Scratch& scratch,
                            const std::string& page, const std::string& size = "1400,2000") {
  const Ended ended = run({"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                           "--user-data-dir=" + scratch / "browser", "--window-size=" + size,
                           "--screenshot=" + scratch / "page.png", "--dump-dom", "file://" + page},
                          program);
  REQUIRE_MESSAGE(ended.code == 0, ended.err);
  return ended.out;
}

TEST_CASE("report writes a page into the first run's folder, and again") {
  Scratch scratch;
  fine(short_run(scratch, "a"));
  fine(short_run(scratch, "b") + Words{"--optimizer.lr", "0.5"});
  const std::string a = scratch / "a", b = scratch / "b";
  const Ended ended = fine({"report", a, b});
  CHECK(ended.out == "Wrote " + a + "/report.html\n");
  CHECK_FALSE(fs::exists(b + "/report.html"));
  const std::string page = content(a + "/report.html");
  CHECK(has(page,
            "optimizer.lr</th><td data-name=\"a\">0.01</td><td data-name=\"b\">0.5</td>"
            "<td data-name=\"recipe\">0.01</td>"));
  CHECK(has(page, "program of the training step"));
  CHECK(has(page, "A step is fullest at its instruction "));
  // A block of 16 wide has 12 matrices of 16 by 16, and 13 biases and norms.
  CHECK(has(page, "h.1</th><td class=\"number\" data-name=\"parameters\">3,280</td>"));
  CHECK(has(page, "Options that differ"));
  CHECK(has(page, "--optimizer.lr 0.5"));
  fine({"report", a});
  CHECK_FALSE(has(content(a + "/report.html"), "--optimizer.lr 0.5"));
  // The run can still be resumed, and its report be made by any binary.
  fine({"train", "--resume", "--out", a, "--steps", "14"});
  const Ended other = run({"report", a, "--json"}, SINTER_ROWS);
  const Json json = other.json();
  CHECK(json["report"] == a + "/report.html");
  CHECK(json["runs"][0]["steps"] == 14);
  CHECK(json["runs"][0]["recipe"] == "small");
  CHECK(json["runs"][0]["loss"] == metrics(a).back()["loss"]);
  CHECK(json["best"] == Json{{"folder", a}, {"by", "val_loss"}});
  CHECK(json["runs"][0]["best_step"].is_number());
  CHECK(has(content(a + "/report.html"), "no run here is of the recipe rows"));
}

TEST_CASE("report replaces nothing that is no report") {
  Scratch scratch;
  fine(short_run(scratch, "a"));
  const std::string a = scratch / "a", log = a + "/metrics.jsonl", before = content(log);
  for (const std::string& out : {log, scratch / "text", a}) {
    const Ended ended = run({"report", a, "--out", out});
    CHECK(ended.code == 1);
    CHECK(ended.says("error: " + out + " is there already and is no report of Sinter's."));
  }
  CHECK(content(log) == before);
  fs::create_symlink(log, a + "/report.html");
  CHECK(run({"report", a}).code == 1);
  CHECK(content(log) == before);
  fine({"report", a, "--out", scratch / "p.html"});
  fine({"report", a, "--out", scratch / "p.html"});
  CHECK(run({"report", a, "--out", scratch / "no/p.html"}).code == 1);
}

TEST_CASE("report says what it is not given, or given in vain") {
  Scratch scratch;
  Ended ended = run({"report"});
  CHECK(ended.code == 2);
  CHECK(ended.says("report needs RUN..., folders of runs."));
  ended = run({"report", scratch / "none"});
  CHECK(ended.code == 1);
  CHECK(ended.says("none is no folder of a run: it does not exist."));
  CHECK(run({"report", "x", "--text", "--out", "y"}).code == 2);
  CHECK(run({"report", "x", "--text", "--json"}).code == 2);
  ended = run({"report", "x", "--steps", "3"});
  CHECK(ended.code == 2);
  CHECK(ended.says("--steps is a flag of train, not of report."));
}

TEST_CASE("report --text draws the loss of a live run") {
  Scratch scratch;
  Words words = short_run(scratch, "a");
  words[6] = "1000000";
  words = words + Words{"--schedule.steps", "0"};
  Process live(SINTER_SMALL, words);
  const std::string a = scratch / "a";
  REQUIRE(wait_for([&] { return fs::exists(a + "/metrics.jsonl") && metrics(a).size() > 20; }));
  const Ended ended = fine({"report", a, "--text"});
  CHECK(ended.out.starts_with(a + ": small, "));
  CHECK(has(ended.out, "lowest validation loss"));
  CHECK(std::count(ended.out.begin(), ended.out.end(), '\n') >= 14);
  CHECK_FALSE(fs::exists(a + "/report.html"));
  fine({"report", a});
  CHECK_FALSE(live.has_ended());
}

TEST_CASE("a browser draws the page") {
  const std::string program = browser();
  if (program.empty()) {
    MESSAGE("skipped: neither chromium-headless-shell nor chromium is installed");
    return;
  }
  Scratch scratch;
  fine(short_run(scratch, "a"));
  const std::string hostile = "<img src=x onerror=\"document.body.dataset.ready='hacked'\">";
  fine(short_run(scratch, hostile));
  fine({"report", scratch / "a", scratch / hostile});
  const std::string page = scratch / "a/report.html";
  const std::string seen = seen_by_browser(program, scratch, page);
  CHECK(has(seen, "<body data-ready=\"true\">"));
  CHECK_FALSE(has(seen, "<img"));
  CHECK(fs::file_size(scratch / "page.png") > 20'000);
  if (!has(content(page), "<canvas")) return;  // built without Chart.js
  // Chart.js gives a canvas its size when it draws.
  for (const char* canvas : {"<canvas id=\"chart0\" ", "<canvas id=\"chart3\" "}) {
    const std::size_t at = seen.find(canvas);
    REQUIRE(at != seen.npos);
    CHECK(has(seen.substr(at, seen.find('>', at) - at), "style=\"display: block;"));
  }
}

/// A copy of a page with a script at its end.
std::string page_with(const Scratch& scratch, const std::string& page, const std::string& script) {
  std::string text = content(page);
  text.insert(text.rfind("</body>"), "<script>" + script + "</script>");
  return write(scratch / "with.html", text);
}

TEST_CASE("a page fits a telephone, and its slider smooths as TensorBoard does") {
  const std::string program = browser();
  if (program.empty()) {
    MESSAGE("skipped: neither chromium-headless-shell nor chromium is installed");
    return;
  }
  Scratch scratch;
  const std::string long_name(60, 'n');
  fine(short_run(scratch, "a"));
  fine(short_run(scratch, long_name));
  fine({"report", scratch / "a", scratch / long_name});
  const std::string page = scratch / "a/report.html";
  const std::string narrow =
      page_with(scratch, page,
                "const narrow = document.documentElement; document.body.dataset.fits ="
                " narrow.clientWidth <= 360 && narrow.scrollWidth <= narrow.clientWidth ? 'yes' :"
                " narrow.scrollWidth + ' of ' + narrow.clientWidth;");
  CHECK(has(seen_by_browser(program, scratch, narrow, "360,4000"), "data-fits=\"yes\""));
  if (!has(content(page), "<canvas")) return;  // built without Chart.js
  double average = 0, missing = 1;
  for (const Json& row : metrics(scratch / "a")) {
    average = 0.6 * average + 0.4 * row["loss"].get<double>();
    missing *= 0.6;
  }
  const std::string moved = page_with(
      scratch, page,
      "const own = document.getElementById('smoothing'); own.value = 0.6;"
      "own.dispatchEvent(new Event('input'));"
      "document.body.dataset.last = Chart.getChart('chart0').data.datasets[0].data.at(-1).y;");
  const std::string seen = seen_by_browser(program, scratch, moved);
  CHECK(has(seen, "<output id=\"weight\">0.600</output>"));
  const std::size_t at = seen.find("data-last=\"");
  REQUIRE(at != seen.npos);
  CHECK(std::stod(seen.substr(at + 11)) == doctest::Approx(average / (1 - missing)).epsilon(1e-5));
}

}  // namespace sinter::detail::testing::report_tests
