// SPDX-License-Identifier: Apache-2.0
// The values of a sweep, and its runs with a program that writes made-up losses.
#include "tune/sweep.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>

#include "cli/numbers.hpp"
#include "files/json.hpp"
#include "sinter/files/io.hpp"
#include "support/folder.hpp"
#include "tune/sweep_program.hpp"

namespace sinter::detail::testing::sweep_tests {
namespace {
using namespace tune;
namespace fs = std::filesystem;

TEST_CASE("a range above 0 goes by equal factors, any other by equal steps") {
  const Swept rate = swept_of("optimizer.lr=1e-4..1e-2:5");
  CHECK(rate.option == "optimizer.lr");
  CHECK(grid_values(rate) == Point{"0.0001", "0.0003162", "0.001", "0.003162", "0.01"});
  CHECK(grid_values(swept_of("a.b=0..1:5")) == Point{"0", "0.25", "0.5", "0.75", "1"});
  CHECK(grid_values(swept_of("a.b=-1..1:3")) == Point{"-1", "0", "1"});
}

TEST_CASE("whole numbers of a range are rounded, and each is there once") {
  Swept steps = swept_of("a.b=1..4:8");
  steps.is_whole = true;
  CHECK(grid_values(steps) == Point{"1", "2", "3", "4"});
}

TEST_CASE("a grid has all combinations, and the last option differs the fastest") {
  const auto points = grid_points({swept_of("a.b=1,2"), swept_of("c.d=true,false")});
  CHECK(points == std::vector<Point>{{"1", "true"}, {"1", "false"}, {"2", "true"}, {"2", "false"}});
}

TEST_CASE("what is drawn lies in its range or list, differs, and is the same for a seed") {
  const std::vector<Swept> options{swept_of("a.b=1e-4..1e-2"), swept_of("c.d=1,2,3")};
  const auto points = random_points(options, 200, 7);
  CHECK(points == random_points(options, 200, 7));
  CHECK(points != random_points(options, 200, 8));
  CHECK(std::set(points.begin(), points.end()).size() == 200);
  int below_middle = 0;
  for (const Point& point : points) {
    const double value = std::stod(point[0]);
    CHECK((value >= 1e-4 && value <= 1e-2));
    below_middle += value < 1e-3;
    CHECK((point[1] == "1" || point[1] == "2" || point[1] == "3"));
  }
  CHECK(below_middle > 70);  // its logarithm is even
  CHECK(below_middle < 130);
  CHECK(random_points({swept_of("a.b=1,2")}, 5, 0).size() == 2);
  auto drawn = random_points({swept_of("a.b=0..1:5")}, 9, 0);  // values of its grid
  std::ranges::sort(drawn);
  CHECK(drawn == std::vector<Point>{{"0"}, {"0.25"}, {"0.5"}, {"0.75"}, {"1"}});
}

TEST_CASE("wrong texts are refused with what was expected") {
  const auto refuses = [](const char* text, const char* what) {
    CAPTURE(text);
    CHECK_THROWS_WITH_AS((void)grid_points({swept_of(text)}), doctest::Contains(what),
                         cli::UsageError);
  };
  refuses("optimizer.lr", "SLOT.OPTION=VALUES");
  refuses("lr=1,2.5", "SLOT.OPTION=VALUES");
  refuses("a.b=", "a number");
  refuses("a.b=1,x", "not 'x'");
  refuses("a.b=1,1", "twice");
  refuses("a.b=2..1:3", "LOW below HIGH");
  refuses("a.b=1..2:1", "at least 2");
  refuses("a.b=1..2", "no count");
  refuses("a.b=1..2:2000", "more than 1000");
}

/// A program whose loss is lowest at 0.001, or that does what `first` says.
struct Fixture {
  TemporaryFolder folder{};
  fs::path out = folder.path() / "out", json = folder.path() / "sweep.json";

