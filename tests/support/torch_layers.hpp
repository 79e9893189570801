// SPDX-License-Identifier: Apache-2.0
// Recipes with a layer that LibTorch computes, in double precision, and what they train to.
#pragma once
#include "support/torch.hpp"
// (first: it mends macros)
#include "sinter/autograd/torch.hpp"
#include "sinter/clipping/clip_norm.hpp"
#include "sinter/memory/checkpoint.hpp"
#include "sinter/optimizer/adamw.hpp"
#include "sinter/parallel/ddp.hpp"
#include "support/batches.hpp"
#include "support/layer_models.hpp"

namespace sinter::detail::testing {

using Object = std::unique_ptr<LayerObject>;

template <class Unit, class... Policies>
using Net = Made<Around<Unit>, UpTo<context>, Fp64, AdamW<{.lr = 1e-2, .weight_decay = .1}>,
                 ClipNorm<{.max = .5}>, Batch<{.global = 8, .micro = micro}>, Policies...>;
template <class F, class... Policies>
using Of = Net<Alone<Autograd<F>>, Policies...>;
using Full = Checkpoint<{.policy = full}>;

inline const TrainerSettings settings{.seed = 5, .threads = 1};
inline HostBatch batch_of(int step) {
  return regression_batch(lengths, given_width, target_width, std::uint64_t(10 * step + 1));
}

struct Trajectory {
  Numbers losses, norms;
  NamedNumbers parameters;
};
template <class R>
Trajectory train(int steps, TrainerSettings with = settings, bool random_weights = true) {
  Trainer<R> trainer(with);
  if (random_weights) randomise(trainer, 7);
  Trajectory t;
  for (int s = 0; s < steps; ++s) {
    const Applied step = applied(trainer, batch_of(s));
    t.losses.push_back(step.loss.mean());
    t.norms.push_back(step.gradient_norm);
  }
  t.parameters = parameters_of(trainer);
  return t;
}
inline bool same_bits(const Trajectory& a, const Trajectory& b) {
  return a.losses == b.losses && a.norms == b.norms && a.parameters == b.parameters;
}

}  // namespace sinter::detail::testing
