// SPDX-License-Identifier: Apache-2.0
// All ranks together, when the compiler runs them: shipped programs fit together, one that is changed on one
// rank does not.
#include "sinter/data/bytes.hpp"
#include "sinter/memory/checkpoint.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/parallel/split_batch.hpp"
#include "sinter/parallel/zero.hpp"
#include "sinter/plan/plan.hpp"
#include "sinter/precision/bf16.hpp"

using namespace sinter;

template <class... Policies>
struct Deep : Recipe<Gpt2<{.layers = 48}>, Bytes<>, Batch<{.global = 32, .micro = 2}>,
                     Checkpoint<{.policy = full}>, Policies...> {};
using Reduced = Deep<Ddp<>>;
static_assert(ready<Reduced>() && ready<Deep<Ddp<{.bucket_bytes = 1}>, Bf16>>());
static_assert(ready<Deep<Zero<{.ranks = 4}>>>() && ready<Deep<Zero<{.ranks = 8}>, Bf16>>());
static_assert(ready<Deep<SplitBatch<>, Bf16>>() && Plan<Deep<SplitBatch<>>>::alike<8, 1>());
static_assert(ready<Deep<Zero<{.stage = 2, .ranks = 8}>, Bf16>>());
static_assert(ready<Deep<Zero<{.stage = 3, .ranks = 4}>>>());
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
