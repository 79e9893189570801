// SPDX-License-Identifier: Apache-2.0
// What instructions say to other ranks is what their kinds state. In this build machines hold every call
// against it (src/run/traffic_check.hpp), so that steps of the shipped recipes show it of their kinds.
#include "sinter/parallel/ddp.hpp"
#include "sinter/parallel/split_batch.hpp"
#include "sinter/parallel/zero.hpp"
#include "support/message_of.hpp"
#include "support/trainers.hpp"
#include "unit/proof/telling.hpp"

namespace sinter::detail::testing::traffic_tests {

static_assert(has_thread_ranks);
using Four = Batch<{.global = 4, .micro = 1}>;
const TrainerSettings settings{.seed = 3, .threads = 1};

template <class Model, class... Policies>
void step() {
  Trainer<Made<Letters, Model, Four, Policies...>> trainer(settings);
  for (int s = 0; s < 2; ++s) applied(trainer, letters({5, 3, 6, 2}, s));
}

TEST_CASE("shipped recipes say what their kinds state") {
  step<Gpt2<tiny>>();
  step<Gpt2<tiny>, Ddp<{.bucket_bytes = 500, .ranks = 1}>>();
  step<Gpt2<tiny>, Ddp<{.bucket_bytes = 500}>>();
  step<Gpt2<tiny>, Ddp<{.ranks = 4}>, Bf16>();
  step<Counting, Ddp<>>();
  step<Gpt2<tiny>, Ddp<{.bucket_bytes = 500, .compression = GradientCompression::bf16}>>();
  step<Gpt2<tiny>, Zero<{.bucket_bytes = 500, .ranks = 2}>>();
  step<Gpt2<tiny>, Zero<{.ranks = 4}>, Bf16>();
  step<Gpt2<tiny>, SplitBatch<>>();
  step<Counting, SplitBatch<{.ranks = 4}>, Bf16>();
  step<Gpt2<tiny>, Zero<{.stage = 2, .bucket_bytes = 500, .ranks = 2}>>();
  step<Gpt2<tiny>, Zero<{.stage = 2, .ranks = 4}>, Bf16>();
  step<Gpt2<tiny>, Zero<{.stage = 3, .bucket_bytes = 500, .ranks = 2}>>();
}

/// What is said where an instruction does otherwise than it states.
template <Wrong W, template <Wrong> class Policy = Telling, int Ranks = 2>
std::string refusal() {
  using R = Made<Letters, Gpt2<tiny>, Four, Ddp<{.ranks = Ranks}>, Policy<W>>;
  static_assert(ready<R>());
  Trainer<R> trainer(settings);
  return message_of<Error>([&] { (void)trainer.step(letters({5, 3, 6, 2})); });
}
TEST_CASE("a transfer that differs from what is stated is refused") {
#ifdef NDEBUG
  MESSAGE("without assertions nothing is held against it");
#else
  step<Gpt2<tiny>, Ddp<>, Telling<Wrong::nothing>>();
  const char* another = "starts another transfer: all-reduce of 8 elements of 4 bytes";
  const std::string unstated = refusal<Wrong::unstated>();
  CHECK(contains(unstated, another));
  CHECK(contains(unstated, "the instruction 'tell' of wte+wpe+drop … ln_f"));
  CHECK(contains(unstated, "states: nothing."));
  CHECK(contains(refusal<Wrong::count>(), another));
  CHECK(contains(refusal<Wrong::count>(), "start all-reduce of 9 elements of 4 bytes"));
  CHECK(contains(refusal<Wrong::operation>(), another));
  CHECK(contains(refusal<Wrong::type>(), another));
  CHECK(contains(refusal<Wrong::place>(), another));
  CHECK(contains(refusal<Wrong::root>(), another));
  CHECK(contains(refusal<Wrong::number>(), another));
  CHECK(contains(refusal<Wrong::unawaited>(), "has not done all of it"));
  CHECK(contains(refusal<Wrong::silent>(), "has not done all of it"));
#endif
}

TEST_CASE("messages between two ranks are checked against what is stated") {
  told = told_wrongly = 0;
  step<Gpt2<tiny>, Ddp<{.ranks = 2}>, Passing<Wrong::nothing>>();
  step<Gpt2<tiny>, Ddp<{.ranks = 4}>, Passing<Wrong::nothing>>();
  CHECK(told == 2 * 2 * 2 + 2 * 4);  // steps, ranks, and micro-batches of each
  CHECK(told_wrongly == 0);
#ifndef NDEBUG
  const std::string operation = refusal<Wrong::operation, Passing>();
  CHECK(contains(operation, "starts another transfer: send to rank "));
  CHECK(contains(operation, "Its kind states: start receive from rank "));
  CHECK(contains(refusal<Wrong::root, Passing, 4>(), "starts another transfer: send to rank "));
#endif
}

TEST_CASE("a barrier is checked against what is stated") {
  told = told_wrongly = 0;
  step<Gpt2<tiny>, Ddp<{.ranks = 2}>, Meeting<Wrong::nothing>>();
  CHECK(told == 2 * 2 * 2);  // steps, ranks, and micro-batches of each
#ifndef NDEBUG
  CHECK(contains(refusal<Wrong::operation, Meeting>(), "sums other numbers"));
  CHECK(contains(refusal<Wrong::silent, Meeting>(), "has not done all of it"));
  CHECK(contains(refusal<Wrong::unstated, Meeting>(), "waits for all ranks"));
#endif
}

/// Says nothing, and states that some ranks say something that others do not, from five ranks on.
struct FromFive {
  using slot = telling_slot;
  static constexpr void state(const Model&, const Instruction&, const OnRank& on,
                              TrafficList& out) {
    if (on.ranks == 5 && on.rank == 3)
      out.push_back({Operation::barrier, Traffic::both, Space::decision});
  }
  static constexpr Kind kind{.name = "tell", .touch = touches::nothing, .traffic = state};
  static constexpr Program rewrite(const Model&, Program program) {
    program.insert(program.begin(), {&kind});
    return program;
  }
};

TEST_CASE("ranks that do not fit together are refused before the first step") {
  using R =
      Made<Letters, Gpt2<tiny>, Batch<{.global = 20, .micro = 1}>, Ddp<{.ranks = 5}>, FromFive>;
  static_assert(ready<R>());  // it is proved for fewer
  const std::string message = message_of<Error>([] { Trainer<R> trainer(settings); });
  CHECK(contains(message, "the programs of 5 ranks do not fit together with 4 micro-batches: "));
  CHECK(contains(message, "ranks differ in the operation, rank "));
  CHECK(contains(message, "rank 3 in 'tell' (instruction 0)"));
  CHECK(contains(message, " in 'reduce of "));
}

}  // namespace sinter::detail::testing::traffic_tests
