// SPDX-License-Identifier: Apache-2.0
// Threads that stay on processors of their own.
#include "binary/support.hpp"
#include "support/one_processor.hpp"

namespace sinter::detail::testing::pin_tests {

TEST_CASE("--pin changes no bit, and needs a processor for each thread") {
  Scratch scratch;
  const Words data{"--data", write(scratch / "text", some_text(3000))};
  const std::string free = scratch / "free", pinned = scratch / "pinned";
  for (const char* ranks : {"1", "2"}) {
    const Words train =
        Words{"train", "--seed", "7", "--steps", "6", "--parallel.ranks", ranks} + data;
    const Words two = train + Words{"--threads", "2"};
    fine(two + Words{"--out", free + ranks});
    const Ended ended = run(two + Words{"--out", pinned + ranks, "--pin"});
    cpu_set_t allowed;
    REQUIRE(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
    if (CPU_COUNT(&allowed) < 2) return check_refused(ended, 1, "to have a processor each");
    REQUIRE_MESSAGE(ended.code == 0, ended.err);
    require_same_end(free + ranks, pinned + ranks);
  }
  const Words eval = Words{"eval", "--json", "--threads", "1", "--weights", free + "1"} + data;
  const OneProcessor narrowed;
  const double loss = fine(eval).json()["loss"], same = fine(eval + Words{"--pin"}).json()["loss"];
  CHECK(loss == same);
  const Words alone = {"eval", "--json", "--pin", "--weights", free + "1"};  // without --threads
  CHECK(fine(alone + data).json()["loss"] == loss);
  check_refused(
      run({"eval", "--pin", "--threads", "2", "--weights", free + "1", "--data", data[1]}), 1,
      "2 threads are to have a processor each, and this process may run on 1.");
}

TEST_CASE("--pin is refused where LibTorch computes layers") {
  check_refused(run({"eval", "--pin", "--weights", "x", "--data", "y"}, SINTER_MNIST_CNN), 2,
                "--pin: this binary is linked with LibTorch, which computes layers of its recipe");
}

}  // namespace sinter::detail::testing::pin_tests
