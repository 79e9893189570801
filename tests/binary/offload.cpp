// SPDX-License-Identifier: Apache-2.0
// A recipe whose optimizer's state is on disk.
#include "binary/support.hpp"

TEST_CASE("a run whose state is on disk is stopped, and goes on with the same bits") {
  Scratch scratch;
  const Words data{"train",  "--data",    write(scratch / "text", some_text(3000)),
                   "--seed", "7",         "--eval-every",
                   "10",     "--scratch", "/var/tmp"};
  const std::string whole = scratch / "whole", parts = scratch / "parts";
  fine(data + Words{"--out", whole, "--steps", "20"}, SINTER_OFFLOADED);
  fine(data + Words{"--out", parts, "--steps", "10"}, SINTER_OFFLOADED);
  fine(data + Words{"--out", parts, "--steps", "20", "--resume"}, SINTER_OFFLOADED);
  require_same_end(whole, parts);
}

TEST_CASE("where state cannot lie is refused before the first step") {
  Scratch scratch;
  const std::string text = write(scratch / "text", some_text(3000));
  const Words train{"train", "--data", text, "--out", scratch / "run", "--scratch"};
  check_refused(run(train + Words{scratch / "none"}, SINTER_OFFLOADED), 1,
                "in " + scratch / "none" + ": No such file or directory. Name a folder on a disk");
  check_refused(run(train + Words{"/var/tmp"}), 2,
                "--scratch is for recipes that offload state to disk");
  CHECK(!fs::exists(scratch / "run"));
}

TEST_CASE("describe says what is outside of the arena") {
  const Json memory = run({"describe", "--json"}, SINTER_OFFLOADED).json()["memory"];
  CHECK(memory["optimizer"] == 0);
  CHECK(memory["offloaded"] == 2 * memory["parameters"].get<std::int64_t>());
  CHECK(run({"describe"}, SINTER_OFFLOADED).out.find(" bytes on disk, in no sum above\n") !=
        std::string::npos);
}
