// SPDX-License-Identifier: Apache-2.0
// What layers may do with tensors, and what assertions say of what they may not.
#include "sinter/kernels/tensor.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

namespace sinter::kernel {
namespace {

/// Whether work() ends its process by SIGABRT, as an assertion that fails does.
bool aborts(auto work) {
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);  // doctest would catch it
    close(STDERR_FILENO);
    work();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

TEST_CASE("put() assigns or adds, as the tensor says, and does nothing to an empty one") {
  std::array<float, 6> numbers{};
  Tensor<float> assigned(numbers.data(), 2, 3), added(numbers.data(), 2, 3, true);
  assigned.put(1, 2, 4.f);
  CHECK(numbers[5] == 4);
  added.put(1, 2, 3.0);
  CHECK(numbers[5] == 7);
  Tensor<float>().put(0, 0, 1.f);
  Tensor<float>(nullptr, 2, 3, true).put(1, 2, 1.f);
}

TEST_CASE("an assertion finds an element that a tensor or a flat buffer does not have") {
#ifdef NDEBUG
  MESSAGE("skipped: this build has no assertions");
#else
  std::array<float, 12> numbers{};
  Tensor<float> tensor(numbers.data() + 3, 2, 3);
  CHECK(!aborts([&] { tensor(1, 2) = 1; }));
  CHECK(aborts([&] { tensor(2, 0) = 1; }));
  CHECK(aborts([&] { tensor(0, 3) = 1; }));
  CHECK(aborts([&] { tensor(-1, 0) = 1; }));
  CHECK(aborts([&] { tensor.put(0, -1, 1.f); }));
  CHECK(aborts([&] { Tensor<float>()(0, 0) = 1; }));
  Flat<float> flat{numbers.data(), 6};
  CHECK(!aborts([&] { flat[5] = 1; }));
  CHECK(aborts([&] { flat[6] = 1; }));
  CHECK(aborts([&] { flat[-1] = 1; }));
#endif
}

}  // namespace
}  // namespace sinter::kernel
