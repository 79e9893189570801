// SPDX-License-Identifier: Apache-2.0
// A disk that is full, or fails, ends a step whose state lies there with one clear error, and what was saved
// is as it was.
#include <doctest/doctest.h>

#include <cerrno>
#include <string>

#include "faults/files_calls.hpp"
#include "sinter/memory/offload.hpp"
#include "support/message_of.hpp"
#include "unit/parallel/zero_recipes.hpp"

static int fallocate_error = 0;
extern "C" int posix_fallocate(int file, off_t from, off_t bytes) {
  if (fallocate_error) return fallocate_error;
  return ::syscall(SYS_fallocate, file, 0, from, bytes) == 0 ? 0 : errno;
}

namespace sinter::detail::testing {
namespace {

using EachUnit = Offload<{.bucket_bytes = 1}>;
template <class... Policies>
using TrainerOf = Trainer<Tiny<Decaying, Policies...>>;
const TrainerSettings settings{.seed = 3, .threads = 2};

TEST_CASE("a disk without the room says so before anything is done") {
  TrainerOf<EachUnit> trainer(settings);
  const NamedNumbers before = parameters_of(trainer);
  fallocate_error = ENOSPC;
  const std::string said = message_of([&] { (void)trainer.step(batch_of(0)); });
  fallocate_error = 0;
  CHECK(said.find("Cannot take ") == 0);
  CHECK(said.find("No space left on device") != std::string::npos);
  CHECK(said.find("--scratch FOLDER") != std::string::npos);
  CHECK(parameters_of(trainer) == before);
  CHECK(std::holds_alternative<Applied>(trainer.step(batch_of(0))));  // there is room now
}

/// The error of a step of which transfer number `at` fails, if there are so many.
template <class... Policies>
std::string failure(const fs::path& from, int at) {
  TrainerOf<EachUnit, Policies...> trainer(settings);
  trainer.load(from);
  std::string said;
  arm(Fault::error, at, EIO, true);
  try {
    (void)trainer.step(batch_of(3));
    disarm();
    return said;
  } catch (const FileError& error) {
    said = error.what();
  }
  disarm();
  // What is in the file is of no one step, and nobody takes it for one.
  if (said.find("Cannot write") == 0) {
    CHECK_THROWS_AS(trainer.save(from.parent_path() / "broken"), FileError);
    CHECK(!fs::exists(from.parent_path() / "broken"));
  }
  CHECK_THROWS_AS((void)trainer.step(batch_of(3)), Error);
  return said;
}

template <class... Policies>
void check_failures() {
  const TemporaryFolder folder;
  TrainerOf<EachUnit, Policies...> trainer(settings);
  take_steps(trainer, 0, 3);
  trainer.save(folder / "saved");
  int reads = 0, writes = 0, at = 1;
  for (std::string said; !(said = failure<Policies...>(folder / "saved", at)).empty(); ++at) {
    reads += said.find("Cannot read the file of offloaded state in ") == 0;
    writes += said.find("Cannot write the file of offloaded state in ") == 0;
    CHECK(said.find("Input/output error") != std::string::npos);
    CHECK(said.find("go on from the last checkpoint") != std::string::npos);
  }
  CHECK(reads > 4);
  CHECK(writes > 4);
  CHECK(reads + writes == at - 1);
  take_steps(trainer, 3, 5);
  TrainerOf<EachUnit, Policies...> resumed(settings);
  resumed.load(folder / "saved");
  take_steps(resumed, 3, 5);
  CHECK(differences(all_of(resumed), all_of(trainer)).empty());
}
TEST_CASE("a disk that fails in a step ends it") { check_failures<>(); }
TEST_CASE("a disk that fails one of two ranks ends the step of both") {
  check_failures<Split<2>>();
}

}  // namespace
}  // namespace sinter::detail::testing
