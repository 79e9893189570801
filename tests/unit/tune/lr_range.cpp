// SPDX-License-Identifier: Apache-2.0
// What a test of learning rates suggests, and its run with a program that writes made-up losses.
#include "tune/lr_range.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <fstream>

#include "files/json.hpp"
#include "sinter/files/io.hpp"
#include "support/folder.hpp"
#include "tune/lr_range_program.hpp"
#include "tune/lr_range_text.hpp"
#include "tune/lr_rise.hpp"

namespace sinter::detail::testing::lr_range_tests {
namespace {
using namespace tune;
namespace fs = std::filesystem;

const NumberRange six_decades{1e-6, 1, 121};  // 20 steps each

/// Rows whose losses are those of a rate's logarithm.
std::vector<report::Row> rows_of(auto&& loss, int count = 121) {
  std::vector<report::Row> rows;
  for (int k = 0; k < count; ++k) {
    report::Row row;
    row.step = k + 1;
    row.loss = loss(-6 + k / 20.);
    rows.push_back(row);
  }
  return rows;
}
/// It falls from 5 to 1 around 1e-3, and rises steeply behind 1e-1.
double usual_loss(double x) { return 3 - 2 * std::tanh(3 * (x + 3)) + std::exp(6 * (x + 0.7)); }

TEST_CASE("the schedule rises by an equal factor in each step, and stays at its end") {
  const LrRiseOptions o{0.01, 100, 5};
  const double expected[]{0.01, 0.1, 1, 10, 100, 100};
  for (int step = 1; step <= 6; ++step)
    CHECK(LrRise::factor(o, step) == doctest::Approx(expected[step - 1]));
  CHECK(LrRise::factor({0.01, 100, 1}, 1) == 100);
}

TEST_CASE("the rate where the loss falls the fastest is suggested, and a rise to 4 times ends it") {
  const LrRange range = lr_range_of(rows_of(usual_loss), six_decades);
  REQUIRE(range.steepest);
  CHECK(std::log10(range.steps[*range.steepest].rate) == doctest::Approx(-3).epsilon(0.1));
  REQUIRE(range.lowest);
  CHECK(range.steps[*range.lowest].rate > 3e-3);
  CHECK(range.steps[*range.lowest].rate < 1e-1);
  CHECK(range.has_diverged);
  CHECK(range.steps.size() < 121);
  const double lowest = range.steps[*range.lowest].average;
  CHECK(range.steps.back().average > 4 * lowest);
  CHECK(range.steps[range.steps.size() - 2].average <= 4 * lowest);
}

TEST_CASE("averages are exponential, over a twentieth of the steps, with their bias corrected") {
  auto rows = rows_of([](double) { return 1.; }, 3);
  rows[1].loss = 3;
  const double kept = 0.8;  // of 100 steps
  const LrRange range = lr_range_of(rows, {1e-6, 1, 100});
  CHECK(range.steps[0].average == doctest::Approx(1));
  CHECK(range.steps[1].average == doctest::Approx((kept + 3) / (kept + 1)));
  CHECK(range.steps[2].average ==
        doctest::Approx((kept * kept + kept * 3 + 1) / (kept * kept + kept + 1)));
}

TEST_CASE("a loss that is no number ends it, and one that never falls suggests nothing") {
  auto rows = rows_of(usual_loss, 90);
  rows[80].loss = std::nan("");
  CHECK(lr_range_of(rows, six_decades).steps.size() == 80);
  CHECK(lr_range_of(rows, six_decades).has_diverged);
  CHECK(!lr_range_of(rows_of([](double x) { return x; }), six_decades).steepest);
  CHECK(!lr_range_of({}, six_decades).steepest);
}

TEST_CASE("losses below 0 that fall do not end it") {
  const LrRange range = lr_range_of(rows_of([](double x) { return -7 - x; }), six_decades);
  CHECK(!range.has_diverged);
  CHECK(range.steps.size() == 121);
}

TEST_CASE("the first tenth of the steps suggests nothing") {
  const auto falls_at_once = [](double x) { return x < -5.5 ? -10 * (x + 5.5) : -0.001 * x; };
  const LrRange range = lr_range_of(rows_of(falls_at_once), six_decades);
  REQUIRE(range.steepest);
  CHECK(*range.steepest >= 12);
}

TEST_CASE("a range is LOW..HIGH above 0, with at least 20 steps, 100 if it says none") {
  CHECK(lr_range_in("1e-7..1").count == 100);
  CHECK(lr_range_in("1e-7..1").low == 1e-7);
  CHECK(lr_range_in("1e-7..1:50").count == 50);
  const auto refuses = [](const char* text, const char* what) {
    CAPTURE(text);
    CHECK_THROWS_WITH_AS((void)lr_range_in(text), doctest::Contains(what), cli::UsageError);
  };
  refuses("1e-3", "LOW..HIGH");
  refuses("0..1", "above 0");
  refuses("1..1e-3", "LOW below HIGH");
  refuses("1e-3..x", "not 'x'");
  refuses("1e-3..1:19", "at least 20");
}

TEST_CASE("a suggestion keeps the ratio of all rates, and an end of the range is noted") {
  LrTest test{"mine", six_decades, {{"optimizer.lr", 0.02}, {"optimizer.adamw_lr", 0.001}}, {}};
  test.range = lr_range_of(rows_of(usual_loss), six_decades);
  const double rate = test.range.steps[*test.range.steepest].rate;
  CHECK(test.suggested()[0].second == doctest::Approx(rate));
  CHECK(test.suggested()[1].second == doctest::Approx(rate / 20));
  const std::string flags =
      fmt::format("--optimizer.lr {:.3g} --optimizer.adamw_lr {:.3g}\n", rate, rate / 20);
  CHECK(lr_text(test).find("suggested: " + flags) != std::string::npos);
  CHECK(lr_text(test).find("note:") == std::string::npos);
  test.range = lr_range_of(rows_of([](double x) { return 9 - std::exp(x); }), six_decades);
  CHECK(lr_text(test).find("highest rate that counts") != std::string::npos);
  test.range = lr_range_of(rows_of([](double x) { return std::exp(-x); }), six_decades);
  CHECK(lr_text(test).find("lowest rate that counts") != std::string::npos);
}

TEST_CASE("the picture names the suggestion, and marks losses of a divergence at its edge") {
  LrTest test{"mine", six_decades, {{"optimizer.lr", 0.02}}, {}};
  test.range = lr_range_of(rows_of(usual_loss), six_decades);
  const std::string svg = lr_svg(test);
  CHECK(svg.find("suggested: 0.00") != svg.npos);
  CHECK(svg.find("class=\"beyond\"") != svg.npos);
  test.range = lr_range_of(rows_of([](double x) { return x; }), six_decades);
  CHECK(lr_svg(test).find("suggested") == std::string::npos);
}

/// A program whose loss falls at 0.01, rises behind 0.3, and which then does what `last` says.
struct Fixture {
  TemporaryFolder folder{};
  fs::path out = folder.path() / "out", json = folder.path() / "test.json";
  std::string ranges = R"({"optimizer.lr":"","optimizer.adamw_lr":""})";

