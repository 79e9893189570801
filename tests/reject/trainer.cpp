// SPDX-License-Identifier: Apache-2.0
#include "sinter/trainer/trainer.hpp"
#include "sinter/data/any_source.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/trainer/loop.hpp"
using namespace sinter;

// Must not compile, source_state_not_const: Sinter: a data source lacks a member, or has it with other arguments
// and: acme::Lines and: {"state"} and: {"SamplerState state() const"}
namespace acme {
struct Lines {
  void next(HostBatch&) {}
  SamplerState state() { return {}; }
  void restore(const SamplerState&) {}
};
}  // namespace acme
AnySource source{acme::Lines{}};

// Must not compile (quick), source_without_restore: Sinter: a data source lacks a member, or has it with other arguments
// and: acme::Lines and: {"restore"} and: {"restore(const SamplerState&)"}
namespace acme {
struct Lines {
  bool next(HostBatch&) { return false; }
  SamplerState state() const { return {}; }
};
}  // namespace acme
struct mine : Recipe<Mlp<>> {};
void train(Trainer<mine>& trainer) { Loop loop(trainer, acme::Lines{}); }

// Must not compile (quick), endless_validation: Sinter: a source to evaluate on never ends
// and: sinter::ArrayData and: EvaluationArrays
#include "sinter/data/arrays.hpp"
struct mine : Recipe<Mlp<>> {};
void train(Trainer<mine>& trainer, ArrayData rows) { Loop loop(trainer, rows, rows); }

// Must not compile, endless_evaluation: Sinter: a source to evaluate on never ends
// and: acme::Lines
namespace acme {
struct Lines {
  void next(HostBatch&) {}
  SamplerState state() const { return {}; }
  void restore(const SamplerState&) {}
};
}  // namespace acme
struct mine : Recipe<Mlp<>> {};
Loss loss_of(Trainer<mine>& trainer, acme::Lines& lines) { return trainer.evaluate(lines); }

// Must not compile, dropped_outcome: the step may be Skipped
// and: nodiscard
struct mine : Recipe<Mlp<>> {};
#pragma GCC diagnostic error "-Wunused-result"
void train(Trainer<mine>& trainer, const HostBatch& batch) { trainer.step(batch); }

// Must not compile, trainer: Gpt2: heads does not divide width
#include "sinter/sinter.hpp"
struct mine : Recipe<Gpt2<{.layers = 2, .heads = 5, .width = 64}>, Bytes<>> {};

double first_loss(const HostBatch& batch) {
  Trainer<mine> trainer({.seed = 1});
  Outcome outcome = trainer.step(batch);
  trainer.save("somewhere");
  return std::get<Applied>(outcome).loss.mean() + trainer.evaluate(batch).mean();
}

// Must not compile, writes_without_predict: Sinter: Evaluate: the model has no predict() of what follows a text
#include "sinter/data/dialogue.hpp"
#include "sinter/evaluation/evaluate.hpp"
#include "sinter/metric/bleu.hpp"
#include "sinter/metric/metrics.hpp"
#include "sinter/model/gpt2.hpp"
namespace acme {
struct Mute {
  using slot = sinter::slot::model;
  static constexpr void trace(auto& g) {
    Gpt2<{.layers = 1, .heads = 1, .width = 8, .vocabulary = 258, .positions = 32}>::trace(g);
  }
};
}  // namespace acme
struct mine : Recipe<acme::Mute, Dialogue<{.text = 16, .label = 16}>, Metrics<Bleu>, Evaluate<>> {};
void train(Trainer<mine>& trainer) { trainer.options(); }
