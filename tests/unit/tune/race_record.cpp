// SPDX-License-Identifier: Apache-2.0
// A race from its processes to its record, with programs that write made-up steps.
#include "tune/race_record.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <csignal>
#include <fstream>

#include "cli/numbers.hpp"
#include "files/json.hpp"
#include "sinter/error.hpp"
#include "sinter/files/io.hpp"
#include "support/folder.hpp"
#include "tune/arm.hpp"
#include "tune/race_program.hpp"

namespace sinter::detail::testing::race_record_tests {
namespace {
using namespace tune;
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Grid grid_of_rows(int count) {
  Grid grid{"mine", {"a"}, {}};
  for (int k = 0; k < count; ++k) {
    const std::string policy = "A" + std::to_string(k);
    grid.rows.push_back({{policy}, k ? std::vector{policy} : std::vector<std::string>{}, ""});
    grid.rows.back().arena = (1 + k) << 20;  // the faster, the larger
    grid.rows.back().flops_per_token = 1000;
  }
  return grid;
}

/// Writes a program that does what `first` says, logs steps of `ms`, as many as asked, and ends as `last`
/// says.
std::string program(const fs::path& folder, const std::string& name, double ms,
                    const std::string& first = "", int steps = 5000,
                    const std::string& last = "exec sleep 60") {
  const fs::path path = folder / name;
  std::ofstream(path) << fmt::format(R"SH(#!/bin/bash
[[ $1 != describe ]] || {{ echo '{{"matmul":{{"flops_per_s":1e8}}}}'; exit; }}
{}
echo "${{0##*/}}" >>{}/started
out=${{!#}}
mkdir -p "$out"
echo '{{"event":"begin"}}' >"$out/metrics.jsonl"
for ((k = 1; k <= {}; ++k)); do
  echo '{{"step":'$k',"loss":'$((9 - k % 5))'.5,"tokens":'$((k * 500))',"rows":500,"step_ms":'{}.$((k % 7))',"step_cpu_ms":'{}'}}'
done >>"$out/metrics.jsonl"
{}
)SH",
                                     first, folder.string(), steps, int(ms), 2 * ms, last);
  fs::permissions(path, fs::perms::owner_all);
  return path.string();
}

std::string text_of(const fs::path& path) { return fs::exists(path) ? read_file(path) : ""; }

/// A race of three programs whose steps take 30, 20 and 10 ms.
struct Fixture {
  TemporaryFolder folder{};
  Grid grid = grid_of_rows(3);
  RaceArguments a{};
  Fixture() {
    a.out = folder.path() / "out";
    a.json = (folder.path() / "race.txt").string();
    for (int row = 0; row < 3; ++row)
      a.programs[row] = program(folder.path(), "row" + std::to_string(row), 30 - 10 * row);
  }
  Json standing() const { return parse_json(read_file(a.json)); }
};

TEST_CASE_FIXTURE(Fixture, "a race finds the fastest program, and says what each has measured") {
  CHECK(run_race(grid, a) == 0);
  const Json json = standing();
  CHECK(json["is_decided"] == true);
  REQUIRE(json["raced"].size() == 3);
  CHECK(json["raced"][0]["row"] == 2);
  CHECK(json["raced"][2]["row"] == 0);
  CHECK(json["raced"][0]["ms_per_thousand_tokens"].get<double>() ==
        doctest::Approx(20).epsilon(0.1));
  CHECK(json["raced"][0]["cpu_ms_per_thousand_tokens"].get<double>() == 40);  // 20 of 500
  const int last = json["steps_of_loss"].get<int>();  // the first step counts no time
  CHECK(json["raced"][1]["loss"].get<double>() == 9 - last % 5 + 0.5);
  CHECK(json["raced"][0]["matmul_share"].get<double>() ==
        doctest::Approx(0.5).epsilon(0.1));  // 500 tokens of 1000 FLOP in 10 ms, of 1e8 a second
  CHECK(json["raced"][0]["on_front"] == true);
  CHECK(read_file(a.out / "front.svg").find("A2") != std::string::npos);
  CHECK(read_file(a.out / "report.html").find("A2") != std::string::npos);
  CHECK(!fs::exists(a.out / "scratch"));
}

TEST_CASE_FIXTURE(Fixture,
                  "where ranks differ between rows, elapsed time compares, else the processor's") {
  CHECK(run_race(grid, a) == 0);
  CHECK(standing()["compared_by"] == "processor time");
  a.out = folder.path() / "ranks";
  grid.rows[1].ranks = 2;
  CHECK(run_race(grid, a) == 0);
  CHECK(standing()["compared_by"] == "elapsed time");
}

TEST_CASE_FIXTURE(Fixture,
                  "where steps are slow, the run that shows it is one of the first round") {
  for (int row = 0; row < 3; ++row)
    a.programs[row] = program(folder.path(), "row" + std::to_string(row), 300 - 100 * row);
  CHECK(run_race(grid, a) == 0);
  CHECK(standing()["steps_of_loss"] == 9);  // 8 are counted, the fewest
  const std::string started = text_of(folder.path() / "started");
  CHECK(started.starts_with("row0\nrow1\nrow2\n"));
  CHECK(started.find("row0", 1) == started.npos);
}

TEST_CASE_FIXTURE(Fixture, "with a number of rounds, all run so many, and none leaves") {
  for (int row = 3; row < 6; ++row)
    a.programs[row] = program(folder.path(), "row" + std::to_string(row), 30 + 10 * row);
  grid = grid_of_rows(6);
  a.rounds = 2;
  CHECK(run_race(grid, a) == 0);
  const Json json = standing();
  REQUIRE(json["raced"].size() == 6);
  CHECK(json["raced"][0]["row"] == 2);
  for (const Json& row : json["raced"]) CHECK(row["rounds"] == 2);
}

TEST_CASE_FIXTURE(Fixture, "a program that dies is a row, and the others go on") {
  a.programs[2] = program(folder.path(), "dies", 1, "kill -KILL $$");
  a.programs[1] = program(folder.path(), "fails", 1, "echo 'error: no room' >&2; exit 1");
  CHECK(run_race(grid, a) == 0);
  const Json json = standing();
  CHECK(json["raced"].size() == 1);
  REQUIRE(json["failed"].size() == 2);
  CHECK(json["failed"][0]["failure"] == "no room");
  CHECK(json["failed"][1]["failure"].get<std::string>().find("lack of memory") !=
        std::string::npos);
}

TEST_CASE_FIXTURE(Fixture,
                  "a program that fails after some steps, or ends before two, is a row, too") {
  a.programs[1] = program(folder.path(), "late", 20, "", 2, "echo 'error: no room' >&2; exit 1");
  a.programs[2] = program(folder.path(), "short", 10, "", 1, "exit 0");
  CHECK(run_race(grid, a) == 0);
  const Json json = standing();
  CHECK(json["raced"].size() == 1);
  REQUIRE(json["failed"].size() == 2);
  CHECK(json["failed"][0]["failure"] == "no room");
  CHECK(json["failed"][1]["failure"] == "it ended before it had trained two steps");
}

TEST_CASE_FIXTURE(Fixture,
                  "a race that is asked to stop ends its process, and says what it knows") {
  a.programs[1] = program(folder.path(), "row1", 20,
                          "echo $$ >\"${0%/*}/process\"; kill -INT $PPID; exec sleep 60");
  CHECK(run_race(grid, a) == 128 + SIGINT);
  CHECK(standing()["is_decided"] == false);
  CHECK(standing()["raced"].size() == 1);
  CHECK(::kill(pid_t(std::stoi(text_of(folder.path() / "process"))), 0) == -1);
  a.programs[1] = program(folder.path(), "row1", 20);
  CHECK(run_race(grid, a) == 0);  // an earlier signal is forgotten
  CHECK(standing()["raced"].size() == 3);
}

TEST_CASE_FIXTURE(Fixture, "a command line that no program takes ends the race") {
  a.programs[0] = program(folder.path(), "usage", 1,
                          "echo 'error: there is no --odd' >&2; echo 'see --help' >&2; exit 2");
  CHECK_THROWS_WITH_AS(run_race(grid, a), doctest::Contains("there is no --odd"), cli::UsageError);
}

TEST_CASE_FIXTURE(Fixture,
                  "a race that has ended starts no program again, and one that was cut goes on") {
  CHECK(run_race(grid, a) == 0);
  const Json whole = standing();
  fs::remove(folder.path() / "started");
  CHECK(run_race(grid, a) == 0);
  CHECK(text_of(folder.path() / "started").empty());
  CHECK(standing() == whole);

  Json record = parse_json(read_file(a.out / "race.json"));
  record["runs"].erase(2);  // row 2 in the first round
  std::ofstream(a.out / "race.json") << record;
  CHECK(run_race(grid, a) == 0);
  CHECK(text_of(folder.path() / "started") == "row2\n");
}

TEST_CASE_FIXTURE(Fixture, "another program of a row runs anew, and so does one that failed") {
  CHECK(run_race(grid, a) == 0);
  fs::remove(folder.path() / "started");
  std::ofstream(a.programs[0], std::ios::app) << "# changed\n";
  CHECK(run_race(grid, a) == 0);
  CHECK(text_of(folder.path() / "started").starts_with("row0\n"));
}

TEST_CASE_FIXTURE(Fixture, "the record of another race is refused, and a damaged one, too") {
  CHECK(run_race(grid, a) == 0);
  RaceArguments other = a;
  other.train = {"--data", "else"};
  CHECK_THROWS_WITH_AS(run_race(grid, other), doctest::Contains("of another race"), FileError);
  CHECK_THROWS_WITH_AS(run_race(grid_of_rows(4), a), doctest::Contains("of another race"),
                       FileError);
  std::ofstream(a.out / "race.json") << "{";
  CHECK_THROWS_WITH_AS(run_race(grid, a), doctest::Contains("damaged"), FileError);
}

TEST_CASE_FIXTURE(Fixture, "a race without time says what it knows, and the next goes on") {
  a.seconds = -1;
  CHECK(run_race(grid, a) == 1);
  CHECK(standing()["raced"].empty());
  a.seconds = 60;
  CHECK(run_race(grid, a) == 0);
  a.seconds = -1;
  CHECK(run_race(grid, a) == 0);  // all is known
  CHECK(standing()["is_decided"] == true);
}

TEST_CASE_FIXTURE(Fixture, "the first round alone names the rows that ought to join") {
  a.next = (folder.path() / "next").string();
  a.programs.erase(2);
  a.arms = 5;
  CHECK(run_race(grid, a) == 0);
  CHECK(read_file(a.next) == "2\n");
  a.arms = 2;
  CHECK(run_race(grid, a) == 0);
  CHECK(read_file(a.next) == "\n");
}

TEST_CASE_FIXTURE(Fixture,
                  "the fastest recipe is written, and what cannot be is said before the race") {
  a.source = (folder.path() / "mine.cpp").string();
  a.written = (folder.path() / "tuned.cpp").string();
  std::ofstream(a.source) << "struct mine {};\n";
  CHECK_THROWS_WITH_AS(run_race(grid, a), doctest::Contains("int main("), Error);
  CHECK(text_of(folder.path() / "started").empty());
  std::ofstream(a.source) << "int main(int c, char** v) { return run<mine>(c, v); }\n";
  CHECK(run_race(grid, a) == 0);
  CHECK(read_file(a.written) ==
        "struct mine_tuned : sinter::With<mine, A2> {};\n\n"
        "int main(int c, char** v) { return run<mine_tuned>(c, v); }\n");
}

TEST_CASE("steps are read without the first, events, padding and a line that is not whole") {
  TemporaryFolder folder;
  const fs::path log = folder.path() / "metrics.jsonl";
  std::ofstream(log) << R"({"step":1,"loss":4,"tokens":50,"rows":100,"step_ms":50,"step_cpu_ms":60}
{"event":"saved","step":1}
{"step":2,"loss":3,"tokens":150,"rows":200,"step_ms":10,"step_cpu_ms":20}
{"step":3,"loss":null,"tokens":350,"rows":400,"padding":0.25,"step_ms":12,"step_cpu_ms":18}
{"step":4,"lo)";
  const Run one = measured_by(log, 1);
  CHECK(one.wall_ms == std::vector<double>{10 / 0.2});
  CHECK(one.cpu_ms == std::vector<double>{20 / 0.2});
  CHECK(one.loss == 3);
  const Run all = measured_by(log, 9);
  CHECK(all.wall_ms == std::vector<double>{10 / 0.2, 12 / 0.3});
  CHECK(std::isnan(all.loss));
  CHECK(all.step_ms == 11);
  CHECK(all.step_tokens == 125);  // 100, and 200 of which a quarter is padding
  CHECK(measured_by(folder.path() / "none", 9).wall_ms.empty());
}

}  // namespace
}  // namespace sinter::detail::testing::race_record_tests
