// SPDX-License-Identifier: Apache-2.0
// Must not compile: Gpt2: heads does not divide width
#include "sinter/sinter.hpp"
using namespace sinter;

struct mine : Recipe<Gpt2<{.layers = 2, .heads = 5, .width = 64}>, Bytes<>> {};

double first_loss(const HostBatch& batch) {
  Trainer<mine> trainer({.seed = 1});
  Outcome outcome = trainer.step(batch);
  trainer.save("somewhere");
  return std::get<Applied>(outcome).loss.mean() + trainer.evaluate(batch).mean();
}
