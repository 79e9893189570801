// SPDX-License-Identifier: Apache-2.0
// The accuracy of tokens: that of each row's logits, over batches of any size, ranks and processes.
#include "sinter/metric/token_accuracy.hpp"

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sinter/data/windows.hpp"
#include "sinter/files/run_folder.hpp"
#include "sinter/metric/metrics.hpp"
#include "sinter/model/bert.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/objective/masked_lm.hpp"
#include "sinter/optimizer/adamw.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/parallel/single.hpp"
#include "sinter/precision/fp32.hpp"
#include "sinter/stopping/early_stop.hpp"
#include "sinter/trainer/evaluation.hpp"
#include "sinter/trainer/loop.hpp"
#include "support/batches.hpp"
#include "support/folder.hpp"
#include "support/json_rows.hpp"
#include "support/rank_processes.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing::token_accuracy_tests {

constexpr int context = 8, vocabulary = 12;

template <class... More>
using Words = Made<Gpt2<{.layers = 1,
                         .heads = 2,
                         .width = 16,
                         .vocabulary = vocabulary,
                         .positions = context,
                         .vocabulary_multiple = 8}>,
                   UpTo<context, vocabulary>, Batch<{.global = 8, .micro = 2}>, AdamW<{.lr = 1e-2}>,
                   Fp32, More...>;
using Measured = Words<Single, Metrics<TokenAccuracy>>;
using OfRanks = Words<Ddp<{.ranks = 2}>, Metrics<TokenAccuracy>>;
using Masked = Made<Bert<{.layers = 1,
                          .heads = 2,
                          .width = 16,
                          .hidden = 16,
                          .vocabulary = vocabulary,
                          .positions = context}>,
                    UpTo<context, vocabulary>, Batch<{.global = 8, .micro = 2}>, AdamW<>,
                    MaskedLm<{.mask = 11}>, Metrics<TokenAccuracy>>;

const std::vector<std::int32_t> text = [] {
  std::vector<std::int32_t> ids;
  for (int k = 0; k < 400; ++k) ids.push_back(k * k % 7 + k % 3);
  return ids;
}();

HostBatch training_batch() { return token_batch({8, 8, 3, 8, 5, 8, 8, 1}, vocabulary, 1); }

double accuracy_of(const Evaluation& found) {
  REQUIRE(found.metrics.size() == 1);
  REQUIRE(found.metrics[0].name == "token_accuracy");
  return found.metrics[0].value;
}

/// Targets whose logit is the largest, by the predictions of each row.
std::int64_t right_of(TrainerCore& trainer, const HostBatch& batch) {
  std::int64_t right = 0;
  std::size_t at = 0;
  trainer.predict_rows(batch, [&](const Prediction& part) {
    for (int r = 0; r < part.rows; ++r, ++at) {
      const auto first = part.values.begin() + std::int64_t(r) * part.columns;
      const auto most = std::max_element(first, first + part.columns) - first;
      right += batch.ids[1][at] == most;
    }
  });
  REQUIRE(at == batch.ids[1].size());
  return right;
}

template <class R>
void train(Trainer<R>& trainer) {
  for (int s = 0; s < 12; ++s) applied(trainer, training_batch());
}

TEST_CASE("the accuracy of tokens is that of each row's logits, whatever the sizes of batches") {
  Trainer<Measured> trainer({.seed = 2, .threads = 2});
  train(trainer);
  EvaluationWindows all(text, {context, 1000});
  HostBatch batch;
  REQUIRE(all.next(batch));
  const std::int64_t right = right_of(trainer, batch);
  CHECK(right > 20);
  CHECK(right < batch.rows() - 20);
  for (const int sequences : {1, 3, 7, 1000}) {
    CAPTURE(sequences);
    AnySource source(EvaluationWindows(text, {context, sequences}));
    const Evaluation found = *evaluate_all(trainer, source);
    CHECK(found.loss.count == std::ssize(text) - 1);
    CHECK(found.loss.right == right);
    CHECK(accuracy_of(found) == double(right) / double(std::ssize(text) - 1));
  }
}

