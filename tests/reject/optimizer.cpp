// SPDX-License-Identifier: Apache-2.0
#include "sinter/clipping/clip_value.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/optimizer/adafactor.hpp"
#include "sinter/optimizer/muon.hpp"
#include "sinter/optimizer/sgd.hpp"
#include "sinter/precision/fp64.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

// Must not compile, adafactor_rates: Adafactor: lr is given beside relative_step
struct mine : Recipe<Mlp<>, Adafactor<{.lr = 0.5, .relative_step = true}>> {};

// Must not compile, muon_clipping: The optimizer of this recipe does not clip by value
struct mine : Recipe<Mlp<>, Muon<>, ClipValue<>> {};

// Must not compile, muon_no_matrix: Muon: the model of this recipe has no hidden matrix
struct mine : Recipe<Mlp<{.in = 4, .out = 2, .layers = 2}>, Muon<>> {};

// Must not compile, muon_precision: The optimizer of this recipe wants master weights and
struct mine : Recipe<Mlp<>, Muon<>, Fp64> {};

// Must not compile (quick), nesterov: Sgd: nesterov needs momentum
struct mine : Recipe<Mlp<>, Sgd<{.lr = 0.1, .nesterov = true}>> {};
