// SPDX-License-Identifier: Apache-2.0
// Under AddressSanitizer, a layer that reads a buffer which is closed is caught where it reads.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>

#include "run/arena_guard.hpp"
#include "sinter/graph/tracer.hpp"
#include "sinter/layer/activation.hpp"
#include "sinter/layer/linear.hpp"
#include "sinter/layer/loss.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing {
namespace {

constexpr int width = 64;

/// y = x. If it Peeks, backward looks at the operand, which it has not said that it keeps.
template <bool Peeks>
struct Copy {
  static constexpr std::array in{width};
  static constexpr std::array out{width};
  static inline const float* operand = nullptr;
  static void forward(auto& c) {
    auto x = c.x(), y = c.y();
    operand = x.data;
    for (int r = 0; r < x.rows; ++r)
      for (int i = 0; i < width; ++i) y.put(r, i, x(r, i));
  }
  static void backward(auto& c) {
    auto dy = c.dy(), dx = c.dx();
    for (int r = 0; r < dy.rows; ++r)
      for (int i = 0; i < width; ++i)
        dx.put(r, i, dy(r, i) + (Peeks ? 0 * operand[r * width + i] : 0));
  }
};
struct Before {
  static constexpr Value<width> trace(auto& g, Value<1> x) { return g("", Linear<1, width>{}, x); }
};
template <bool Peeks>
struct Middle {
  static constexpr Value<width> trace(auto& g, Value<width> x) { return g("", Copy<Peeks>{}, x); }
};
struct After {
  static constexpr Value<1> trace(auto& g, Value<width> x, Value<1> target) {
    return g("loss", MeanSquaredError<1>{}, g("", Linear<width, 1>{}, x), target);
  }
};
template <bool Peeks>
struct Chain {
  using slot = slot::model;
  static constexpr void trace(auto& g) {
    auto x = g.unit("before", Before{}, g.template values<1>());
    x = g.unit("middle", Middle<Peeks>{}, x);
    g.result(g.unit("after", After{}, x, g.template target_values<1>()));
  }
};

/// Takes a step of two micro-batches and an evaluation in a process of its own. Returns what it
/// wrote to standard error; "" if it has ended well.
template <bool Peeks>
std::string complaint() {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    HostBatch batch;
    batch.values = {{0, 1, 2, 3}, {1, 2, 3, 4}};
    batch.starts = {0, 1, 2, 3, 4};
    Trainer<Made<Chain<Peeks>, Batch<{.global = 4, .micro = 2}>>> trainer({.threads = 1});
    (void)trainer.step(batch);
    trainer.evaluate(batch);
    (void)trainer.step(batch);
    _exit(0);
  }
  close(ends[1]);
  std::string said;
  std::array<char, 4096> part;
  for (ssize_t n; (n = read(ends[0], part.data(), part.size())) > 0;)
    said.append(part.data(), std::size_t(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
  return "it has failed: " + said;
}

TEST_CASE("a layer that reads what it has said to read ends well") {
  CHECK(complaint<false>() == "");
}

TEST_CASE("AddressSanitizer catches a layer that reads a closed buffer") {
#if SINTER_GUARDS_ARENA
  const std::string said = complaint<true>();
  CAPTURE(said);
  CHECK(said.find("use-after-poison") != said.npos);
  CHECK(said.find("Copy") != said.npos);
#else
  MESSAGE("skipped: this build has no AddressSanitizer; the preset asan has");
#endif
}

}  // namespace
}  // namespace sinter::detail::testing
