// SPDX-License-Identifier: Apache-2.0
// The default recipe at a tiny size as a user runs it, whose binary computes on the emulated device.
#include <cmath>

#include "binary/support.hpp"

namespace {

TEST_CASE("the default recipe learns, goes on from a checkpoint bit for bit, and is evaluated") {
  Scratch scratch;
  const std::string text = write(scratch / "text", some_text(3000)), whole = scratch / "whole",
                    parts = scratch / "parts";
  const Words train{"train", "--data", text, "--seed", "7", "--eval-every", "20"};
  fine(train + Words{"--out", whole, "--steps", "40"});
  fine(train + Words{"--out", parts, "--steps", "20"});
  fine(train + Words{"--out", parts, "--steps", "40", "--resume"});
  require_same_end(whole, parts);

  const std::vector<Json> rows = metrics(whole);
  REQUIRE(rows.size() == 40);
  CHECK(rows[0]["loss"].get<double>() == doctest::Approx(std::log(256)).epsilon(.02));
  CHECK(rows[39]["loss"].get<double>() < .9 * rows[0]["loss"].get<double>());

  const Json held_out = fine({"eval", "--json", "--held-out", "--weights", whole + "/last"}).json();
  CHECK(held_out["loss"] == rows[39]["val_loss"]);
}

TEST_CASE("describe says that the device is an emulated card") {
  const Ended text = fine({"describe"});
  for (const char* part : {"a card that is emulated on the processor", "device: Cuda"})
    CHECK_MESSAGE(text.out.find(part) != text.out.npos, part);
}

}  // namespace
