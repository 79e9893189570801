// SPDX-License-Identifier: Apache-2.0
// A recipe whose master weights and state are on disk.
#include "binary/support.hpp"

namespace sinter::detail::testing::offload_tests {

TEST_CASE("a run whose weights and state are on disk is stopped, and goes on with the same bits") {
  Scratch scratch;
  const Words data{"train",  "--data",    write(scratch / "text", some_text(3000)),
                   "--seed", "7",         "--eval-every",
                   "10",     "--scratch", "/var/tmp"};
  const std::string whole = scratch / "whole", parts = scratch / "parts";
  fine(data + Words{"--out", whole, "--steps", "20"}, SINTER_OFFLOADED);
  fine(data + Words{"--out", parts, "--steps", "10"}, SINTER_OFFLOADED);
  fine(data + Words{"--out", parts, "--steps", "20", "--resume"}, SINTER_OFFLOADED);
  require_same_end(whole, parts);
  const Words use{"--weights", whole, "--scratch", "/var/tmp"};
  fine(Words{"eval", "--data", scratch / "text"} + use, SINTER_OFFLOADED);
  fine(Words{"generate", "--prompt", "a", "--tokens", "3"} + use, SINTER_OFFLOADED);
  fine(Words{"export", "--out", scratch / "exported"} + use, SINTER_OFFLOADED);
}

TEST_CASE("a place where state cannot be offloaded is refused before the first step") {
  Scratch scratch;
  const std::string text = write(scratch / "text", some_text(3000));
  const Words train{"train", "--data", text, "--out", scratch / "run", "--scratch"};
  check_refused(run(train + Words{scratch / "none"}, SINTER_OFFLOADED), 1,
                "in " + scratch / "none" + ": No such file or directory. Name a folder on a disk");
  check_refused(run(train + Words{"/var/tmp"}), 2, "--scratch is for recipes that offload to disk");
  check_refused(
      run({"export", "--out", scratch / "folder", "--scratch", scratch / "none"}, SINTER_OFFLOADED),
      1, "in " + scratch / "none" + ": No such file or directory");
  CHECK(!fs::exists(scratch / "run"));
}

TEST_CASE("describe says what is outside of the arena") {
  const Json memory = run({"describe", "--json"}, SINTER_OFFLOADED).json()["memory"];
  CHECK(memory["parameters"] == 0);
  CHECK(memory["optimizer"] == 0);
  CHECK(memory["offloaded"] == 3 * memory["gradients"].get<std::int64_t>());
  CHECK(run({"describe"}, SINTER_OFFLOADED).out.find(" bytes on disk, in no sum above\n") !=
        std::string::npos);
}

}  // namespace sinter::detail::testing::offload_tests
