// SPDX-License-Identifier: Apache-2.0
// What a memory policy saves costs no bit: every way to run a step gives the bytes of the plain
// one, in the memory that was planned.
#include <doctest/doctest.h>

#include <thread>

#include "program/models.hpp"
#include "program/poison.hpp"
#include "sinter/memory/checkpoint.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/precision/fp64.hpp"
#include "sinter/trainer/trainer.hpp"

namespace acme {

/// A third party's memory policy: only every second unit is recomputed.
struct CheckpointEverySecond {
  using slot = sinter::slot::memory;
  static constexpr bool recomputed_inside(const sinter::detail::Layer&) { return false; }
  static constexpr sinter::Program rewrite(const sinter::Model& model,
                                           const sinter::Program& program) {
    sinter::Program result = sinter::detail::room_for(program);
    for (const sinter::Instruction& i : program) {
      bool backward = i.kind->phases == sinter::detail::calls_of(sinter::detail::Phase::backward);
      if (backward && i.what % 2 == 1 && model.plan(i.what).saved_bytes > 0)
        result.push_back({&sinter::detail::recompute, i.what, 1, i.when});
      result.push_back(i);
    }
    return result;
  }
};

}  // namespace acme

namespace sinter::detail::testing::same_bits_tests {

using Full = Checkpoint<{.policy = full}>;
using Selective = Checkpoint<{.policy = selective}>;
using EverySecond = Checkpoint<{.policy = selective, .every = 2}>;
using Once = Batch<{.global = 3, .micro = 3}>;
using Thrice = Batch<{.global = 3, .micro = 1}>;

/// What three steps leave behind.
struct Trace {
  std::vector<double> losses, norms;
  std::vector<std::vector<std::byte>> persistent;
  bool operator==(const Trace&) const = default;
};

template <class R>
class Subject {
  static_assert(ready<R>());
  Ranks ranks{Plan<R>::view, view_of<R>()};
  Poison poison{Plan<R>::view, Plan<R>::view.training};

 public:
  /// Poisoned memory; an evaluation and a prediction between steps where asked for.
  Trace three_steps(bool with_evaluation = false) {
    Trace trace;
    for (int step = 1; step <= 3; ++step) {
      HostBatch batch = letters(step == 2 ? std::vector{6, 6, 6} : std::vector{4, 6, 1}, step);
      ranks.observers[0] = &poison;
      trace.losses.push_back(ranks.train(batch, step));
      trace.norms.push_back(ranks.machine().figures().gradient_norm);
      trace.persistent.push_back(ranks.persistent());
      ranks.observers[0] = nullptr;
      if (!with_evaluation) continue;
      ranks.evaluate(letters({6, 2, 3, 6, 5}, 9));
      ranks.predict(letters({3}, 8));
    }
    return trace;
  }

