// SPDX-License-Identifier: Apache-2.0
// Label smoothing and class weights in steps: the same over micro-batches, ranks and processes, and gone at a factor of 0.
#include <bit>
#include <cmath>
#include <sstream>

#include "sinter/data/arrays.hpp"
#include "sinter/layer/linear.hpp"
#include "sinter/model/classifier.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/objective/class_weights.hpp"
#include "sinter/objective/label_smoothing.hpp"
#include "sinter/optimizer/adamw.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/parallel/single.hpp"
#include "sinter/precision/fp64.hpp"
#include "support/message_of.hpp"
#include "support/rank_processes.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing::loss_options_tests {

constexpr int width = 3, classes = 4, most = 24;

using Net = Classifier<Linear<width, classes, mlp::like_torch<width>>>;
template <int Micro, class Parallel, class... More>
using Reshaped =
    Made<Net, UpTo<1>, Fp64, Batch<{.global = most, .micro = Micro}>, AdamW<{.lr = 1e-2}>, Parallel,
         LabelSmoothing<{.factor = .2}>, ClassWeights<1, .25, 3, 0>, More...>;
template <class... More>
using Plain = Made<Net, UpTo<1>, Batch<{.global = most, .micro = 4}>, AdamW<{.lr = 1e-2}>, More...>;

const TrainerSettings settings{.seed = 3, .threads = 1};

/// So many rows, of which some have no class.
HostBatch rows_of(int count) {
  HostBatch batch;
  batch.starts = {0};
  batch.values.resize(1);
  batch.ids.resize(1);
  for (int k = 0; k < count; ++k) {
    batch.starts.push_back(k + 1);
    for (int i = 0; i < width; ++i)
      batch.values[0].push_back(float((k * width + i) * 7 % 13) / 13 - .5f);
    batch.ids[0].push_back(k * 3 % 5 - 1);
  }
  return batch;
}
/// The same with the content of a part of the sequences alone.
HostBatch part_of_rows(int count, BatchPart part) {
  HostBatch batch = rows_of(count);
  const auto begin = part.begin(count), end = part.end(count);
  auto& values = batch.values[0];
  values = {values.begin() + begin * width, values.begin() + end * width};
  batch.ids[0] = {batch.ids[0].begin() + begin, batch.ids[0].begin() + end};
  batch.part = part;
  return batch;
}

/// The loss of a step by its definition, from the logits of each row alone.
template <class R>
double defined_loss(const HostBatch& batch) {
  Trainer<R> trainer(settings);
  constexpr double weights[]{1, .25, 3, 0}, factor = .2;
  double sum = 0, all = 0;
  for (int k = 0; k < batch.sequences(); ++k) {
    const std::int32_t actual = batch.ids[0][std::size_t(k)];
    if (actual < 0) continue;
    const auto first = batch.values[0].begin() + k * width;
    HostBatch row;
    row.starts = {0, 1};
    row.values = {{first, first + width}};
    const std::vector<float> logits = trainer.predict(row).values;
    double exponentials = 0;
    for (const float x : logits) exponentials += std::exp(double(x));
    for (int c = 0; c < classes; ++c) {
      const double part = (c == actual ? 1 - factor : 0) + factor / classes;
      sum += part * weights[c] * (std::log(exponentials) - double(logits[std::size_t(c)]));
    }
    all += weights[actual];
  }
  return sum / all;
}

template <class R>
void check_against(const NamedNumbers& gradients, double loss, const HostBatch& batch) {
  Trainer<R> trainer(settings);
  CHECK(applied(trainer, batch).loss.mean() == doctest::Approx(loss).epsilon(1e-12));
  for (const auto& [name, numbers] : gradients_of(trainer))
    for (std::size_t i = 0; i < numbers.size(); ++i)
      CHECK(numbers[i] == doctest::Approx(gradients.at(name)[i]).epsilon(1e-11));
}

TEST_CASE("a weighted, smoothed step is the same however its batch is divided") {
  for (const int count : {24, 23, 7, 3}) {
    CAPTURE(count);
    const HostBatch batch = rows_of(count);
    using Whole = Reshaped<24, Single>;
    Trainer<Whole> whole(settings);
    const double loss = applied(whole, batch).loss.mean();
    CHECK(loss == doctest::Approx(defined_loss<Whole>(batch)).epsilon(1e-6));
    const NamedNumbers gradients = gradients_of(whole);
    check_against<Reshaped<1, Single>>(gradients, loss, batch);
    check_against<Reshaped<5 - 1, Single>>(gradients, loss, batch);
    check_against<Reshaped<3, Ddp<{.ranks = 4}>>>(gradients, loss, batch);
  }
}

TEST_CASE(
    "a weighted step of processes has the loss of one process, also if each has a part alone") {
  using R = Reshaped<2, Ddp<{.ranks = 2}>>;
  const auto stepped = [](const World& world, bool divides) {
    std::ostringstream out;
    Trainer<R> trainer({.seed = 3, .threads = 1, .world = world});
    for (const int count : {24, 7, 3}) {
      const HostBatch batch = divides ? part_of_rows(count, trainer.part()) : rows_of(count);
      const Applied step = applied(trainer, batch);
      out << std::bit_cast<std::uint64_t>(step.loss.sum) << ' '
          << std::bit_cast<std::uint64_t>(step.gradient_norm) << ' ' << step.loss.count << ' ';
    }
    return out.str();
  };
  const std::string want = stepped({}, false);
  for (const bool divides : {false, true}) {
    CAPTURE(divides);
    RankProcesses processes(
        2, [&](const World& world, const RankProcesses::Say&) { return stepped(world, divides); });
    CHECK(processes.result(0) == want);
    CHECK(processes.result(1) == want);
  }
}

TEST_CASE("a factor of 0 and weights of 1 leave the bits of a step, and the plain loss evaluates") {
  using Smooths = Plain<LabelSmoothing<{.factor = .3}>>;
  const auto without = Trainer<Smooths>::options();
  for (Option& option : without->options)
    if (option.dotted() == "label_smoothing.factor") *std::get<double*>(option.value) = 0;
  Trainer<Plain<>> plain(settings);
  Trainer<Smooths> smooth(settings), off(without, settings);
  const HostBatch batch = rows_of(most);
  CHECK(smooth.evaluate(batch).sum == plain.evaluate(batch).sum);
  const Applied want = applied(plain, batch), got = applied(off, batch);
  CHECK(got.loss.sum == want.loss.sum);
  CHECK(gradients_of(off) == gradients_of(plain));
  CHECK(parameters_of(off) == parameters_of(plain));
  CHECK(applied(smooth, batch).loss.sum > want.loss.sum);
}

TEST_CASE("a batch of classes with the weight 0 alone is skipped") {
  Trainer<Reshaped<24, Single>> trainer(settings);
  HostBatch batch = rows_of(5);
  batch.ids[0].assign(5, 3);
  const NamedNumbers before = parameters_of(trainer);
  const Outcome outcome = trainer.step(batch);
  REQUIRE(std::holds_alternative<Skipped>(outcome));
  CHECK(std::get<Skipped>(outcome).reason == SkipReason::nothing_to_predict);
  CHECK(parameters_of(trainer) == before);
  CHECK(trainer.steps() == 0);
}

TEST_CASE("printed plans name the weights") {
  const auto view = Trainer<Reshaped<24, Single>>::options();
  CHECK(std::ranges::find(view->policies, "class_weights: ClassWeights<1, 0.25, 3, 0>") !=
        view->policies.end());
}

}  // namespace sinter::detail::testing::loss_options_tests