  std::string program(const std::string& first, const std::string& last, int steps) const {
    const fs::path path = folder.path() / "program";
    std::ofstream(path) << fmt::format(R"SH(#!/bin/bash
if [[ $1 == describe ]]; then
  echo '{{"ranges":{},"options":{{"optimizer.lr":0.1,"optimizer.adamw_lr":0.01}},"policies":{{"optimizer":"Mine"}}}}'
  exit
fi
echo "$*" >{}/started
{}
out=${{!#}}
mkdir -p "$out"
python3 -c "import math
for k in range({}):
  x = -5 + k / 20
  loss = 3 - 2 * math.tanh(3 * (x + 2)) + math.exp(6 * (x + 0.7))
  print('{{\"step\":%d,\"loss\":%f,\"lr\":1}}' % (k + 1, loss))" >"$out/metrics.jsonl"
{}
)SH",
                                       ranges, folder.path().string(), first, steps, last);
    fs::permissions(path, fs::perms::owner_all);
    return path.string();
  }
  int run(const std::string& first = "", const std::string& last = "", int steps = 101,
          std::vector<std::string> train = {"--quiet"}) const {
    std::vector<std::string> words{"lr-range",   "--program",   program(first, last, steps),
                                   "--rates",    "1e-5..1:101", "--out",
                                   out.string(), "--json",      json.string(),
                                   "--"};
    words.insert(words.end(), train.begin(), train.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    return run_lr_range("mine", int(argv.size()), argv.data());
  }
  nlohmann::ordered_json result() const { return parse_json(read_file(json)); }
  bool has_started() const { return fs::exists(folder.path() / "started"); }
};

TEST_CASE_FIXTURE(Fixture, "a test trains once with factors of the recipe's own rate") {
  CHECK(run() == 0);
  CHECK(read_file(folder.path() / "started")
            .starts_with("train --quiet --steps 101 --schedule.low 0.0001 --schedule.high 10 "));
  const auto test = result();
  CHECK(test["suggested"]["optimizer.lr"].get<double>() == doctest::Approx(0.01).epsilon(0.3));
  CHECK(test["suggested"]["optimizer.adamw_lr"].get<double>() ==
        doctest::Approx(0.001).epsilon(0.3));
  CHECK(test["has_diverged"] == true);
  CHECK(read_file(out / "lr_range.svg").find("suggested: 0.01") != std::string::npos);
  CHECK(!fs::exists(out / "scratch"));
}

TEST_CASE_FIXTURE(Fixture, "a run that has diverged is ended, and one that ends itself counts") {
  CHECK(run("", "exec sleep 60") == 0);
  CHECK(result()["has_diverged"] == true);
  CHECK(run("", "exit 3", 80) == 0);
  CHECK(result()["has_diverged"] == true);
  CHECK(result()["steps"].size() == 80);
}

TEST_CASE_FIXTURE(Fixture, "a run that fails, or diverges before a step, is an error") {
  CHECK(run("echo 'error: no room' >&2; exit 1") == 1);
  CHECK(run("echo 'error: the loss is NaN' >&2; exit 3") == 1);
  CHECK(!fs::exists(json));
  CHECK(run("", "", 9) == 1);  // too few steps to suggest anything
  CHECK(result()["suggested"] == nullptr);
}

TEST_CASE_FIXTURE(Fixture,
                  "words that the test gives, or train refuses, are a wrong command line") {
  CHECK(run("", "", 101, {"--steps", "5"}) == 2);
  CHECK(run("", "", 101, {"--optimizer.adamw_lr=5"}) == 2);
  CHECK(!has_started());
  CHECK(run("echo 'error: there is no --odd' >&2; exit 2") == 2);
}

TEST_CASE_FIXTURE(Fixture, "an optimizer without a rate that a flag changes is an error") {
  ranges = R"({"optimizer.adamw_lr":""})";
  CHECK(run() == 1);
  CHECK(!has_started());
}

TEST_CASE_FIXTURE(Fixture, "a test that is asked to stop says what it knows") {
  CHECK(run("", "kill -TERM $PPID; exec sleep 60", 40) == 128 + 15);
  CHECK(result()["steps"].size() == 40);
  CHECK(result()["has_diverged"] == false);
}

}  // namespace
}  // namespace sinter::detail::testing::lr_range_tests