  std::string program(const std::string& first = "") const {
    const fs::path path = folder.path() / "program";
    std::ofstream(path) << fmt::format(R"SH(#!/bin/bash
if [[ $1 == describe ]]; then
  echo '{{"ranges":{{"optimizer.lr":"","schedule.warmup":""}},"options":{{"optimizer.lr":0.5,"schedule.warmup":5}}}}'
  exit
fi
if [[ $1 == report ]]; then echo page >"${{!#}}"; exit; fi
{}
echo "$*" >>{}/started
out=${{!#}}
mkdir -p "$out"
python3 -c "import math, sys; x = math.log10(float(sys.argv[1]))
for k in range(1, 101): print('{{\"step\":%d,\"loss\":%f,\"step_ms\":1}}' % (k, 2 + (x + 3) ** 2))" \
  "$4" >"$out/metrics.jsonl"
)SH",
                                       first, folder.path().string());
    fs::permissions(path, fs::perms::owner_all);
    return path.string();
  }
  int run(std::vector<std::string> more, const std::string& first = "") const {
    std::vector<std::string> words{"tune",       "--program", program(first), "--out",
                                   out.string(), "--json",    json.string()};
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"--", "--quiet"});
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    return run_sweep(int(argv.size()), argv.data());
  }
  nlohmann::ordered_json result() const { return parse_json(read_file(json)); }
  std::string started() const {
    const fs::path file = folder.path() / "started";
    return fs::exists(file) ? read_file(file) : "";
  }
};

TEST_CASE_FIXTURE(Fixture, "a sweep trains once for each value, and finds the lowest loss") {
  CHECK(run({"--sweep", "optimizer.lr=1e-5..0.1:5"}) == 0);
  const auto sweep = result();
  REQUIRE(sweep["runs"].size() == 5);
  CHECK(sweep["by"] == "loss");
  CHECK(sweep["best"] == 2);
  CHECK(sweep["runs"][2]["options"]["optimizer.lr"] == 0.001);
  CHECK(sweep["runs"][2]["loss"].get<double>() == doctest::Approx(2));
  CHECK(sweep["runs"][0]["loss"].get<double>() == doctest::Approx(6));
  CHECK(read_file(out / "report.html") == "page\n");
  CHECK(started().find("train --quiet --optimizer.lr 1e-05 --resume auto --out ") == 0);
}

TEST_CASE_FIXTURE(Fixture, "a run that fails is a row, and the others go on") {
  CHECK(run({"--sweep", "optimizer.lr=0.1,0.01"},
            "[[ $4 != 0.1 ]] || { echo 'error: diverged' >&2; exit 1; }") == 0);
  CHECK(result()["best"] == 1);
  CHECK(result()["runs"][0]["failure"] == "diverged");
  CHECK(run({"--sweep", "optimizer.lr=0.1,0.01"}, "exit 1") == 1);
}

TEST_CASE_FIXTURE(Fixture,
                  "what no recipe has, and a command line that train refuses, ends a sweep") {
  CHECK(run({"--sweep", "optimizer.rate=1,2"}) == 2);
  CHECK(run({"--sweep", "optimizer.lr=1,2", "--sweep", "optimizer.lr=3,4"}) == 2);
  CHECK(run({"--sweep", "optimizer.lr=1,2", "--seed", "3"}) == 2);
  CHECK(started().empty());
  CHECK(run({"--sweep", "optimizer.lr=1,2"}, "exit 2") == 2);
}

TEST_CASE_FIXTURE(Fixture,
                  "a sweep that is asked to stop lets its run save, and says what it knows") {
  CHECK(run({"--sweep", "optimizer.lr=0.1,0.01"},
            "[[ $4 == 0.1 ]] || { trap 'touch \"${!#}.saved\"; exit 3' INT; kill -TERM $PPID; "
            "for ((k = 0; k < 100; ++k)); do sleep 0.1; done; }") == 128 + 15);
  CHECK(result()["runs"].size() == 1);
  CHECK(result()["planned"] == 2);
  CHECK(fs::exists(out / "optimizer.lr=0.01.saved"));
}

}  // namespace
}  // namespace sinter::detail::testing::sweep_tests
