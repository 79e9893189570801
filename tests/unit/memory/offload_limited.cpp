// SPDX-License-Identifier: Apache-2.0
// A process that may not have so much memory as a step needs trains when its state is on disk. (No memory of
// a process that is not swapped comes back by itself: what is mapped counts, and files do not.)
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <cstdio>
#include <string>

#include "sinter/hardware/available.hpp"
#include "sinter/kernels/matmul_rate.hpp"
#include "sinter/memory/offload.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/trainer/trainer.hpp"
#include "support/batches.hpp"
#include "support/ended.hpp"
#include "support/folder.hpp"
#include "support/recipes.hpp"

namespace sinter::detail::testing {
namespace {

constexpr int context = 8, vocabulary = 29;
template <class... Policies>
using Wide = Made<
    Gpt2<{.layers = 16, .heads = 4, .width = 256, .vocabulary = vocabulary, .positions = context}>,
    UpTo<context, vocabulary>, Batch<{.global = 1, .micro = 1}>, Policies...>;
using Kept = Wide<>;
using Away = Wide<Offload<>>;

/// What a process says that may map so many bytes more, beside what LibTorch takes where it multiplies.
template <class R>
std::string train_within(std::int64_t bytes, const std::filesystem::path& folder) {
  const Ended ended = ended_by([&] {
    const auto library = kernel::matmul_library<float>();  // opened here, if it is
    bytes += kernel::matmul_workspace(library).mapped;
    const std::int64_t huge = std::int64_t(1) << 60;
    setrlimit(RLIMIT_DATA, std::make_unique<rlimit>(rlimit{rlim_t(huge), rlim_t(huge)}).get());
    const std::int64_t taken = huge - mappable_memory().bytes;
    const rlimit limit{rlim_t(taken + bytes), rlim_t(taken + bytes)};
    setrlimit(RLIMIT_DATA, &limit);
    try {
      Trainer<R> trainer({.seed = 3, .threads = 1});
      for (int step = 0; step < 3; ++step)
        (void)trainer.step(token_batch({8}, vocabulary, std::uint64_t(step) + 1));
      trainer.save(folder / "saved");
      trainer.load(folder / "saved");
      std::fprintf(stderr, "loss %a", trainer.evaluate(token_batch({8}, vocabulary, 9)).sum);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s", error.what());
    }
  });
  CHECK(ended.signal == 0);
  return ended.error;
}

/// The trainer, its threads' stacks and what files are read and written through take some beside the plan.
template <class R>
constexpr std::int64_t room = Plan<R>::bytes + (std::int64_t(32) << 20);

/// Checks that `Fits` trains, saves and loads where `Kept` is refused, and comes to the same loss.
template <class Kept, class Fits>
void check_fits() {
  static_assert(Plan<Kept>::bytes > room<Fits>);
  const std::int64_t plenty = std::int64_t(4) << 30;
  const TemporaryFolder kept, offload, limited;
  const std::string refused = train_within<Kept>(room<Fits>, kept.path());
  CHECK(refused.find("the plan needs ") != std::string::npos);
  CHECK(refused.find("the process' limit RLIMIT_DATA leaves ") != std::string::npos);
  const std::string loss = train_within<Fits>(room<Fits>, limited.path());
  CHECK(loss.starts_with("loss "));
  CHECK(loss == train_within<Kept>(plenty, kept.path()));
  CHECK(loss == train_within<Fits>(plenty, offload.path()));
}

TEST_CASE("a run that does not fit without Offload fits with it") { check_fits<Kept, Away>(); }
TEST_CASE("a run that does not fit with offloaded state fits if weights are offloaded, too") {
  check_fits<Away, Wide<Offload<{.weights = true}>>>();
}

}  // namespace
}  // namespace sinter::detail::testing
