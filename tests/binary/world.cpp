// SPDX-License-Identifier: Apache-2.0
// What describe --world forecasts of more ranks, and what it refuses.
#include "binary/support.hpp"

namespace sinter::detail::testing::world_tests {

const std::vector<std::string> quick{"describe",         "--json",     "--link-latency", "0",
                                     "--link-bandwidth", "1000000000", "--world"};
Json world_of(std::vector<std::string> words, const std::string& number,
              const std::string& binary = SINTER_SMALL, const std::vector<std::string>& more = {}) {
  words.push_back(number);
  words.insert(words.end(), more.begin(), more.end());
  return run(words, binary).json()["world"];
}
bool near(const Json& value, double expected) {
  return std::abs(value.get<double>() - expected) <= 1e-6 * expected;
}

TEST_CASE("describe --world has a step of as many ranks") {
  const Json w = world_of({"describe", "--json", "--world"}, "1024");
  CHECK(w["ranks"] == 1024);
  CHECK(w["micro_batches"] == 4);  // 8 sequences, 2 at once
  CHECK(w["tokens_per_step"] == 1024 * 8 * 16);
  CHECK(w["step_s"].get<double>() ==
        doctest::Approx(w["computing_s"].get<double>() + w["exposed_s"].get<double>()));
  CHECK(w["exposed_s"] > 0);
  CHECK(w["waiting_for_straggler_s"] == 0);
  CHECK(w["link"]["latency_measured"] == true);
  CHECK(w["link"]["bandwidth_measured"] == true);
  CHECK(!run({"describe", "--json"}).json().contains("world"));
}

TEST_CASE("a forecast in JSON says its facts as the text does") {
  const Json w = world_of(quick, "4");
  CHECK(w["threads"].get<int>() > 0);
  CHECK(w["tokens_per_s"].get<double>() ==
        doctest::Approx(w["tokens_per_step"].get<double>() / w["step_s"].get<double>()));
  REQUIRE(w["measured"].size() == 1);
  CHECK(w["measured"][0].get<std::string>().starts_with("matmuls at "));
  Words words = quick;
  std::erase(words, "--json");
  words.push_back("4");
  const std::string text = run(words).out;
  REQUIRE(w["assumed"].size() > 2);
  for (const Json& fact : w["assumed"])
    CHECK_MESSAGE(text.find("  " + fact.get<std::string>() + "\n") != text.npos, fact);
}

TEST_CASE("every rank of Ddp needs all, and sends its gradients nearly twice") {
  const Json d = run({"describe", "--json", "--world", "4"}).json(), &w = d["world"];
  CHECK(w["memory"] == d["memory"]);
  const double elements = d["memory"]["gradients"].get<double>() / 4;
  CHECK(w["sent_bytes_of_each_rank"].get<double>() ==
        doctest::Approx(2. * 3 / 4 * (4 * elements + 2 * 8)).epsilon(0.02));
  CHECK(w["sent_bytes"].get<double>() / 4 ==
        doctest::Approx(w["sent_bytes_of_each_rank"].get<double>()).epsilon(1e-6));
}

TEST_CASE("a rank of Zero needs its shard of the optimizer's state") {
  const Json d = run({"describe", "--json", "--world", "8"}, SINTER_SHARDED).json();
  const double ranks = d["options"]["parallel.ranks"], here = d["memory"]["optimizer"],
               there = d["world"]["memory"]["optimizer"];
  CHECK(there < here);
  const double padding = 12'000;  // of 5 units, two parts each, two numbers for an element
  CHECK(std::abs(8 * there - ranks * here) < padding);
  CHECK(d["world"]["memory"]["total"] < d["memory"]["total"]);
}

TEST_CASE("a link and a straggler that are given are taken") {
  const Json plain = world_of(quick, "64");
  CHECK(plain["link"] == Json{{"latency_s", 0.},
                              {"latency_measured", false},
                              {"bytes_per_s", 1e18},
                              {"bandwidth_measured", false}});
  CHECK(plain["exposed_s"] < 1e-9);
  const Json late = world_of(quick, "64", SINTER_SMALL, {"--straggler", "1.5"});
  const double computing = late["computing_s"];
  CHECK(near(late["step_s"], 1.5 * computing));
  CHECK(near(late["waiting_for_straggler_s"], 0.5 * computing));
  const Json slow = world_of({"describe", "--json", "--link-latency", "1000000", "--world"}, "2");
  CHECK(slow["step_s"] > 2);  // two rounds of the votes alone
  CHECK(slow["link"]["bandwidth_measured"] == true);
}

TEST_CASE("times of a profile are those of its instructions") {
  Scratch scratch;
  const std::string text = write(scratch / "text", some_text(3000)), file = scratch / "profile";
  fine({"train", "--data", text, "--out", scratch / "run", "--steps", "6", "--profile", file});
  double all = 0;
  Json profile = Json::parse(content(file));
  std::map<std::string, std::vector<double>> first;
  for (Json& event : profile["traceEvents"])
    if (event.value("cat", "") == "instruction") event["dur"] = 1000.;
  std::ofstream(file) << profile;
  const Json steps = run({"describe", "--json", "--program"}).json()["program"];
  bool inside = false;
  for (const Json& step : steps) {
    const std::string name = step["instruction"];
    if (name == "loop") inside = true;
    if (name == "end") inside = false;
    if (name == "loop" || name == "end" || name == "reduce" || name == "await reduce") continue;
    all += (inside && step["when"] == "always" ? 4 : 1) * 1e-3;
  }
  const Json w = world_of(quick, "16", SINTER_SMALL, {"--times", file});
  CHECK(near(w["computing_s"], all));

  Ended other = run({"describe", "--world", "2", "--times", file}, SINTER_SHARDED);
  check_refused(other, 1, "it has no time of instruction");
  CHECK(other.says("Give a file that `train --profile` of this very binary has written."));
  check_refused(run({"describe", "--world", "2", "--times", text}), 1, "it is no profile");
  check_refused(run({"describe", "--world", "2", "--times", scratch / "none"}), 1, "none");
}

TEST_CASE("what is offloaded moves over a disk, which a step waits for") {
  const Json d =
      run({"describe", "--json", "--world", "4", "--scratch", "/var/tmp"}, SINTER_OFFLOADED).json();
  const Json &w = d["world"], &measured = w["offload"];
  CHECK(w["memory"] == d["memory"]);
  const double masters = d["memory"]["gradients"], stored = 3 * masters;
  CHECK(measured["stored_bytes"] == stored);
  // 4 micro-batches read the masters of a unit before its forward, and most before their backward, too.
  CHECK(measured["fetched_bytes"] > stored + 4 * masters);
  CHECK(measured["fetched_bytes"] <= stored + 8 * masters);
  CHECK(measured["measured"] == true);
  CHECK(measured["fetched_bytes_per_s"] > 0);
  CHECK(measured["taken_from_computing"] == w["taken_from_computing"]);

  const Json slow = world_of(quick, "4", SINTER_OFFLOADED, {"--disk-bandwidth", "1e-6"});
  CHECK(slow["offload"]["measured"] == false);
  CHECK(slow["offload"]["fetched_bytes_per_s"] == 1000);
  const double moved = (stored + measured["fetched_bytes"].get<double>()) / 1000,
               waits = slow["offload"]["waiting_s"], computing = slow["computing_s"];
  CHECK(waits <= moved);
  CHECK(waits > moved - computing);
  CHECK(slow["step_s"].get<double>() ==
        doctest::Approx(computing + waits + slow["exposed_s"].get<double>()));
  const Json fast = world_of(quick, "4", SINTER_OFFLOADED, {"--disk-bandwidth", "1e9"});
  CHECK(fast["offload"]["waiting_s"] < 1e-9);
  CHECK(!world_of(quick, "4").contains("offload"));

  const std::string text =
      fine({"describe", "--world", "4", "--disk-bandwidth", "2.5"}, SINTER_OFFLOADED).out;
  CAPTURE(text);
  auto has = [&](const std::string& part) { return text.find(part) != text.npos; };
  CHECK(has(" bytes on disk, in no sum above\n        sends "));
  CHECK(has(" a step, of what is on disk, and stores "));
  CHECK(has(" of waiting for the disk ("));
  CHECK(
      has(" a disk that reads and writes 2.50 GB/s together beside the computation, as is said\n"));
}

TEST_CASE("times of a profile have no waits for a disk in them") {
  Scratch scratch;
  const std::string text = write(scratch / "text", some_text(3000)), file = scratch / "profile";
  fine({"train", "--data", text, "--out", scratch / "run", "--steps", "4", "--profile", file,
        "--scratch", "/var/tmp"},
       SINTER_OFFLOADED);
  const Words asked{"--times", file, "--disk-bandwidth", "1e9"};
  const double computing = world_of(quick, "2", SINTER_OFFLOADED, asked)["computing_s"];
  Json profile = Json::parse(content(file));
  int moves = 0;
  for (Json& event : profile["traceEvents"]) {
    const std::string name = event.value("name", "");
    const bool moved =
        name.starts_with("fetch ") || name.starts_with("store ") || name.starts_with("await ");
    if (event.value("cat", "") == "instruction" && moved) event["dur"] = 1e9, ++moves;
  }
  CHECK(moves > 0);
  std::ofstream(file) << profile;
  CHECK(near(world_of(quick, "2", SINTER_OFFLOADED, asked)["computing_s"], computing));
}

TEST_CASE("describe --world for people says what was measured and what was assumed") {
  const std::string text = fine({"describe", "--world", "1024", "--straggler", "2"}).out;
  CAPTURE(text);
  auto has = [&](const std::string& part) { return text.find(part) != text.npos; };
  CHECK(has(
      "world   1,024 ranks, each with 4 micro-batches of 2 sequences: 131,072 tokens a step\n"));
  CHECK(has("\n        measured    matmuls at "));
  CHECK(has(" between two ranks of this host, over shared memory\n"));
  CHECK(has("\n        assumed     computing at these rates, which is a bound (--times FILE"));
  CHECK(has("a last rank that computes 2 times as long\n"));
  CHECK(has(" wait for the slow rank\n"));
  const std::string given =
      fine({"describe", "--world", "8", "--link-latency", "5", "--link-bandwidth", "12.5"}).out;
  CHECK(given.find("        a latency of 5.0 µs and 12.5 GB/s between ranks, as is said\n") !=
        given.npos);
}

TEST_CASE("a world that cannot be is refused") {
  const auto refuses = [](const std::vector<std::string>& words, const std::string& why,
                          const std::string& binary = SINTER_SMALL) {
    Ended ended = run(words, binary);
    CAPTURE(ended.err);
    CHECK(ended.code == 2);
    CHECK(ended.says(why));
    CHECK(ended.out.empty());
  };
  refuses({"describe", "--world", "0"}, "--world takes a whole number of at least 1 and at most ");
  refuses({"describe", "--world", "-4"}, "--world takes a whole number");
  refuses({"describe", "--world", "100000"}, "at most 16384");
  refuses({"describe", "--world", "2", "--link-latency", "-1"},
          "--link-latency takes a number of at least 0, not '-1'");
  refuses({"describe", "--world", "2", "--link-bandwidth", "0"},
          "--link-bandwidth takes a number above 0, not '0'");
  refuses({"describe", "--world", "2", "--straggler", "0.5"},
          "--straggler takes a number of at least 1, not '0.5'");
  for (const char* flag : {"--link-latency", "--link-bandwidth", "--disk-bandwidth", "--straggler",
                           "--times", "--scratch"})
    refuses({"describe", flag, "2"},
            std::string(flag) + " is of a forecast for several ranks. Give --world N, too.",
            SINTER_OFFLOADED);
  refuses({"describe", "--world", "2", "--disk-bandwidth", "0"},
          "--disk-bandwidth takes a number above 0, not '0'", SINTER_OFFLOADED);
  refuses({"describe", "--world", "2", "--disk-bandwidth", "2"},
          "--disk-bandwidth is for recipes that offload to disk (Offload), and this one does not.");
  refuses({"describe", "--world", "2", "--scratch", "/var/tmp"},
          "--scratch is for recipes that offload to disk (Offload), and this one does not.");
  refuses({"describe", "--world", "2", "--disk-bandwidth", "2", "--scratch", "/var/tmp"},
          "--scratch says where a disk is measured, and --disk-bandwidth what it does. Give one",
          SINTER_OFFLOADED);
  refuses({"describe", "--world", "2"},
          "--world: the recipe ramp has one rank, as its type says. Give it Ddp<> or Zero<>",
          SINTER_RAMP);
  refuses({"train", "--world", "2"}, "--world is a flag of describe, not of train.");
}

}  // namespace sinter::detail::testing::world_tests
