// SPDX-License-Identifier: Apache-2.0
// A label for each sequence, and rows on two axes, against LibTorch and its autograd in double
// precision.
#include "support/torch.hpp"
// (first: it mends macros)
#include "sinter/precision/fp64.hpp"
#include "sinter/recipe/plan.hpp"
#include "support/axes_models.hpp"
#include "support/recipes.hpp"

namespace sinter::detail::testing {
namespace {

using torch::Tensor;
namespace F = torch::nn::functional;
constexpr double bound = 1e-10;

const TrainerSettings settings{.seed = 5, .threads = 1};
const std::vector<int> lengths{3, 5, 1, 4, 2, 5, 5};

template <class Model>
using Net = Made<Model, TwoContexts, Fp64, Batch<{.global = 9, .micro = 3}>>;

/// The means of sequences' rows, one below the other.
Tensor means_of(const Tensor& rows, const std::vector<std::int32_t>& starts) {
  std::vector<Tensor> means;
  for (std::size_t s = 0; s + 1 < starts.size(); ++s)
    means.push_back(rows.slice(0, starts[s], starts[s + 1]).mean(0));
  return torch::stack(means);
}

/// The cross-entropy of an affine map of x, over the rows that have a class.
Tensor loss_of(NamedTensors& w, const Tensor& x, const Tensor& classes) {
  const Tensor logits = x.matmul(w["head.weight"]) + w["head.bias"];
  return F::cross_entropy(logits, classes, F::CrossEntropyFuncOptions().ignore_index(-1));
}

void compare_step(TrainerCore& trainer, const HostBatch& batch, NamedTensors& leaves,
                  const Tensor& loss) {
  loss.backward();
  CHECK(relative_difference(applied(trainer, batch).loss.mean(), loss.item<double>()) < bound);
  for (auto& [name, leaf] : leaves) {
    CAPTURE(name);
    CHECK(relative_difference(trainer.gradient(name), numbers_of(leaf.grad())) < bound);
  }
}

/// softmax(q kᵀ / √d) v of each head and sequence.
Tensor attended(const Tensor& q, const Tensor& kv, const HostBatch& batch, int heads) {
  const auto depth = q.size(1) / heads;
  std::vector<Tensor> results;
  for (std::size_t s = 0; s + 1 < batch.starts.size(); ++s) {
    auto by_head = [&](const Tensor& rows) {
      return rows.view({-1, heads, depth}).transpose(0, 1);
    };
    const Tensor keys = kv.slice(0, batch.second_starts[s], batch.second_starts[s + 1]);
    const Tensor queries = by_head(q.slice(0, batch.starts[s], batch.starts[s + 1]));
    const auto parts = keys.chunk(2, 1);
    const Tensor scores = queries.matmul(by_head(parts[0].contiguous()).transpose(1, 2));
    const Tensor y =
        (scores / std::sqrt(double(depth))).softmax(2).matmul(by_head(parts[1].contiguous()));
    results.push_back(y.transpose(0, 1).reshape({-1, q.size(1)}));
  }
  return torch::cat(results);
}

}  // namespace

TEST_CASE("a torch layer gives a class for each sequence, from the mean of its rows") {
  const HostBatch batch = classified_batch(lengths, 1, 0.2);
  Trainer<Net<SequenceClassifier<>>> trainer(settings);
  randomise(trainer, 7);
  NamedTensors w = leaves_of(trainer);
  const Tensor x = F::embedding(ids_of(batch), w["embed.weight"]);
  compare_step(trainer, batch, w, loss_of(w, means_of(x, batch.starts), ids_of(batch, 1)));
}

TEST_CASE("a torch layer gives a class for each row, also from its sequence on the other axis") {
  const HostBatch batch = two_axes_batch(lengths, {9, 1, 4, 8, 2, 9, 9}, 1, 0.2);
  Trainer<Net<TwoAxes<>>> trainer(settings);
  randomise(trainer, 7);
  NamedTensors w = leaves_of(trainer);
  const Tensor x = F::embedding(ids_of(batch), w["embed.weight"]);
  const Tensor source = F::embedding(ids_of(batch, 1), w["source.weight"]);
  const Tensor other = source.matmul(w["mix.weight"]) + w["mix.bias"];
  std::vector<std::int64_t> counts;
  for (int length : lengths) counts.push_back(length);
  const Tensor spread = means_of(other, batch.second_starts)
                            .repeat_interleave(torch::tensor(counts, torch::kInt64), 0);
  compare_step(trainer, batch, w, loss_of(w, x + spread, ids_of(batch, 2)));
}

TEST_CASE("a torch layer gives a class for each row, by attention to the other axis") {
  const HostBatch batch = two_axes_batch(lengths, {9, 1, 4, 8, 2, 9, 9}, 1, 0.2);
  Trainer<Net<AcrossAxes<>>> trainer(settings);
  randomise(trainer, 7);
  NamedTensors w = leaves_of(trainer);
  const Tensor x = F::embedding(ids_of(batch), w["embed.weight"]);
  const Tensor source = F::embedding(ids_of(batch, 1), w["source.weight"]);
  const Tensor q = x.matmul(w["mix.q.weight"]) + w["mix.q.bias"];
  const Tensor kv = source.matmul(w["mix.kv.weight"]) + w["mix.kv.bias"];
  const Tensor y = 2 * attended(q, kv, batch, AttendAcross<0.f>::heads);
  compare_step(trainer, batch, w, loss_of(w, y, ids_of(batch, 2)));
}

}  // namespace sinter::detail::testing
