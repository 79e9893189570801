// SPDX-License-Identifier: Apache-2.0
// Combinations of precision, optimizer, memory and batch policies.
#pragma once
#include <boost/hana/tuple.hpp>
#include <boost/hana/type.hpp>

#include "sinter/graph/tracer.hpp"
#include "sinter/layer/add.hpp"
#include "sinter/layer/attention.hpp"
#include "sinter/layer/dropout.hpp"
#include "sinter/layer/embedding.hpp"
#include "sinter/layer/linear.hpp"
#include "sinter/layer/loss.hpp"
#include "sinter/layer/normalize.hpp"
#include "sinter/recipe/all_policies.hpp"
#include "support/recipes.hpp"

namespace sinter::detail::testing {
namespace hana = boost::hana;

// ---- A model for all of them: it has weights of 64 × 64, which AdamW8bit quantizes, in units that
// can be recomputed, rows that see their neighbours, and a padded vocabulary.

constexpr int letters = 11, context = 8;
struct Embed {
  static constexpr Value<64> trace(auto& g, Ids tokens) {
    return g("wpe", AddPosition<context, 64>{}, g("wte", Embedding<letters, 64>{}, tokens));
  }
};
struct Mix {
  static constexpr Value<64> trace(auto& g, Value<64> x) {
    auto qkv = g("qkv", Linear<64, 192>{}, g("norm", LayerNorm<64>{}, x));
    auto mixed = g("proj", Linear<64, 64>{}, g("mix", CausalSelfAttention<64, 2>{}, qkv));
    return g("add", Add<64>{}, x, g("drop", Dropout<64, .1f>{}, mixed));
  }
};
struct Guess {
  static constexpr Value<1> trace(auto& g, Value<64> x, Ids targets) {
    return g("head", LinearCrossEntropy<letters, 64, 16 - letters>{}, x, targets);
  }
};
struct Letters64 {
  using slot = slot::model;
  static constexpr void trace(auto& g) {
    auto tokens = g.tokens(), targets = g.targets();
    auto x = g.repeat(3, "h", Mix{}, g.unit("embed", Embed{}, tokens));
    g.result(g.unit("guess", Guess{}, x, targets));
  }
};

// ---- The policies.

/// What a recipe says of its batches, with one policy or several.
template <class... Policies>
struct Batches {};
using Whole = Batch<{.global = 4, .micro = 4}>;
using Single = Batch<{.global = 4, .micro = 1}>;

constexpr auto precisions = hana::tuple_t<Fp32, Tf32, Fp64, Bf16, Fp16<>, Fp16<{.masters = false}>>;
/// With these rates ten steps lower the loss by 5 % or more, whichever matrix product multiplies
/// (support/processor.hpp). Larger ones are chaotic for this model, so that rounding decides.
using WithRates = PolicyList<AdamW<{.lr = 4e-3}>, Adam<{.lr = 4e-3}>,
                             Sgd<{.lr = .3, .momentum = .9}>, Lion<{.lr = 3e-3}>,
                             Adafactor<{.lr = 3e-3}>, AdamW8bit<{.lr = 4e-3}>, Muon<{.lr = 5e-2}>>;
/// Any other optimizer learns four times as fast as by default.
template <class P>
struct Faster;
template <template <auto> class Policy, auto O>
struct Faster<Policy<O>> : std::type_identity<Policy<[] {
  auto options = O;
  options.lr *= 4;
  return options;
}()>> {};
constexpr auto optimizers = []<class... Named, class... P>(PolicyList<Named...>, PolicyList<P...>) {
  return hana::tuple_t<Named..., typename Faster<P>::type...>;
}(WithRates(), OthersThan<WithRates, shipped::optimizer>());
constexpr auto memories = hana::tuple_t<KeepAll, Checkpoint<{.policy = selective}>,
                                        Checkpoint<{.policy = selective, .every = 2}>,
                                        Checkpoint<{.policy = full}>, Checkpoint<{.every = 2}>>;
constexpr auto batches =
    hana::tuple_t<Batches<Whole>, Batches<Single>, Batches<Single, PadRows<{.multiple = 4}>>,
                  Batches<Single, BatchWarmup<{.from = 2, .sequences = 20}>,
                          ScaledRate<{.rule = ScalingRule::root, .base = 4}>>,
                  Batches<Whole, LengthWarmup<{.from = 2, .sequences = 20, .multiple = 2}>>>;

template <class P, class O, class M, class... B>
struct Net : Recipe<Letters64, UpTo<context, letters>, P, O, M, B...> {};
template <class P, class O, class M, class... B>
constexpr auto net(hana::basic_type<P>, hana::basic_type<O>, hana::basic_type<M>,
                   hana::basic_type<Batches<B...>>) {
  return hana::type_c<Net<P, O, M, B...>>;
}
constexpr auto recipe = [](auto p, auto o, auto m, auto b) { return net(p, o, m, b); };
template <class R>
constexpr bool legal = R::template may_exist<R>();

}  // namespace sinter::detail::testing
