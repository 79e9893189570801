// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: a data source lacks a member, or has it with other arguments
// and: acme::Lines
// and: {"restore"}
// and: {"restore(const SamplerState&)"}
#include "sinter/model/mlp.hpp"
#include "sinter/trainer/loop.hpp"
#include "sinter/trainer/trainer.hpp"
using namespace sinter;

namespace acme {
struct Lines {
  bool next(HostBatch&) { return false; }
  SamplerState state() const { return {}; }
};
}  // namespace acme

struct mine : Recipe<Mlp<>> {};
void train(Trainer<mine>& trainer) { Loop loop(trainer, acme::Lines{}); }
