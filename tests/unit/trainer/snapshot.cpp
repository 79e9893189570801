// SPDX-License-Identifier: Apache-2.0
// A run on a machine that has no memory for the copy from which a checkpoint is written.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "sinter/files/run_folder.hpp"
#include "sinter/sinter.hpp"
#include "unit/files/support.hpp"

namespace {
/// Arrays of so many bytes, or more, get no memory.
std::atomic<std::size_t> too_large = SIZE_MAX;
}  // namespace

void* operator new[](std::size_t bytes) {
  if (bytes < too_large)
    if (void* memory = std::malloc(bytes ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

using namespace sinter;
using namespace sinter::detail;

namespace {

struct fit : Recipe<Mlp<{.in = 2, .hidden = 1024, .out = 1}>, AdamW<{.lr = 1e-2}>,
                    Batch<{.global = 4, .micro = 4}>> {};

/// What a run of four steps leaves, and says.
struct Ended {
  std::vector<std::string> files, warnings;
};
Ended run(std::size_t without) {
  const std::vector<float> inputs{0, 1, 1, 0, 1, 1, 0, 0}, targets{1, 1, 2, 0};
  testing::TemporaryFolder temporary;
  RunFolder folder(temporary / "run", RunFolder::Mode::fresh, 100);
  Trainer<fit> trainer;
  Loop loop(trainer, ArrayData(inputs, 2, targets, 1, {.sequences = 4}), {}, &folder);
  Ended ended;
  too_large = without;
  loop.run({.steps = 4, .save_every = 1, .on_warning = [&](const std::string& text) {
              ended.warnings.push_back(text);
            }});
  too_large = SIZE_MAX;
  for (int step = 1; step <= 4; ++step)
    for (const char* file : {"model.safetensors", "state.safetensors"})
      ended.files.push_back(testing::get(folder.path() / step_folder_name(step) / file));
  return ended;
}

TEST_CASE("without memory for a copy training waits for each checkpoint, and says so once") {
  const Ended plain = run(SIZE_MAX), waiting = run(40'000);  // weights and state have 49 kB
  CHECK(plain.warnings.empty());
  REQUIRE(waiting.warnings.size() == 1);
  CHECK(waiting.warnings[0].find("does not have the memory for a copy of what is to be saved, so "
                                 "training waits for each checkpoint") != std::string::npos);
  CHECK(waiting.files == plain.files);
}

}  // namespace
