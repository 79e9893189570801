// SPDX-License-Identifier: Apache-2.0
// Element types come from the precision policy, and statistics from its own type: a policy that
// computes in fp32 but keeps means, log-sum-exps and losses in fp64.
#include "sinter/layer/add.hpp"
#include "sinter/layer/attention.hpp"
#include "sinter/layer/linear.hpp"
#include "sinter/layer/loss.hpp"
#include "sinter/layer/normalize.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/precision/fp64.hpp"
#include "sinter/recipe/plan.hpp"

using namespace sinter;
using namespace sinter::detail;

struct Mixed {
  using slot = sinter::slot::precision;
  using compute = float;
  using statistic = double;
  using gradient = float;
  using master = float;
  using accumulate = double;
};

template <int W>
struct Attend {
  static constexpr Value<W> trace(auto& g, Value<W> x) {
    auto qkv = g("qkv", Linear<W, 3 * W>{}, g("norm", LayerNorm<W>{}, x));
    return g("add", Add<W>{}, x, g("mix", CausalSelfAttention<W, 4>{}, qkv));
  }
};
struct Regress {
  static constexpr Value<1> trace(auto& g, Value<64> x, Value<64> target) {
    return g("loss", MeanSquaredError<64>{}, x, target);
  }
};
struct AttendingModel {
  using slot = sinter::slot::model;
  static constexpr void trace(auto& g) {
    auto x = g.template values<64>();
    auto target = g.template target_values<64>();
    g.result(g.unit("loss", Regress{}, g.unit("attend", Attend<64>{}, x), target));
  }
};
template <class Precision>
struct Sequences32 : Recipe<AttendingModel, Precision, Batch<{.global = 32, .micro = 32}>> {};

constexpr std::int64_t rows = 32;
template <class Precision>
constexpr UnitPlan attend = Plan<Sequences32<Precision>>::model.plan(0);
// The norm's result, q, k, v and what attention mixes; then mean, deviation and the log-sum-exp of
// each head. The unit's input is another's value.
template <class P>
constexpr std::int64_t expected = rows * (64 + 3 * 64 + 64) * sizeof(typename P::compute) +
                                  rows * (2 + 4) * sizeof(typename P::statistic);
static_assert(attend<Fp32>.saved_bytes == expected<Fp32>);
static_assert(attend<Mixed>.saved_bytes == expected<Mixed>);
static_assert(attend<Fp64>.saved_bytes == expected<Fp64>);
static_assert(attend<Mixed>.saved_bytes - attend<Fp32>.saved_bytes == rows * 6 * 4);

// Losses are statistics; values between units are not.
template <class Precision>
constexpr std::int64_t bytes_of(Space space, short index) {
  for (const Buffer& b : Plan<Sequences32<Precision>>::training.buffers.view())
    if (b.space == space && (b.opened_by < 0 || b.index == index)) return b.bytes;
  return -1;
}
static_assert(bytes_of<Mixed>(Space::value, 0) == rows * 64 * 4);
static_assert(bytes_of<Mixed>(Space::value, 1) == rows * 8);
static_assert(bytes_of<Mixed>(Space::input, 0) == rows * 64 * 4);
static_assert(bytes_of<Fp64>(Space::input, 0) == rows * 64 * 8);
static_assert(bytes_of<Fp64>(Space::master, -1) == 2 * bytes_of<Fp32>(Space::master, -1));
static_assert(Plan<Sequences32<Fp64>>::parameters == Plan<Sequences32<Fp32>>::parameters);

// A perceptron: 6 FLOPs for each weight, but nobody needs the gradient of what it reads; four bytes for each parameter and as many for its
// gradient.
struct Perceptron : Recipe<Mlp<{.in = 3, .hidden = 64, .out = 2, .layers = 5}>,
                           Batch<{.global = 16, .micro = 16}>> {};
static_assert(ready<Perceptron>());
constexpr std::int64_t weights = 3 * 64 + 3 * 64 * 64 + 64 * 2, biases = 4 * 64 + 2;
static_assert(Plan<Perceptron>::parameters == weights + biases);
static_assert(Plan<Perceptron>::flops_per_token == 6 * weights - 2 * 3 * 64);
static_assert(Plan<Perceptron>::model.blocks.size() == 3);
