// SPDX-License-Identifier: Apache-2.0
// What a trainer refuses, with a sentence that helps.
#include <sched.h>

#include <thread>

#include "run/arena_guard.hpp"
#include "sinter/kernels/matmul_rate.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/optimizer/adamw.hpp"
#include "sinter/parallel/ddp.hpp"
#include "support/batches.hpp"
#include "support/folder.hpp"
#include "support/message_of.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing::refusals_tests {

template <class... Policies>
using Net = Made<Mlp<{.in = 2, .hidden = 5, .out = 1}>, Batch<{.global = 4, .micro = 2}>, AdamW<>,
                 Policies...>;
const TrainerSettings settings{.seed = 1, .threads = 1};
HostBatch rows() { return regression_batch({1, 1, 1, 1}, 2, 1, 5); }

/// What work() is refused with.
template <class Mistake = ArgumentError>
std::string refusal(auto work) {
  return refusal_of<Mistake>([&] { work(); });
}
TEST_CASE("inputs of a batch that nothing reads are refused, and named") {
  Trainer<Net<>> trainer(settings);
  HostBatch batch = rows();
  add_values(batch, 3, 1);
  const std::string values =
      "the batch has 3 inputs in values, and the model asks for 2: nothing reads values[2]";
  CHECK(contains(refusal([&] { (void)trainer.step(batch); }), values));
  CHECK(contains(refusal([&] { trainer.evaluate(batch); }), values));
  CHECK(contains(refusal([&] { trainer.predict(batch); }), values));
  CHECK(trainer.steps() == 0);
  batch = rows();
  add_ids(batch, 3, 1);
  CHECK(contains(refusal([&] { (void)trainer.step(batch); }),
                 "the batch has 1 inputs in ids, and the model asks for 0: nothing reads ids[0]"));
  CHECK(
      contains(refusal([&] { (void)trainer.step(batch); }), "such as Mlp<{.classifier = true}>."));
  batch = rows();
  batch.ids.resize(2);  // empty ones are no input
  (void)trainer.step(batch);
  CHECK(trainer.predict(rows()).rows == 4);  // the targets of training are no surplus
}

TEST_CASE("classes that a classifier does not have are refused, and where they stand") {
  Trainer<Made<Mlp<{.in = 2, .hidden = 5, .out = 3, .classifier = true}>,
               Batch<{.global = 4, .micro = 2}>, AdamW<>>>
      trainer(settings);
  HostBatch batch = sequences_of({1, 1, 1, 1});
  add_values(batch, 2, 5);
  batch.ids = {{0, 2, 3, -1}};
  CHECK(contains(refusal([&] { (void)trainer.step(batch); }),
                 "id 3 in row 2 of input 1 is outside the model's table of 3"));
  CHECK(trainer.steps() == 0);
  batch.ids = {{0, 2, 1, -1}};
  (void)trainer.step(batch);
  CHECK(trainer.evaluate(batch).count == 3);  // a row without a class is not predicted
  batch.ids.clear();
  const Prediction logits = trainer.predict(batch);
  CHECK(logits.rows == 4);
  CHECK(logits.columns == 3);
}

TEST_CASE("a number of predictions that is not that of the targets is refused, with both") {
  Trainer<Net<>> trainer(settings);
  HostBatch batch = rows();
  batch.predictions = 3;
  CHECK(contains(refusal([&] { (void)trainer.step(batch); }),
                 "says that it has 3 predictions (HostBatch::predictions), and has 4"));
  CHECK(trainer.steps() == 0);
  batch.predictions = 4;
  (void)trainer.step(batch);
  CHECK(trainer.steps() == 1);
}

TEST_CASE("a name that is not there brings the nearest one") {
  Trainer<Net<>> trainer(settings);
  CHECK(contains(refusal([&] { (void)trainer.parameter("output.wieght"); }),
                 "no parameter named 'output.wieght'; the nearest is 'output.weight'."));
  CHECK(
      contains(refusal([&] { (void)trainer.gradient("inptu.bias"); }), "nearest is 'input.bias'."));
  CHECK(contains(refusal([&] { (void)trainer.state("exp_avg_qs", "input.bias"); }),
                 "keeps state named 'exp_avg_qs'; the nearest is 'exp_avg_sq'."));
}

