// SPDX-License-Identifier: Apache-2.0
// What train --profile writes: a Chrome trace whose spans are the run's.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "binary/support.hpp"

namespace sinter::detail::testing::profile_tests {

struct Span {
  std::string name, category;
  double begin, end;
  int rank, step, iteration, position;

  explicit Span(const Json& event)
      : name(event.at("name")),
        category(event.at("cat")),
        begin(event.at("ts")),
        end(begin + event.at("dur").get<double>()),
        rank(event.at("pid")),
        step(event.at("args").at("step")),
        iteration(event["args"].value("micro_batch", -1)),
        position(event["args"].value("position", -1)) {
    CHECK(event.at("dur").get<double>() >= 0);
  }
  bool holds(const Span& inner) const {
    constexpr double rounding = 0.0015;  // of microseconds with three decimals
    return rank == inner.rank && begin <= inner.begin + rounding && inner.end <= end + rounding;
  }
};

struct Trace {
  Json data;
  std::vector<Span> spans;
  std::map<int, std::string> ranks;

  explicit Trace(const std::string& path) {
    Json trace = Json::parse(content(path));
    data = trace.at("otherData");
    for (const Json& event : trace.at("traceEvents")) {
      CHECK(event.at("tid").is_number());
      if (event.at("ph") == "X") {
        spans.emplace_back(event);
      } else {
        CHECK(event.at("ph") == "M");
        if (event.at("name") == "process_name") ranks[event["pid"]] = event["args"]["name"];
      }
    }
    CHECK(data.at("events") == spans.size());
  }
  std::vector<Span> of(const std::string& category) const {
    std::vector<Span> found;
    std::copy_if(spans.begin(), spans.end(), std::back_inserter(found),
                 [&](const Span& s) { return s.category.rfind(category, 0) == 0; });
    return found;
  }
  std::vector<Span> stages(const std::string& name) const {
    std::vector<Span> found;
    for (const Span& s : of("loop"))
      if (s.name == name) found.push_back(s);
    return found;
  }
};

std::string name_of(const Json& instruction) {
  std::string on = instruction["on"];
  return instruction["instruction"].get<std::string>() + (on.empty() ? "" : " " + on);
}

/// Of any two spans of a rank, one holds the other or they are apart.
void check_nesting(const Trace& trace) {
  std::map<int, std::vector<Span>> open;
  std::vector<Span> spans = trace.spans;
  std::stable_sort(spans.begin(), spans.end(),
                   [](const Span& a, const Span& b) { return a.begin < b.begin; });
  int crossed = 0;
  for (const Span& span : spans) {
    std::vector<Span>& outer = open[span.rank];
    while (!outer.empty() && outer.back().end <= span.begin + 0.0015) outer.pop_back();
    crossed += !outer.empty() && !outer.back().holds(span);
    outer.push_back(span);
  }
  CHECK(crossed == 0);
}

/// Every instruction of the step's program, as `describe` has it, once in each iteration that it
/// belongs to.
void check_steps(const Trace& trace, int ranks, int steps) {
  std::string count = std::to_string(ranks);
  Json program =
      run({"describe", "--json", "--program", "--parallel.ranks", count}).json()["program"];
  int iterations = 8 / 2 / ranks;
  std::map<std::vector<int>, std::string> seen;
  std::vector<Span> step_spans = trace.stages("step");
  for (const Span& s : trace.of("instruction")) {
    bool training = std::any_of(step_spans.begin(), step_spans.end(), [&](const Span& step) {
      return step.begin <= s.begin && s.end <= step.end + 0.0015;
    });
    if (!training) continue;
    CHECK(seen.emplace(std::vector{s.rank, s.step, s.position, s.iteration}, s.name).second);
  }
  std::size_t expected = 0;
  int loop = -1, end = -1;
  for (int t = 0; t < int(program.size()); ++t) {
    if (program[t]["instruction"] == "loop") loop = t;
    if (program[t]["instruction"] == "end") end = t;
  }
  REQUIRE(loop >= 0);
  REQUIRE(end > loop);
  for (int rank = 0; rank < ranks; ++rank)
    for (int step = 1; step <= steps; ++step)
      for (int t = 0; t < int(program.size()); ++t) {
        bool inside = loop < t && t < end;
        for (int i = 0; i < (inside ? iterations : 1); ++i) {
          if (inside && program[t]["when"] == "first" && i != 0) continue;
          if (inside && program[t]["when"] == "last" && i != iterations - 1) continue;
          ++expected;
          auto found = seen.find({rank, step, t, i});
          REQUIRE_MESSAGE(found != seen.end(), step, " ", t, " ", i);
          CHECK(found->second == name_of(program[t]));
        }
      }
  CHECK(seen.size() == expected);
}

double sum(const std::vector<Span>& spans, auto counts) {
  double total = 0;
  for (const Span& s : spans)
    if (counts(s)) total += s.end - s.begin;
  return total;
}

/// Ten lines, the largest share first, which are all of the time.
void check_summary(const std::string& err) {
  std::istringstream text(err);
  std::vector<double> shares;
  std::string names;
  for (std::string line; std::getline(text, line);) {
    const std::size_t percent = line.find(" %  ");
    if (percent == line.npos) continue;
    CHECK(line.starts_with("note: "));
    CHECK(line.find(" ms a step  ") != line.npos);
    shares.push_back(std::stod(line.substr(6, percent - 6)));
    names += line.substr(line.rfind("  ")) + "\n";
  }
  REQUIRE(shares.size() == 10);
  CHECK(std::is_sorted(shares.rbegin() + 1, shares.rend()));
  double all = 0;
  for (double share : shares) all += share;
  CHECK(all == doctest::Approx(100).epsilon(0.006));
  for (const char* part : {" others\n", "backward of "}) CHECK(names.find(part) != names.npos);
}

TEST_CASE("--profile has every instruction, layer call and stage, nested") {
  Scratch scratch;
  std::string text = write(scratch / "text", some_text(3000)), file = scratch / "trace.json";
  Ended ended = run({"train", "--data", text, "--out", scratch / "run", "--steps", "6", "--profile",
                     file, "--eval-every", "3", "--save-every", "4", "--threads", "1"});
  REQUIRE_MESSAGE(ended.code == 0, ended.err);
  CHECK(ended.says("note: the profile " + file + " has steps 1 to 6; "));
  check_summary(ended.err);
  Trace trace(file);
  CHECK(trace.data["complete"] == true);
  CHECK(trace.data["last_step"] == 6);
  CHECK(trace.ranks == std::map<int, std::string>{{0, "rank 0"}});
  check_nesting(trace);
  check_steps(trace, 1, 6);
  for (auto [stage, times] : {std::pair{"read", 6}, {"step", 6}, {"evaluate", 2}, {"record", 6}})
    CHECK_MESSAGE(trace.stages(stage).size() == std::size_t(times), stage);
  CHECK(trace.stages("save").size() >= 2);

  std::vector<Span> steps = trace.stages("step"), instructions = trace.of("instruction"),
                    layers = trace.of("layer");
  std::set<std::string> names;
  for (const Span& s : layers) names.insert(s.category + ": " + s.name);
  for (const char* name : {"layer forward: ln_1", "layer backward: attn.c_attn",
                           "layer backward: lm_head", "layer forward: wte"})
    CHECK_MESSAGE(names.count(name) == 1, name);
  std::vector<double> inside, called;
  for (const Span& step : steps) {
    auto in_step = [&](const Span& s) { return step.holds(s); };
    inside.push_back(sum(instructions, in_step) / (step.end - step.begin));
    auto makes_calls = [&](const Span& s) {
      return in_step(s) && (s.name.rfind("forward", 0) == 0 || s.name.rfind("backward", 0) == 0);
    };
    called.push_back(sum(layers, in_step) / sum(instructions, makes_calls));
  }
  std::sort(inside.begin(), inside.end());
  std::sort(called.begin(), called.end());
  CHECK(inside.back() <= 1.001);
  CHECK(inside[3] > 0.8);  // the median: the machine may take a break between two spans
  CHECK(called.back() <= 1.001);
  CHECK(called[3] > 0.8);
  // The log's time of a step has what the stages have: the wait, the step, the row before.
  std::vector<Json> rows = metrics(scratch / "run");
  for (int s = 2; s <= 6; ++s)
    CHECK((steps[s - 1].end - steps[s - 1].begin) / 1000 <= rows[s - 1]["step_ms"].get<double>());
}

TEST_CASE("ranks are processes of their own in a profile") {
  Scratch scratch;
  std::string text = write(scratch / "text", some_text(3000)), file = scratch / "trace.json";
  Ended ended = run({"train", "--data", text, "--out", scratch / "run", "--steps", "3", "--profile",
                     file, "--parallel.ranks", "2"});
  REQUIRE_MESSAGE(ended.code == 0, ended.err);
  Trace trace(file);
  CHECK(trace.ranks == std::map<int, std::string>{{0, "rank 0"}, {1, "rank 1"}});
  check_nesting(trace);
  check_steps(trace, 2, 3);
  std::set<std::pair<int, std::string>> collectives;
  for (const Span& s : trace.of("instruction")) {
    std::string kind = s.name.substr(0, s.name.find(" h."));
    if (kind == "reduce" || kind == "await reduce") collectives.emplace(s.rank, kind);
  }
  CHECK(collectives.size() == 4);
  for (const Span& s : trace.of("loop")) CHECK(s.rank == 0);
}

TEST_CASE("a profile that cannot be written is an error before anything is trained") {
  Scratch scratch;
  std::string text = write(scratch / "text", some_text(3000));
  std::string file = scratch / "absent/trace.json";
  Ended ended = run({"train", "--data", text, "--out", scratch / "run", "--profile", file});
  CHECK(ended.code == 1);
  CHECK(ended.says(file));
  CHECK(!fs::exists(scratch / "run"));
  CHECK(run({"eval", "--profile", file}).says("--profile is a flag of train, not of eval."));
}

TEST_CASE("a profile is not written among the data, where the next run would read it") {
  Scratch scratch;
  fs::create_directories(scratch / "data/texts");
  const std::string text = write(scratch / "data/text", some_text(3000));
  auto train = [&](const std::string& data, const std::string& file) {
    return run({"train", "--data", data, "--out", scratch / "data/run", "--steps", "1", "--profile",
                file});
  };
  for (const char* name : {"data/trace.json", "data/texts/trace.json", "data/../data/trace.json"}) {
    const Ended below = train(scratch / "data", scratch / name);
    CHECK(below.code == 2);
    CHECK(
        below.says("--profile " + scratch / name + " is below the data path " + scratch / "data"));
    CHECK(!fs::exists(scratch / name));
  }
  const Ended same = train(text, text);
  CHECK(same.code == 2);
  CHECK(same.says(" is the data path "));
  CHECK(content(text) == some_text(3000));
  CHECK(!fs::exists(scratch / "data/run"));
  CHECK(train(scratch / "data", scratch / "database.json").code == 0);
  fine({"train", "--resume", "--out", scratch / "data/run", "--steps", "2", "--profile",
        scratch / "data/run/trace.json"});
  CHECK(fs::exists(scratch / "data/run/trace.json"));
}

TEST_CASE("a profile is written when the run is stopped, fails, or is too long for it") {
  Scratch scratch;
  std::string text = write(scratch / "text", some_text(3000)), file = scratch / "trace.json";
  Ended failed = run({"train", "--data", text, "--out", scratch / "nan", "--profile", file,
                      "--optimizer.lr", "1e30", "--schedule.warmup", "0"});
  CHECK(failed.code == 3);
  Trace of_failed(file);
  CHECK(of_failed.spans.size() > 100);
  check_nesting(of_failed);

  Process process(SINTER_SMALL, {"train", "--data", text, "--out", scratch / "run", "--steps",
                                 "1000000000", "--schedule.steps", "0", "--eval-every", "100000",
                                 "--threads", "1", "--profile", file});
  REQUIRE(wait_for([&] {  // long enough to fill the profile
    std::error_code none;
    return fs::exists(scratch / "run/last", none) && metrics(scratch / "run").size() > 900;
  }));
  process.signal(SIGTERM);
  Ended stopped = process.wait();
  CHECK(stopped.code == 75);
  Trace trace(file);
  CHECK(trace.data["complete"] == false);
  CHECK(trace.data["most_events"] == 200000);
  CHECK(trace.spans.size() <= 200000);
  CHECK(trace.spans.size() > 190000);
  int last = trace.data["last_step"];
  CHECK(stopped.says("has steps 1 to " + std::to_string(last) + " of those up to "));
  CHECK(stopped.says("200000 events are recorded at most"));
  check_nesting(trace);
  check_steps(trace, 1, last);
}

}  // namespace sinter::detail::testing::profile_tests