TEST_CASE("rows without a target do not count") {
  Trainer<Masked> trainer({.seed = 2, .threads = 1});
  HostBatch batch = token_batch({8, 5, 8, 3, 1}, vocabulary, 4, .6);
  const std::int64_t right = right_of(trainer, batch);
  HostBatch all_right = batch;
  std::size_t at = 0;
  trainer.predict_rows(batch, [&](const Prediction& part) {
    for (int r = 0; r < part.rows; ++r, ++at) {
      const auto first = part.values.begin() + std::int64_t(r) * part.columns;
      if (batch.ids[1][at] >= 0)
        all_right.ids[1][at] = std::int32_t(std::max_element(first, first + part.columns) - first);
    }
  });
  const Loss loss = trainer.evaluate(batch), best = trainer.evaluate(all_right);
  CHECK(loss.right == right);
  CHECK(best.right == best.count);
  CHECK(best.count < batch.rows());
}

TEST_CASE("ranks and processes count all rows once, also if each reads a part alone") {
  const auto evaluated = [](const World& world) {
    Trainer<OfRanks> trainer({.seed = 2, .threads = 1, .world = world});
    train(trainer);
    std::ostringstream out;
    for (const int sequences : {1, 7}) {
      AnySource source(EvaluationWindows(text, {context, sequences}));
      const Evaluation found = *evaluate_all(trainer, source);
      out << found.loss.right << ' ' << found.loss.count << ' '
          << std::bit_cast<std::uint64_t>(accuracy_of(found)) << ' ';
      HostBatch batch;
      EvaluationWindows whole(text, {context, sequences});
      REQUIRE(whole.next(batch));
      out << trainer.evaluate(batch).right << ' ';
    }
    return out.str();
  };
  const std::string want = evaluated({});
  CHECK(want.substr(0, 2) != "0 ");
  RankProcesses processes(
      2, [&](const World& world, const RankProcesses::Say&) { return evaluated(world); });
  CHECK(processes.result(0) == want);
  CHECK(processes.result(1) == want);
}

TEST_CASE("training and the loss of an evaluation keep their bits") {
  Trainer<Words<Single>> plain({.seed = 2, .threads = 1});
  Trainer<Measured> measured({.seed = 2, .threads = 1});
  const HostBatch batch = training_batch();
  for (int s = 0; s < 3; ++s) {
    CHECK(measured.evaluate(batch).sum == plain.evaluate(batch).sum);
    CHECK(plain.evaluate(batch).right == 0);
    CHECK(applied(measured, batch).loss.sum == applied(plain, batch).loss.sum);
  }
  CHECK(parameters_of(measured) == parameters_of(plain));
  CHECK(Plan<Measured>::bytes == Plan<Words<Single>>::bytes);
}

TEST_CASE("a loop logs it, and it chooses the best step and ends the run") {
  TemporaryFolder folder;
  RunFolder run(folder / "run", RunFolder::Mode::fresh);
  Trainer<Measured> trainer({.seed = 2, .threads = 1});
  Loop loop(trainer, ReadStage(ShuffledWindows(text, {context, 8}, 4)),
            EvaluateStage(EvaluationWindows(text, {context, 5})), &run);
  loop.run({.steps = 30,
            .evaluate_every = 10,
            .best_by = "token_accuracy",
            .early_stop = EarlyStopping{.patience = 50, .metric = "token_accuracy"}});
  double best = 0;
  int evaluated = 0;
  for (const nlohmann::json& row : json_rows(folder / "run" / "metrics.jsonl")) {
    if (!row.contains("val_token_accuracy")) continue;
    ++evaluated;
    best = std::max(best, row["val_token_accuracy"].get<double>());
  }
  CHECK(evaluated == 3);
  CHECK(best > 0.1);
  CHECK(loop.state().best_by == "token_accuracy");
  CHECK(loop.state().best == best);
  CHECK(loop.state().patient_best == best);
}

}  // namespace sinter::detail::testing::token_accuracy_tests
