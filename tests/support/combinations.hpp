// Combinations of precision, optimizer, memory and batch.
#pragma once
#include <boost/hana/tuple.hpp>
#include <boost/hana/type.hpp>

#include "recipes.hpp"
#include "sinter/memory/checkpoint.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/optimizer/adafactor.hpp"
#include "sinter/optimizer/adam.hpp"
#include "sinter/optimizer/adamw8bit.hpp"
#include "sinter/optimizer/lion.hpp"
#include "sinter/optimizer/muon.hpp"
#include "sinter/optimizer/sgd.hpp"
#include "sinter/precision/bf16.hpp"
#include "sinter/precision/fp16.hpp"
#include "sinter/precision/fp64.hpp"
#include "sinter/precision/tf32.hpp"

namespace sinter::testing {
namespace hana = boost::hana;

using Whole = Batch<{.global = 4, .micro = 4}>;
using Single = Batch<{.global = 4, .micro = 1}>;
constexpr auto precisions = hana::tuple_t<Fp32, Tf32, Fp64, Bf16, Fp16<>, Fp16<{.masters = false}>>;
constexpr auto optimizers =
    hana::tuple_t<AdamW<{.lr = 1e-2}>, Adam<{.lr = 1e-2}>, Sgd<{.lr = 3e-2, .momentum = .9}>,
                  Lion<{.lr = 1e-3}>, Adafactor<{.lr = 1e-2}>, AdamW8bit<{.lr = 1e-2}>,
                  Muon<{.lr = 1e-2}>>;
constexpr auto memories = hana::tuple_t<KeepAll, Checkpoint<{.policy = selective}>,
                                        Checkpoint<{.policy = full}>, Checkpoint<{.every = 2}>>;
constexpr auto batches = hana::tuple_t<Whole, Single>;

/// 64 × 64 weights, which AdamW8bit quantizes, in units that can be recomputed.
using Model64 = Mlp<{.in = 8, .hidden = 64, .out = 3, .layers = 4}>;
template <class P, class O, class M, class B>
using Net = Made<Model64, P, O, M, B>;
constexpr auto recipe = [](auto p, auto o, auto m, auto b) {
  return hana::type_c<Net<typename decltype(p)::type, typename decltype(o)::type,
                          typename decltype(m)::type, typename decltype(b)::type>>;
};
template <class R>
constexpr bool legal = R::template may_exist<R>();

}  // namespace sinter::testing