TEST_CASE("more threads than a machine can use are refused") {
  const int processors = int(std::thread::hardware_concurrency());
  const std::string told = refusal([] { Trainer<Net<>> trainer({.seed = 1, .threads = 100'000}); });
  CHECK(contains(told, "100000 threads were asked for, and there are " +
                           std::to_string(processors) + " processors here."));
  CHECK(contains(told, "at most " + std::to_string(16 * processors) + " are started"));
  Trainer<Net<>> most({.seed = 1, .threads = 16 * processors});
  CHECK(most.settings().threads == 16 * processors);
}

TEST_CASE("threads to be pinned that are more than the processors are refused") {
  cpu_set_t allowed;
  REQUIRE(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
  const int processors = CPU_COUNT(&allowed);
  const std::string told =
      refusal([&] { Trainer<Net<>> trainer({.seed = 1, .threads = processors + 1, .pin = true}); });
  CHECK(contains(told, std::to_string(processors + 1) + " threads are to have a processor each"));
  CHECK(contains(told, "may run on " + std::to_string(processors) + "."));
}

TEST_CASE("an average that no policy kept is one sentence") {
  TemporaryFolder folder;
  Trainer<Net<>> trainer(settings);
  (void)trainer.step(rows());
  trainer.save(folder / "saved");
  const auto before = trainer.parameter("input.weight");
  const std::string told =
      refusal<FileError>([&] { (void)trainer.load_weights(folder / "saved", "ema"); });
  CHECK(contains(told, "saved has no state 'ema': no policy of the recipe that saved it keeps it"));
  CHECK(contains(told, "without --average"));
  CHECK(!contains(told, "\n"));
  CHECK(trainer.parameter("input.weight") == before);
}

// More than a terabyte of activations, which no machine that runs this has.
template <class... Policies>
using Huge = Made<Mlp<{.in = 1024, .hidden = 1 << 14, .out = 1}>, UpTo<2048>,
                  Batch<{.global = 8192, .micro = 4096}>, AdamW<>, Policies...>;

TEST_CASE("a plan that does not fit into memory is refused before the first step") {
  if (SINTER_GUARDS_ARENA) {  // what guards an arena takes an eighth of it
    MESSAGE("skipped: AddressSanitizer does not have the memory either");
    return;
  }
  const auto check_says_so = [](const std::string& told) {
    CHECK(told.starts_with("the plan needs "));
    CHECK(contains(told, " GiB of memory, and "));
    const bool libtorch = kernel::matmul_library<float>() == kernel::MatmulLibrary::libtorch;
    CHECK(contains(told, "LibTorch's products take up to ") == libtorch);
    CHECK(contains(told, "It would fit with this change to the recipe: Batch<{.micro = 1}>, "));
  };
  if constexpr (!Huge<>::device::on_host) {  // a card gives all of it when the trainer is made
    check_says_so(refusal<Error>([] { Trainer<Huge<>> trainer(settings); }));
    return;
  }
  Trainer<Huge<>> trainer(settings);
  check_says_so(refusal<Error>([&] { (void)trainer.step(HostBatch{}); }));
  check_says_so(refusal<Error>([&] { trainer.require_memory_to_train(); }));
  const HostBatch row = regression_batch({1}, 1024, 1, 5);
  CHECK(trainer.evaluate(row).count == 1);  // takes far less
  if (!has_thread_ranks) return;
  Trainer<Huge<Ddp<{.ranks = 2}>>> ranks(settings);
  CHECK(
      contains(refusal<Error>([&] { (void)ranks.step(HostBatch{}); }), "the plan needs 2 times "));
}

}  // namespace sinter::detail::testing::refusals_tests
