// SPDX-License-Identifier: Apache-2.0
// Runs whose ranks are processes with a card each, as launchers start them, on the emulated device.
#include "binary/launched.hpp"

namespace {

Words training(const Scratch& scratch, const std::string& out, const Words& more) {
  return Words{"train", "--data", write(scratch / "text", some_text(3000)), "--out",
               scratch / out} +
         Words{"--seed", "7", "--eval-every", "10", "--save-every", "4"} + more;
}

TEST_CASE("launched ranks train, go on from a checkpoint bit for bit, and evaluate together") {
  Scratch scratch;
  const auto train = [&](const std::string& out, const char* steps, const Words& more = {}) {
    check_ended(Launched(2, training(scratch, out, Words{"--steps", steps} + more)).wait(), 0);
  };
  train("whole", "20");
  train("parts", "10");
  train("parts", "20", {"--resume"});
  require_same_end(scratch / "whole", scratch / "parts");
  const Words held_out{"eval", "--held-out", "--weights", scratch / "whole", "--json"};
  const std::vector<Ended> all = Launched(2, held_out).wait();
  check_ended(all, 0);
  CHECK(all[0].json()["loss"] == metrics(scratch / "whole").back()["val_loss"]);
}

TEST_CASE("when a rank dies, the other says which, and any number of ranks goes on") {
  Scratch scratch;
  Launched launched(2, training(scratch, "run", endless));
  wait_for_steps(scratch / "run", 6);
  const auto begin = std::chrono::steady_clock::now();
  launched[1].signal(SIGKILL);
  const std::vector<Ended> all = launched.wait();
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
  CHECK_MESSAGE(all[0].code == 1, all[0].err);
  CHECK_MESSAGE(all[0].says("rank 1 (process "), all[0].err);
  CHECK_MESSAGE(all[0].says(" has died."), all[0].err);
  const std::string steps = std::to_string(newest_step(scratch / "run") + 3);
  const Words on{"train", "--resume", "--out", scratch / "run", "--steps", steps};
  fine(on + Words{"--parallel.ranks", "1"});
  CHECK(newest_step(scratch / "run") == std::stoi(steps));
}

TEST_CASE("a signal to one rank stops both after the same step") {
  Scratch scratch;
  Launched launched(2, training(scratch, "run", endless));
  wait_for_steps(scratch / "run", 6);
  launched[1].signal(SIGTERM);
  check_ended(launched.wait(), 75);
}

TEST_CASE("options that ranks on cards do not support are refused") {
  Scratch scratch;
  const Words usual = training(scratch, "run", {"--steps", "4"});
  for (const Ended& ended : Launched(2, usual + Words{"--device.card", "1"}).wait())
    check_refused(ended, 2, "Leave --device.card out; CUDA_VISIBLE_DEVICES says which");
  for (const Ended& ended : Launched(2, usual, SINTER_SMALL, {"--optimizer.lr", "0.5"}).wait())
    check_refused(ended, 1, "options is ");
  check_refused(run(usual + Words{"--parallel.ranks", "2"}), 1,
                "On cards each rank is a process. Start as many as there are ranks, by a launcher");
  CHECK(!fs::exists(scratch / "run"));
}

}  // namespace
