// SPDX-License-Identifier: Apache-2.0
// All ranks together, when the compiler runs them: shipped programs fit together, one that is changed on one
// rank does not.
#include "sinter/data/bytes.hpp"
#include "sinter/memory/checkpoint.hpp"
#include "sinter/memory/offload.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/optimizer/muon.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/parallel/split_batch.hpp"
#include "sinter/parallel/zero.hpp"
#include "sinter/precision/bf16.hpp"
#include "sinter/recipe/plan.hpp"

using namespace sinter;
using namespace sinter::detail;

template <class... Policies>
struct Deep : Recipe<Gpt2<{.layers = 48}>, Bytes<>, Batch<{.global = 32, .micro = 2}>,
                     Checkpoint<{.policy = full}>, Policies...> {};
using Reduced = Deep<Ddp<>>;
static_assert(ready<Reduced>() && ready<Deep<Ddp<{.bucket_bytes = 1}>, Bf16>>());
static_assert(ready<Deep<Zero<{.ranks = 4}>>>() && ready<Deep<Zero<{.ranks = 8}>, Bf16>>());
static_assert(ready<Deep<SplitBatch<>, Bf16>>() && Plan<Deep<SplitBatch<>>>::alike<8, 1>());
static_assert(ready<Deep<Zero<{.stage = 2, .ranks = 8}>, Bf16>>());
static_assert(ready<Deep<Zero<{.stage = 3, .ranks = 4}>>>());
static_assert(ready<Deep<Zero<{.stage = 3, .ranks = 4}>, Bf16, Offload<>>>());
static_assert(ready<Deep<Zero<{.stage = 3, .ranks = 4}>, Bf16, Offload<{.weights = true}>>>());
static_assert(ready<Deep<Zero<{.ranks = 8}>, Muon<>, Bf16>>());
static_assert(ready<Deep<Zero<{.stage = 3, .ranks = 4}>, Muon<>>>());
static_assert(Plan<Reduced>::together<8, 1>.fine());
static_assert(Plan<Reduced>::alike<8, 1>());

/// The verdict on three ranks, the last of which runs a changed program.
constexpr WorldVerdict after(auto change) {
  Program changed(Plan<Reduced>::program.begin(), Plan<Reduced>::program.end());
  change(changed);
  const RankProgram shipped{Plan<Reduced>::program, 2}, other{changed, 2};
  return simulate(Plan<Reduced>::model, std::vector<RankProgram>{shipped, shipped, other});
}
constexpr int position(Role role, int n = 0) {
  for (int t = 0;; ++t)
    if (Plan<Reduced>::program[t].kind->role == role && n-- == 0) return t;
}
constexpr int first = position(Role::reduce), second = position(Role::reduce, 1);
static_assert(after([](Program&) {}).fine());
static_assert(after([](Program& p) { std::swap(p[2], p[3]); }).fine(), "they say nothing");
constexpr WorldVerdict swapped = after([](Program& p) { std::swap(p[first], p[second]); });
static_assert(std::string_view(swapped.what) == "ranks differ in the instruction");
static_assert(swapped.one == RankPlace{2, first, 1} && swapped.other == RankPlace{0, first, 1});

/// An instruction that speaks to the rank so many places on, around the ring of all, or along the line.
template <Operation O, Traffic::Does Does, int On, bool Ring>
constexpr void speak(const Model&, const Instruction& i, const OnRank& on, TrafficList& out) {
  const int peer = on.rank + On;
  if (!Ring && (peer < 0 || peer >= on.ranks)) return;
  out.push_back({O, Does, Space::value, i.what, 8, Element::f32, 0, (peer + on.ranks) % on.ranks});
}
template <Operation O, Traffic::Does Does, int On, bool Ring = true>
constexpr Kind speaks{
    .name = "speak", .touch = touches::nothing, .traffic = speak<O, Does, On, Ring>};
constexpr auto to = Operation::send, from = Operation::receive;
constexpr auto starts = Traffic::starts, waits = Traffic::waits, both = Traffic::both;

constexpr WorldVerdict on_ranks(int ranks, const Program& program, int iterations = 1) {
  return simulate(Plan<Reduced>::model, program, ranks, iterations);
}
constexpr Instruction send{&speaks<to, starts, 1>, 0}, receive{&speaks<from, starts, -1>, 8},
    await_send{&speaks<to, waits, 1>, 0}, await_receive{&speaks<from, waits, -1>, 8};
static_assert(on_ranks(2, {send, receive, await_send, await_receive}).fine());
static_assert(on_ranks(8, {send, receive, await_receive, await_send}).fine());
static_assert(on_ranks(8, {receive, send, await_receive, await_send}).fine());
constexpr WorldVerdict hangs = on_ranks(4, {receive, await_receive, send, await_send});
static_assert(std::string_view(hangs.what) == "ranks wait for each other");
static_assert(hangs.one == RankPlace{0, 0, 0} && hangs.other == RankPlace{3, 1, 0});

// Stages of a pipeline, which pass on what they receive; and what comes back.
static_assert(on_ranks(8,
                       {{&loop},
                        {&speaks<from, both, -1, false>, 8},
                        {&speaks<to, starts, 1, false>, 0},
                        {&speaks<from, starts, 1, false>, 16},
                        {&speaks<to, waits, 1, false>, 0},
                        {&speaks<from, waits, 1, false>, 16},
                        {&speaks<to, both, -1, false>, 24},
                        {&end_loop}},
                       3)
                  .fine());
// Experts exchange tokens, between what goes along the pipeline.
constexpr void exchange(const Model&, const Instruction&, const OnRank& on, TrafficList& out) {
  out.push_back({Operation::all_to_all, both, Space::value, 32, 8 * on.ranks, Element::f32});
}
constexpr Kind exchanges{.name = "exchange", .touch = touches::nothing, .traffic = exchange};
static_assert(
    on_ranks(8, {{&exchanges}, send, receive, await_send, await_receive, {&exchanges}}).fine());
static_assert(on_ranks(8, {send, {&exchanges}, receive, await_send, await_receive}).what ==
              std::string_view("ranks wait for each other"));
