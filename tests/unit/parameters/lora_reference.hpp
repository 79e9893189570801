// SPDX-License-Identifier: Apache-2.0
// Adapters against PEFT's: tests/data/lora.txt, which scripts/lora_reference.py has written.
#pragma once
#include "sinter/clipping/clip_norm.hpp"
#include "sinter/optimizer/adamw.hpp"
#include "sinter/parameters/lora.hpp"
#include "support/batches.hpp"
#include "support/recipes.hpp"
#include "support/references.hpp"

namespace sinter::detail::testing {

constexpr int lora_positions = 8;
using LoraDecaying =
    AdamW<{.lr = 1e-2, .beta1 = .9, .beta2 = .95, .eps = 1e-8, .weight_decay = .1}>;
template <class Model, class... Policies>
using LoraNet =
    Made<Model, UpTo<lora_positions, Model::options.vocabulary>, Batch<{.global = 8, .micro = 2}>,
         LoraDecaying, ClipNorm<{.max = 1}>, Policies...>;

/// The batch of the references, of a vocabulary of `words`.
inline HostBatch lora_batch(int words) {
  const std::vector<int> lengths{7, 3, 8, 1, 5};
  HostBatch batch = sequences_of(lengths);
  batch.ids.resize(2);
  for (int s = 0; s < int(lengths.size()); ++s)
    for (int row = 0; row < lengths[std::size_t(s)]; ++row) {
      batch.ids[0].push_back((row * 7 + s * 5 + 3) % words);
      batch.ids[1].push_back((row * 3 + s) % words);
    }
  return batch;
}

/// Compares the losses of 20 steps, and the logits behind them, with the reference of this name. What is
/// frozen stays, and all else learns.
template <class Model, class... Policies>
void compare_lora(const std::string& name, double tolerance) {
  CAPTURE(name);
  const Reference want = read_references("lora.txt")[name];
  REQUIRE(want.losses.size() == 20);
  const HostBatch batch = lora_batch(Model::options.vocabulary);
  Trainer<LoraNet<Model, Policies...>> trainer({.seed = 1, .threads = 2});
  set_reference_weights(trainer);
  const NamedNumbers before = parameters_of(trainer);
  double worst = 0;
  for (double loss : want.losses) {
    CAPTURE(loss);
    worst = std::max(worst, relative_difference(trainer.evaluate(batch).mean(), loss));
    worst = std::max(worst, relative_difference(applied(trainer, batch).loss.mean(), loss));
  }
  CHECK(worst < tolerance);
  for (const Parameter& p : trainer.parameters()) {
    CAPTURE(p.name);
    CHECK((trainer.parameter(p.name) == before.at(p.name)) == p.frozen);
  }
  Numbers logits;
  trainer.predict_rows(batch, [&](const Prediction& part) {
    logits.insert(logits.end(), part.values.begin(), part.values.end());
  });
  // AdamW turns the rounding of a gradient near zero into a step, so that logits err more; they are floats.
  CHECK(relative_difference(logits, want.logits) < std::max(100 * tolerance, 1e-6));
}

}  // namespace sinter::detail::testing