  /// Bytes of the arena that a step on a full batch changes, up to the highest of them.
  static std::int64_t touched_bytes() {
    std::int64_t touched = 0;
    for (std::byte pattern : {std::byte(0xA5), std::byte(0x5A)}) {
      Ranks fresh(Plan<R>::view, view_of<R>());
      auto arena = fresh.machine().arena();
      std::ranges::fill(arena.subspan(std::size_t(Plan<R>::training.persistent)), pattern);
      fresh.train(letters({6, 6, 6}), 1);
      for (std::int64_t k = touched; k < std::int64_t(arena.size()); ++k)
        if (arena[std::size_t(k)] != pattern) touched = k + 1;
    }
    return touched;
  }
};

template <class A, class B>
void same() {
  Trace a = Subject<A>().three_steps(), b = Subject<B>().three_steps();
  REQUIRE(std::isfinite(a.losses[2]));
  CHECK(a.losses[0] != a.losses[2]);
  CHECK(a == b);
}

/// The peak of the training program is the planned one, to the padding of a line.
template <class R>
void peaks_as_planned() {
  std::int64_t touched = Subject<R>::touched_bytes();
  CHECK(touched <= Plan<R>::training.peak);
  CHECK(touched > Plan<R>::training.peak - 64);
}

template <class... Policies>
using Gpt = Made<Letters, Gpt2<tiny>, Policies...>;
template <class... Policies>
using Two = Made<Letters, Fused, Policies...>;

TEST_CASE("recomputed units change no bit") {
  same<Gpt<Once>, Gpt<Once, Full>>();
  same<Gpt<Thrice, Fp64>, Gpt<Thrice, Fp64, Full>>();
  same<Two<Thrice>, Two<Thrice, Full>>();
  same<Two<Thrice, Bf16>, Two<Thrice, Bf16, Full>>();
}
TEST_CASE("recomputed cheap layers change no bit") {
  same<Gpt<Once>, Gpt<Once, Selective>>();
  same<Gpt<Thrice, Fp64>, Gpt<Thrice, Fp64, Selective>>();
  same<Two<Thrice>, Two<Thrice, Selective>>();
}
TEST_CASE("cheap layers recomputed in every second unit change no bit") {
  same<Gpt<Once>, Gpt<Once, EverySecond>>();
  same<Gpt<Thrice, Fp64>, Gpt<Thrice, Fp64, EverySecond>>();
  constexpr auto bytes = [](auto plan) { return decltype(plan)::training.peak; };
  static_assert(bytes(Plan<Gpt<Once, Selective>>{}) < bytes(Plan<Gpt<Once, EverySecond>>{}));
  static_assert(bytes(Plan<Gpt<Once, EverySecond>>{}) < bytes(Plan<Gpt<Once>>{}));
}
TEST_CASE("a third party's memory policy changes no bit") {
  same<Gpt<Once>, Gpt<Once, acme::CheckpointEverySecond>>();
  constexpr auto bytes = [](auto plan) { return decltype(plan)::training.peak; };
  static_assert(bytes(Plan<Gpt<Once, Full>>{}) <
                bytes(Plan<Gpt<Once, acme::CheckpointEverySecond>>{}));
  static_assert(bytes(Plan<Gpt<Once, acme::CheckpointEverySecond>>{}) < bytes(Plan<Gpt<Once>>{}));
}
TEST_CASE("buckets of one rank change no bit") {
  same<Gpt<Thrice>, Gpt<Thrice, Ddp<{.bucket_bytes = 500, .ranks = 1}>, Full>>();
}

/// The copy that an optimizer makes is that of a cast.
struct Descent : PlainDescent {
  static constexpr bool casts = true;
  static void update(const Options& o, const auto& s) {
    PlainDescent::update(o, s);
    for (std::int64_t k = 0; s.copy && k < s.size; ++k) s.copy[k] = BFloat16(s.master[k]);
  }
};
TEST_CASE("a copy of the weights made by the optimizer changes no bit") {
  same<Gpt<Thrice, Bf16, PlainDescent>, Gpt<Thrice, Bf16, Descent>>();
}

TEST_CASE("the peak is the planned one") {
  peaks_as_planned<Gpt<Once>>();
  peaks_as_planned<Gpt<Once, Full>>();
  peaks_as_planned<Gpt<Once, Selective>>();
  peaks_as_planned<Gpt<Once, EverySecond>>();
  peaks_as_planned<Gpt<Thrice, Fp64, Full>>();
  peaks_as_planned<Two<Thrice, Selective>>();
  peaks_as_planned<Gpt<Once, acme::CheckpointEverySecond>>();
}

TEST_CASE("an evaluation or prediction between steps changes nothing") {
  CHECK(Subject<Gpt<Thrice>>().three_steps(true) == Subject<Gpt<Thrice>>().three_steps(false));
  using Recomputed = Gpt<Thrice, Fp64, Full>;
  CHECK(Subject<Recomputed>().three_steps(true) == Subject<Recomputed>().three_steps(false));
}

/// All that a trainer of this recipe tells after some steps.
template <class R>
std::vector<double> train_alone(std::uint64_t seed) {
  Trainer<R> trainer({.seed = seed, .threads = 2});
  std::vector<double> told;
  for (int step = 0; step < 20; ++step) {
    Outcome outcome = trainer.step(letters({4, 6, 1}, step));
    told.push_back(std::get<Applied>(outcome).loss.mean());
    told.push_back(std::get<Applied>(outcome).gradient_norm);
    told.push_back(trainer.evaluate(letters({6, 5}, step)).mean());
    for (float v : trainer.predict(letters({3}, step)).values) told.push_back(v);
  }
  for (const Parameter& p : trainer.parameters())
    for (double v : trainer.parameter(p.name)) told.push_back(v);
  return told;
}

TEST_CASE("two trainers on two threads give what each alone gives") {
  using A = Gpt<Thrice>;
  using B = Two<Once, Fp64>;
  auto a = train_alone<A>(1), b = train_alone<B>(2), other_a = train_alone<A>(3);
  CHECK(a != other_a);
  decltype(a) same_a, same_b, second_a;
  std::thread first([&] { same_a = train_alone<A>(1); });
  std::thread second([&] { same_b = train_alone<B>(2); });
  second_a = train_alone<A>(3);
  first.join();
  second.join();
  CHECK(a == same_a);
  CHECK(b == same_b);
  CHECK(other_a == second_a);
}

}  // namespace sinter::detail::testing::same_bits_tests
