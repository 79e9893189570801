// SPDX-License-Identifier: Apache-2.0
// Accumulation is exact: however a global batch is split into micro-batches and over ranks, the
// loss and the gradients are the same to rounding, with sequences of any length, with targets to
// ignore, and with dropout.
#include "sinter/model/gpt2.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/precision/fp64.hpp"
#include "support/batches.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing {
namespace {

constexpr int context = 9, words = 19, max_ranks = has_thread_ranks ? 3 : 1;
constexpr Gpt2Options with_dropout{
    .layers = 2, .heads = 3, .width = 24, .vocabulary = words, .positions = 12, .dropout = .2};
constexpr Gpt2Options without_dropout{
    .layers = 2, .heads = 3, .width = 24, .vocabulary = words, .positions = 12};

template <int Micro, class Precision, Gpt2Options O, class... More>
using Split =
    Made<Gpt2<O>, UpTo<context, words>, Precision, Batch<{.global = 24, .micro = Micro}>, More...>;

/// 23 sequences, so that the last micro-batch is not full either; nothing to predict in one of
/// them.
HostBatch ragged_batch() {
  std::vector<int> lengths;
  for (int s = 0; s < 23; ++s) lengths.push_back(1 + s * 5 % context);
  HostBatch batch = token_batch(lengths, words, 3, .25);
  for (int row = batch.starts[11]; row < batch.starts[12]; ++row)
    batch.ids[1][std::size_t(row)] = -1;
  return batch;
}

struct Result {
  Loss loss;
  double norm;
  NamedNumbers gradients;
};
Result first_step(TrainerCore& trainer, const HostBatch& batch) {
  randomise(trainer, 7, .2);
  Applied step = applied(trainer, batch);
  return {step.loss, step.gradient_norm, gradients_of(trainer)};
}
template <class R>
Result first_step(const HostBatch& batch) {
  Trainer<R> trainer({.seed = 5, .threads = 1});
  return first_step(trainer, batch);
}
/// On so many ranks.
template <class R>
Result first_step_on(int ranks, const HostBatch& batch) {
  const auto view = Trainer<R>::options();
  for (Option& option : view->options)
    if (option.dotted() == "parallel.ranks") *std::get<int*>(option.value) = ranks;
  TrainerCore trainer(view, {.seed = 5, .threads = 1});
  Result result = first_step(trainer, batch);
  const OpenMemory open;
  std::span<std::byte> first = trainer.machine(0).arena();
  for (int rank = 1; rank < ranks; ++rank) {
    CAPTURE(rank);
    auto size = std::size_t(trainer.plan().training.persistent);
    CHECK(std::ranges::equal(first.first(size), trainer.machine(rank).arena().first(size)));
  }
  return result;
}

/// bound: of differences, relative to the largest number of each parameter's gradient.
void check_same(const Result& got, const Result& want, double bound) {
  CHECK(got.loss.count == want.loss.count);
  CHECK(relative_difference(got.loss.sum, want.loss.sum) < bound);
  CHECK(relative_difference(got.norm, want.norm) < bound);
  for (const auto& [name, gradient] : want.gradients) {
    CAPTURE(name);
    CHECK(relative_difference(got.gradients.at(name), gradient) < bound);
  }
}

TEST_CASE("in fp64 all splits with dropout have the same loss and gradients") {
  const HostBatch batch = ragged_batch();
  const Result want = first_step<Split<8, Fp64, with_dropout>>(batch);
  CHECK(want.loss.count < batch.rows());
  check_same(first_step<Split<1, Fp64, with_dropout>>(batch), want, 1e-13);
  check_same(first_step<Split<2, Fp64, with_dropout>>(batch), want, 1e-13);
  check_same(first_step<Split<4, Fp64, with_dropout>>(batch), want, 1e-13);
  using Ranked = Split<2, Fp64, with_dropout, Ddp<{.bucket_bytes = 4000}>>;
  for (int ranks = 1; ranks <= max_ranks; ++ranks)
    check_same(first_step_on<Ranked>(ranks, batch), want, 1e-13);
}

TEST_CASE("in fp64 splits without dropout have the same loss and gradients") {
  const HostBatch batch = ragged_batch();
  const Result want = first_step<Split<8, Fp64, without_dropout>>(batch);
  check_same(first_step<Split<1, Fp64, without_dropout>>(batch), want, 1e-13);
  const Result dropped = first_step<Split<8, Fp64, with_dropout>>(batch);
  CHECK(relative_difference(dropped.loss.sum, want.loss.sum) > 1e-3);
}

/// For gradients Σ t over the rows, in whatever order: |error| ≤ (rows + k) u Σ|t|, u the rounding
/// unit, k what the roundings before add to each t. Σ|t| is at most that over the sequences, each
/// of whose gradients, weighted by its predictions, a step of its own gives.
TEST_CASE("in fp32 all splits with dropout have the same gradients, within the bound of rounding") {
  const HostBatch batch = ragged_batch();
  const Result want = first_step<Split<8, Fp64, with_dropout>>(batch);
  std::map<std::string, double> sum;
  for (int s = 0; s < batch.sequences(); ++s) {
    HostBatch one = part(batch, s, s + 1);
    if (std::ranges::count(one.ids[1], -1) == one.rows()) continue;
    Result alone = first_step<Split<8, Fp64, with_dropout>>(one);
    for (auto& [name, gradient] : alone.gradients) {
      auto [least, most] = std::ranges::minmax(gradient);
      sum[name] += std::max(-least, most) * double(alone.loss.count) / double(want.loss.count);
    }
  }
  const double u = 0x1p-24, bound = (batch.rows() + 100) * u;
  auto check = [&](const Result& got) {
    CHECK(relative_difference(got.loss.sum, want.loss.sum) < 100 * u);  // summed in double
    for (const auto& [name, gradient] : want.gradients) {
      CAPTURE(name);
      double worst = 0;
      for (std::size_t k = 0; k < gradient.size(); ++k)
        worst = std::max(worst, std::abs(got.gradients.at(name)[k] - gradient[k]));
      CHECK(worst < bound * sum[name]);
    }
  };
  check(first_step<Split<1, Fp32, with_dropout>>(batch));
  check(first_step<Split<2, Fp32, with_dropout>>(batch));
  check(first_step<Split<4, Fp32, with_dropout>>(batch));
  check(first_step<Split<8, Fp32, with_dropout>>(batch));
  using Ranked = Split<4, Fp32, with_dropout, Ddp<{.bucket_bytes = 4000}>>;
  for (int ranks = 2; ranks <= max_ranks; ++ranks) check(first_step_on<Ranked>(ranks, batch));
}

// ---- evaluation

TEST_CASE("evaluation gives the loss that the step reports") {
  const HostBatch batch = ragged_batch();
  auto check = [&](TrainerCore&& trainer) {
    for (int step = 0; step < 3; ++step) {
      Loss before = trainer.evaluate(batch);
      Loss reported = applied(trainer, batch).loss;
      CHECK(before.count == reported.count);
      CHECK(relative_difference(before.sum, reported.sum) < 1e-15);
    }
    // Any number of sequences, with the same weights.
    HostBatch many = batch;
    for (int copies = 0; copies < 2; ++copies) {
      for (int s = 0; s < batch.sequences(); ++s)
        many.starts.push_back(many.starts.back() + batch.starts[std::size_t(s) + 1] -
                              batch.starts[std::size_t(s)]);
      for (int e : {0, 1})
        for (std::int32_t id : batch.ids[std::size_t(e)]) many.ids[std::size_t(e)].push_back(id);
    }
    Loss once = trainer.evaluate(batch), thrice = trainer.evaluate(many);
    CHECK(thrice.count == 3 * once.count);
    CHECK(relative_difference(thrice.sum, 3 * once.sum) < 1e-14);
  };
  check(Trainer<Split<1, Fp64, without_dropout>>({.threads = 1}));
  check(Trainer<Split<8, Fp64, without_dropout>>({.threads = 2}));
  if (has_thread_ranks) check(Trainer<Split<4, Fp64, without_dropout, Ddp<>>>({.threads = 2}));
}

TEST_CASE("evaluation and prediction change nothing") {
  using R = Split<4, Fp32, with_dropout>;
  const HostBatch batch = ragged_batch(), other = token_batch({9, 9, 9, 9, 9}, words, 8);
  Trainer<R> calm({.seed = 5, .threads = 2}), busy({.seed = 5, .threads = 2});
  for (int step = 0; step < 4; ++step) {
    Applied a = applied(calm, batch), b = applied(busy, batch);
    CHECK(a.loss.sum == b.loss.sum);
    CHECK(a.gradient_norm == b.gradient_norm);
    const NamedNumbers gradients = gradients_of(busy), weights = parameters_of(busy);
    const double loss = busy.evaluate(other).sum;
    busy.predict(other);
    CHECK(busy.evaluate(other).sum == loss);
    CHECK(gradients_of(busy) == gradients);
    CHECK(parameters_of(busy) == weights);
    CHECK(weights == parameters_of(calm));
    CHECK(gradients == gradients_of(calm));
  }
}

}  // namespace
}  // namespace sinter::detail::testing
