// SPDX-License-Identifier: Apache-2.0
// A schedule that follows a metric of the texts that evaluations write.
#include "sinter/data/dialogue.hpp"
#include "sinter/data/example_source.hpp"
#include "sinter/evaluation/evaluate.hpp"
#include "sinter/metric/metrics.hpp"
#include "sinter/metric/text_sums.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/optimizer/adamw.hpp"
#include "sinter/schedule/plateau.hpp"
#include "sinter/trainer/evaluation.hpp"
#include "sinter/trainer/loop.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing::watched_replies_tests {

constexpr int replies_each = 2;
/// How many replies were scored so far.
int scored = 0;
/// A metric of texts whose value is told by the number of the evaluation.
struct Told {
  static constexpr std::string_view name = "told";
  static constexpr bool greater_is_better = true;
  static constexpr int sums = 1;
  static void add(const WrittenReply&, TextSums& into) { ++scored, ++into.sums[0]; }
  static double value(const TextSums& all) {
    constexpr double values[]{1, 2, 2, 1, 3, 4};  // better, better, as good, worse, better, better
    CHECK(all.sums[0] == replies_each);
    return values[scored / replies_each - 1];
  }
};

constexpr ExampleLimits limits{.context = 16, .label = 6};
template <class... Schedule>
using Answers =
    Made<Gpt2<{.layers = 1, .heads = 2, .width = 16, .vocabulary = 258, .positions = 22}>,
         Dialogue<{.text = 16, .label = 6}>, Batch<{.global = 2, .micro = 2}>, AdamW<{.lr = 1e-2}>,
         Evaluate<{.examples = replies_each}>, Metrics<Told>, Schedule...>;

/// Steps with evaluations behind each second one.
struct Watched {
  std::vector<double> rates, losses;
  LoopEnd end;
};
template <class R>
Watched run(const std::optional<EarlyStopping>& early_stop) {
  scored = 0;
  ExampleSet filled(byte_tokenizer(), limits);
  for (const auto& [text, reply] : {std::pair{"one", "uno"}, {"two", "dos"}, {"four", "cua"}})
    filled.add_pair(text, reply);
  const auto set = std::make_shared<ExampleSet>(std::move(filled));
  Trainer<R> trainer({.seed = 1, .threads = 1});
  Loop loop(trainer, ReadStage(ExampleBatches(*set, {0, set->size()}, {.sequences = 2})),
            EvaluateStage(AnySource(EvaluationExamples(*set, {0, set->size()}, 3), set)));
  Watched seen;
  seen.end = loop.run({.steps = 12,
                       .evaluate_every = 2,
                       .early_stop = early_stop,
                       .on_step = [&](const StepRecord& step) {
                         seen.rates.push_back(step.learning_rate);
                         if (step.validation_loss) seen.losses.push_back(*step.validation_loss);
                       }});
  return seen;
}

TEST_CASE("Plateau lowers the rate when a metric of texts is no better, whatever the loss does") {
  const auto [rates, losses, end] =
      run<Answers<Plateau<{.factor = .5, .patience = 0}, "told">>>(std::nullopt);
  CHECK(end == LoopEnd::finished);
  CHECK(scored == 6 * replies_each);
  CHECK(rates == std::vector<double>{1e-2, 1e-2, 1e-2, 1e-2, 1e-2, 1e-2, 5e-3, 5e-3, 2.5e-3, 2.5e-3,
                                     2.5e-3, 2.5e-3});
  // By the loss it would have stayed: each evaluation was better than the one before.
  REQUIRE(losses.size() == 6);
  CHECK(std::ranges::is_sorted(losses, std::ranges::greater()));
}

TEST_CASE("a run ends early when a metric of texts is no better, whatever the loss does") {
  const Watched seen = run<Answers<>>(EarlyStopping{.patience = 2, .metric = "told"});
  CHECK(seen.end == LoopEnd::early);
  CHECK(seen.rates.size() == 8);  // of 1, 2, 2, 1 the second is the best
  CHECK(std::ranges::is_sorted(seen.losses, std::ranges::greater()));
}

}  // namespace sinter::detail::testing::watched_replies_tests
