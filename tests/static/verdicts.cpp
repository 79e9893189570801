// SPDX-License-Identifier: Apache-2.0
// The verifier, when the compiler runs it: shipped programs are fine, wrong ones are named and
// placed.
#include "sinter/data/bytes.hpp"
#include "sinter/memory/checkpoint.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/recipe/plan.hpp"

using namespace sinter;
using namespace sinter::detail;

template <class... Policies>
struct Small
    : Recipe<Gpt2<{.layers = 4, .heads = 4, .width = 64, .vocabulary = 256, .positions = 64}>,
             Bytes<{.context = 64}>, Policies...> {};
using Plain = Small<>;
using Reduced = Small<Ddp<{.bucket_bytes = 1 << 18}>, Checkpoint<>>;
static_assert(Plan<Plain>::verdict.fine() && Plan<Reduced>::verdict.fine());

/// The verdict on a recipe's program after a change.
template <class R>
constexpr Verdict after(auto change) {
  Program program(Plan<R>::program.begin(), Plan<R>::program.end());
  change(program);
  return verify(Plan<R>::model, program, {true, R::parallel::reduces});
}
constexpr bool is(Verdict verdict, std::string_view what, int at) {
  return !verdict.fine() && verdict.what == what && verdict.at == at;
}
constexpr int end = int(Plan<Plain>::program.size());

static_assert(after<Plain>([](Program&) {}).fine());
static_assert(after<Reduced>([](Program&) {}).fine());
static_assert(is(after<Plain>([](Program& p) { std::swap(p[end - 1], p[end - 2]); }),
                 "updated before the norm", end - 2));
static_assert(is(after<Plain>([](Program& p) { std::swap(p[2], p[3]); }), "read before written",
                 2));
static_assert(is(after<Plain>([](Program& p) { p.erase(p.begin() + 1); }), "read before written",
                 1));
static_assert(is(after<Plain>([](Program& p) { p.pop_back(); }), "a unit is not updated", end - 1));
static_assert(is(after<Plain>([](Program& p) { std::swap(p[0], p[1]); }),
                 "made once, but every micro-batch has its own", end - 3));

constexpr int recomputed = 4, norm = int(Plan<Reduced>::program.size()) - 2;
static_assert(is(after<Reduced>([](Program& p) { p.erase(p.begin() + norm - 1); }),
                 "touched while a transfer writes it", norm - 1));
static_assert(is(after<Reduced>([](Program& p) {
                   std::erase_if(p, [](const Instruction& i) {
                     return i.kind == &await_reduce_kind<float> || i.kind->role == Role::reduce;
                   });
                 }),
                 "not reduced before the norm", end - 2 + recomputed));
