// SPDX-License-Identifier: Apache-2.0
// Forward and backward of every layer against LibTorch and its autograd, in double precision: same
// weights, same inputs, results and gradients equal to 1e-10.
#include "support/torch.hpp"
// (first: it mends macros)
#include "sinter/layer/init.hpp"
#include "support/batches.hpp"
#include "support/layer_models.hpp"

namespace sinter::detail::testing {
namespace {

using torch::Tensor;
namespace F = torch::nn::functional;
constexpr double bound = 1e-10;

const TrainerSettings settings{.seed = 5, .threads = 1};

/// The predictions for all micro-batches, in double precision.
Numbers all_predictions(TrainerCore& trainer, const HostBatch& batch) {
  Numbers result;
  for (int s = 0; s < batch.sequences(); s += micro) {
    trainer.predict(part(batch, s, std::min(s + micro, batch.sequences())));
    Numbers some = prediction_in_double(trainer);
    result.insert(result.end(), some.begin(), some.end());
  }
  return result;
}

/// One step's loss and gradients against a scalar's.
void compare_step(TrainerCore& trainer, const HostBatch& batch, NamedTensors& leaves,
                  const Tensor& loss) {
  loss.backward();
  CHECK(relative_difference(applied(trainer, batch).loss.mean(), loss.item<double>()) < bound);
  for (auto& [name, leaf] : leaves) {
    CAPTURE(name);
    CHECK(relative_difference(trainer.gradient(name), numbers_of(leaf.grad())) < bound);
  }
}

/// Calls layer(weights, a, b, batch, training) for the layer in the middle of Around.
template <class Unit>
void compare(auto layer, bool layer_has_dropout = false) {
  HostBatch batch = regression_batch(lengths, given_width, target_width, 1);
  Trainer<Checked<Around<Unit>>> trainer(settings);
  randomise(trainer, 7);
  NamedTensors w = leaves_of(trainer);
  Tensor x = values_of(batch);
  Tensor a = x.matmul(w["a.weight"]) + w["a.bias"];
  Tensor b = w.contains("b.weight") ? x.matmul(w["b.weight"]) + w["b.bias"] : a;
  Tensor y = layer(w, a, b, batch, false);
  CHECK(relative_difference(all_predictions(trainer, batch), numbers_of(y)) < bound);
  if (layer_has_dropout) y = layer(w, a, b, batch, true);
  Tensor out = F::linear(y, w["after.weight"], w["after.bias"]);
  compare_step(trainer, batch, w, F::mse_loss(out, values_of(batch, 1)));
}

/// A function of one operand alone.
template <class L>
void compare_function(auto f) {
  compare<Alone<L>>([&](auto&, const Tensor& a, auto&&...) { return f(a); });
}

Tensor normalised(const Tensor& x, NamedTensors& w, const std::string& name = "layer",
                  double eps = 1e-5) {
  return F::layer_norm(x, F::LayerNormFuncOptions({x.size(1)})
                              .weight(w[name + ".weight"])
                              .bias(w[name + ".bias"])
                              .eps(eps));
}
Tensor rms_normalised(const Tensor& x, NamedTensors& w, double eps) {
  return x * torch::rsqrt(x.square().mean(1, true) + eps) * w["layer.weight"];
}
Tensor gelu_tanh(const Tensor& x) { return F::gelu(x, F::GELUFuncOptions().approximate("tanh")); }

TEST_CASE("LibTorch agrees with Linear, stored as in GPT-2") {
  compare<Alone<InOutLinear>>([](auto& w, const Tensor& a, auto&&...) {
    return a.matmul(w["layer.weight"]) + w["layer.bias"];
  });
}
TEST_CASE("LibTorch agrees with Linear, stored as in torch.nn") {
  compare<Alone<OutInLinear>>([](auto& w, const Tensor& a, auto&&...) {
    return F::linear(a, w["layer.weight"], w["layer.bias"]);
  });
}
TEST_CASE("LibTorch agrees with Linear, without a bias") {
  compare<Alone<UnbiasedLinear>>(
      [](auto& w, const Tensor& a, auto&&...) { return F::linear(a, w["layer.weight"]); });
}
TEST_CASE("LibTorch agrees with LayerNorm") {
  compare<Alone<Norm>>([](auto& w, const Tensor& a, auto&&...) { return normalised(a, w); });
}
TEST_CASE("LibTorch agrees with AddLayerNorm") {
  compare<AddThenNorm<wide>>([](auto& w, const Tensor& a, const Tensor& b, auto&&...) {
    Tensor h = a + b;
    return gelu_tanh(h) + normalised(h, w);
  });
}
TEST_CASE("LibTorch agrees with PostLayerNorm") {
  compare<Alone<PostNorm>>([](auto& w, const Tensor& a, const Tensor& b, auto&&...) {
    return normalised(a + b, w, "layer", 1e-3);
  });
}
TEST_CASE("LibTorch agrees with RmsNorm") {
  compare<Alone<RmsNorm<wide>>>(
      [](auto& w, const Tensor& a, auto&&...) { return rms_normalised(a, w, 1e-6); });
}
TEST_CASE("LibTorch agrees with RmsNorm, of a larger eps") {
  compare<Alone<RmsNorm<wide, {.eps = .25}>>>(
      [](auto& w, const Tensor& a, auto&&...) { return rms_normalised(a, w, .25); });
}
TEST_CASE("LibTorch agrees with AddRmsNorm") {
  compare<AddThenNorm<wide, AddRmsNorm<wide>>>(
      [](auto& w, const Tensor& a, const Tensor& b, auto&&...) {
        Tensor h = a + b;
        return gelu_tanh(h) + rms_normalised(h, w, 1e-6);
      });
}
/// The position of each row in its sequence.
Tensor places() {
  std::vector<Tensor> all;
  for (int length : lengths) all.push_back(torch::arange(length));
  return torch::cat(all);
}
TEST_CASE("LibTorch agrees with AddPosition") {
  compare<Alone<Places>>([](auto& w, const Tensor& a, auto&&...) {
    return a + F::embedding(places(), w["layer.weight"]);
  });
}
TEST_CASE("LibTorch agrees with AddPosition, with rows before the first") {
  compare<Alone<OffsetPlaces>>([](auto& w, const Tensor& a, auto&&...) {
    return a + F::embedding(places() + 2, w["layer.weight"]);
  });
}
TEST_CASE("LibTorch agrees with AddSinusoids") {
  compare_function<AddSinusoids<wide>>([](const Tensor& x) {
    const Tensor number = torch::arange(wide / 2, torch::kFloat64);
    const Tensor angles = places().to(torch::kFloat64).outer(torch::pow(1e4, -2 * number / wide));
    return x + torch::cat({angles.sin(), angles.cos()}, 1);
  });
}
TEST_CASE("LibTorch agrees with Scale") {
  compare_function<Scaled>([](const Tensor& x) { return 2.5 * x; });
  compare_function<Scale<wide, rounded_square_root(wide)>>(
      [](const Tensor& x) { return std::sqrt(double(wide)) * x; });
}
TEST_CASE("LibTorch agrees with GeluTanh") { compare_function<GeluTanh<wide>>(gelu_tanh); }
TEST_CASE("LibTorch agrees with GeluErf") {
  compare_function<GeluErf<wide>>([](const Tensor& x) { return F::gelu(x); });
}
TEST_CASE("LibTorch agrees with Relu") {
  compare_function<Relu<wide>>([](const Tensor& x) { return torch::relu(x); });
}
TEST_CASE("LibTorch agrees with Silu") {
  compare_function<Silu<wide>>([](const Tensor& x) { return torch::silu(x); });
}
TEST_CASE("LibTorch agrees with Tanh") {
  compare_function<Tanh<wide>>([](const Tensor& x) { return torch::tanh(x); });
}
TEST_CASE("LibTorch agrees with SwiGlu") {
  compare_function<SwiGlu<wide>>([](const Tensor& x) {
    auto halves = x.chunk(2, 1);
    return torch::silu(halves[0]) * halves[1];
  });
}
TEST_CASE("LibTorch agrees with GatedSilu") {
  compare<Alone<GatedSilu<wide>>>(
      [](auto&, const Tensor& a, const Tensor& b, auto&&...) { return torch::silu(a) * b; });
}
TEST_CASE("LibTorch agrees with Add") {
  compare<Alone<Add<wide>>>(
      [](auto&, const Tensor& a, const Tensor& b, auto&&...) { return a + b; });
}
TEST_CASE("LibTorch agrees with Concat") {
  compare<Alone<Concat<wide, 3>>>(
      [](auto&, const Tensor& a, const Tensor& b, auto&&...) { return torch::cat({a, b}, 1); });
}
TEST_CASE("LibTorch agrees with AddFirstEmbedding") {
  compare<Alone<AddFirstEmbedding<3, wide>>>(
      [](auto& w, const Tensor& a, auto&&...) { return a + w["layer.weight"][0]; });
}
TEST_CASE("LibTorch agrees with UnembeddingBias") {
  compare<Alone<BiasedLogits>>([](auto& w, const Tensor& a, auto&&...) {
    return F::linear(a, w["layer.weight"], w["layer.bias"]);
  });
}
TEST_CASE("LibTorch agrees with Unembedding") {
  compare<Alone<Logits>>(
      [](auto& w, const Tensor& a, auto&&...) { return F::linear(a, w["layer.weight"]); });
}

kernel::Tensor<Numbers::value_type> view(Numbers& values, int rows, int columns) {
  return {values.data(), rows, columns};
}

/// The dropout of the first step, in the unit after "a" or of this number.
kernel::Dropout dropout_of_step_one(std::uint32_t unit = 1) {
  Now now;
  now.seed = settings.seed;
  now.step = 1;
  return {drop, dropout_key(now, unit * 256), 0};  // node 0
}
TEST_CASE("LibTorch agrees with Dropout") {
  auto layer = [](auto&, const Tensor& a, auto&, const HostBatch& batch, bool training) {
    if (!training) return a.clone();
    kernel::Stream stream(1);
    Numbers mask(std::size_t(batch.rows()) * wide, 1);
    kernel::dropout(stream, view(mask, batch.rows(), wide), view(mask, batch.rows(), wide),
                    dropout_of_step_one());
    CHECK(std::ranges::count(mask, 0.) > 0);
    return a * tensor_of(mask, {batch.rows(), wide});
  };
  compare<Alone<Drop>>(layer, true);
}

/// mask[row][head][key]: what each probability is multiplied by. Read off the forward pass: with
/// q = 0 all probabilities of a row are equal, and with v the unit vectors its results show them.
Tensor attention_mask(const HostBatch& batch, kernel::AttentionSpan span,
                      kernel::Dropout dropout = dropout_of_step_one()) {
  constexpr int head = wide / heads;
  static_assert(head >= context);
  const int rows = batch.rows();
  Numbers qkv(std::size_t(rows) * 3 * wide, 0), y(std::size_t(rows) * wide),
      log_sum(std::size_t(rows) * heads);
  for (int s = 0; s < batch.sequences(); ++s)
    for (int r = batch.starts[std::size_t(s)], k = 0; r < batch.starts[std::size_t(s) + 1];
         ++r, ++k)
      for (int h = 0; h < heads; ++h) qkv[std::size_t(r * 3 * wide + 2 * wide + h * head + k)] = 1;
  kernel::Stream stream(1);
  kernel::attention_forward(stream, view(qkv, rows, 3 * wide), view(y, rows, wide),
                            view(log_sum, rows, heads),
                            {batch.starts.data(), batch.sequences(), rows}, span, dropout);
  Tensor mask = tensor_of(y, {rows, heads, head});
  return mask * torch::exp(tensor_of(log_sum, {rows, heads, 1}));
}

Tensor attention(const Tensor& qkv, const HostBatch& batch, kernel::AttentionSpan span,
                 const Tensor& mask) {
  std::vector<Tensor> results;
  for (int s = 0; s < batch.sequences(); ++s) {
    Tensor rows = sequence_of(qkv, batch, s);
    const auto length = rows.size(0);
    auto parts = rows.view({length, 3, heads, wide / heads}).permute({1, 2, 0, 3}).unbind();
    Tensor scores = parts[0].matmul(parts[1].transpose(1, 2)) / std::sqrt(double(wide) / heads);
    const Tensor all = torch::ones({length, length}, torch::kBool);
    if (span.causal) scores = scores.masked_fill(all.triu(1), -INFINITY);
    if (span.window > 0) scores = scores.masked_fill(all.tril(-span.window), -INFINITY);
    Tensor probabilities = scores.softmax(2);
    if (mask.defined())
      probabilities =
          probabilities * sequence_of(mask, batch, s).permute({1, 0, 2}).slice(2, 0, length);
    results.push_back(probabilities.matmul(parts[2]).transpose(0, 1).reshape({length, wide}));
  }
  return torch::cat(results);
}
/// q, k and v, where all heads share those of k and v that the rows have.
Tensor with_own_keys(const Tensor& qkv) {
  auto parts = qkv.split_with_sizes({wide, wide / heads, wide / heads}, 1);
  return torch::cat({parts[0], parts[1].repeat({1, heads}), parts[2].repeat({1, heads})}, 1);
}
template <class L>
void compare_attention(bool with_dropout) {
  auto layer = [=](auto&, const Tensor& a, auto&, const HostBatch& batch, bool training) {
    const bool masked = with_dropout && training;
    const Tensor qkv = a.size(1) == 3 * wide ? a : with_own_keys(a);
    return attention(qkv, batch, L::span, masked ? attention_mask(batch, L::span) : Tensor());
  };
  compare<Alone<L>>(layer, with_dropout);
}
TEST_CASE("LibTorch agrees with CausalSelfAttention") { compare_attention<CausalAttention>(false); }
TEST_CASE("LibTorch agrees with CausalSelfAttention with dropout") {
  compare_attention<CausalAttentionDropout>(true);
}
TEST_CASE("LibTorch agrees with CausalSelfAttention, keys shared") {
  compare_attention<SharedAttention>(false);
}
TEST_CASE("LibTorch agrees with CausalSelfAttention, keys shared, with dropout") {
  compare_attention<SharedAttentionDropout>(true);
}
TEST_CASE("LibTorch agrees with CausalSelfAttention in a window") {
  compare_attention<WindowAttention>(false);
}
TEST_CASE("LibTorch agrees with CausalSelfAttention in a window, keys shared, with dropout") {
  compare_attention<WindowAttentionDropout>(true);
}
TEST_CASE("LibTorch agrees with SelfAttention") { compare_attention<FullAttention>(false); }
TEST_CASE("LibTorch agrees with SelfAttention with dropout") {
  compare_attention<FullAttentionDropout>(true);
}
/// On one axis it is SelfAttention of both operands side by side.
template <class L>
void compare_cross_attention(bool with_dropout) {
  auto layer = [=](auto&, const Tensor& q, const Tensor& kv, const HostBatch& batch,
                   bool training) {
    const Tensor mask =
        with_dropout && training ? attention_mask(batch, {}, dropout_of_step_one(2)) : Tensor();
    return attention(torch::cat({q, kv}, 1), batch, {}, mask);
  };
  compare<Alone<L>>(layer, with_dropout);
}
TEST_CASE("LibTorch agrees with CrossAttention, of rows to their own axis") {
  compare_cross_attention<AttentionAcross>(false);
}
TEST_CASE("LibTorch agrees with CrossAttention, of rows to their own axis, with dropout") {
  compare_cross_attention<AttentionAcrossDropout>(true);
}

/// Turns heads by the angles of their rows' places, and multiplies them by a factor:
/// apply_rotary_pos_emb of transformers, with rotate_half.
Tensor turned(const Tensor& x, const HostBatch& batch, const Tensor& frequencies,
              double factor = 1) {
  std::vector<Tensor> results;
  const std::int64_t depth = 2 * frequencies.size(0);
  for (int s = 0; s < batch.sequences(); ++s) {
    const Tensor rows = sequence_of(x, batch, s), heads_of = rows.view({rows.size(0), -1, depth});
    Tensor angles = torch::outer(torch::arange(rows.size(0), torch::kFloat64), frequencies);
    angles = torch::cat({angles, angles}, 1).unsqueeze(1);
    auto halves = heads_of.chunk(2, 2);
    const Tensor rotated = torch::cat({-halves[1], halves[0]}, 2);
    results.push_back(factor * (heads_of * angles.cos() + rotated * angles.sin()).flatten(1));
  }
  return torch::cat(results);
}
template <class L>
void compare_rotary(const Tensor& frequencies, double factor) {
  compare<Alone<L>>([=](auto& w, const Tensor& q, const Tensor& k, const HostBatch& batch, bool) {
    const Tensor v = values_of(batch).matmul(w["c.weight"]) + w["c.bias"];
    return torch::cat(
        {turned(q, batch, frequencies, factor), turned(k, batch, frequencies, factor), v}, 1);
  });
}
TEST_CASE("LibTorch agrees with Rotary") {
  compare_rotary<Turned>(torch::pow(50., torch::arange(0, 6, 2, torch::kFloat64) / -6.), 1);
}
TEST_CASE("LibTorch agrees with Rotary scaled by yarn") {
  const Tensor plain = torch::pow(50., torch::arange(0, 8, 2, torch::kFloat64) / -8.);
  const Tensor ramp = torch::arange(0, 4, torch::kFloat64) / 3;  // from number 0 to number 3
  compare_rotary<TurnedByYarn>(plain * (1 - ramp) + plain / 4 * ramp, .1 * std::log(4) + 1);
}

TEST_CASE("LibTorch agrees with Embedding") {
  HostBatch batch = sequences_of(lengths);
  add_ids(batch, vocabulary, 1);
  add_values(batch, target_width, 2);
  Trainer<Checked<EmbeddingModel, vocabulary>> trainer(settings);
  randomise(trainer, 7);
  NamedTensors w = leaves_of(trainer);
  Tensor y = F::embedding(ids_of(batch), w["layer.weight"]);
  CHECK(relative_difference(all_predictions(trainer, batch), numbers_of(y)) < bound);
  Tensor out = F::linear(y, w["after.weight"], w["after.bias"]);
  compare_step(trainer, batch, w, F::mse_loss(out, values_of(batch)));
}

TEST_CASE("LibTorch agrees with AddEmbedding") {
  HostBatch batch = regression_batch(lengths, given_width, target_width, 1);
  add_ids(batch, vocabulary, 2);
  Trainer<Checked<AddEmbeddingModel, vocabulary>> trainer(settings);
  randomise(trainer, 7);
  NamedTensors w = leaves_of(trainer);
  Tensor y = values_of(batch).matmul(w["a.weight"]) + w["a.bias"];
  for (const char* name : {"layer.weight", "layer.again.weight"})
    y = y + F::embedding(ids_of(batch), w[name]);
  CHECK(relative_difference(all_predictions(trainer, batch), numbers_of(y)) < bound);
  Tensor out = F::linear(y, w["after.weight"], w["after.bias"]);
  compare_step(trainer, batch, w, F::mse_loss(out, values_of(batch, 1)));
}

TEST_CASE("LibTorch agrees with a head with the weight of an embedding and a bias of its own") {
  HostBatch batch = token_batch(lengths, vocabulary, 1, .3);
  REQUIRE(std::ranges::count(batch.ids[1], -1) > 0);
  Trainer<Checked<TiedBiasModel, vocabulary>> trainer(settings);
  randomise(trainer, 7);
  NamedTensors w = leaves_of(trainer);
  REQUIRE(w.size() == 2);
  Tensor x = torch::tanh(F::embedding(ids_of(batch), w["layer.weight"]));
  Tensor logits = F::linear(x, w["layer.weight"], w["after.head.bias"]);
  CHECK(relative_difference(all_predictions(trainer, batch), numbers_of(logits)) < bound);
  compare_step(
      trainer, batch, w,
      F::cross_entropy(logits, ids_of(batch, 1), F::CrossEntropyFuncOptions().ignore_index(-1)));
}

TEST_CASE("LibTorch agrees with LinearCrossEntropy, with targets to ignore") {
  HostBatch batch = sequences_of(lengths);
  add_values(batch, given_width, 1);
  add_ids(batch, vocabulary, 2, .3);
  REQUIRE(std::ranges::count(batch.ids[0], -1) > 0);
  Trainer<Checked<CrossEntropyModel<1>, vocabulary>> trainer(settings);
  randomise(trainer, 7);
  NamedTensors w = leaves_of(trainer);
  Tensor logits =
      (values_of(batch).matmul(w["a.weight"]) + w["a.bias"]).matmul(w["layer.weight"].t());
  Tensor loss =
      F::cross_entropy(logits, ids_of(batch), F::CrossEntropyFuncOptions().ignore_index(-1));
  CHECK(relative_difference(trainer.evaluate(batch).mean(), loss.item<double>()) < bound);
  compare_step(trainer, batch, w, loss);
}

TEST_CASE("LibTorch agrees with BinaryCrossEntropy") {
  HostBatch batch = regression_batch(lengths, given_width, wide, 1);
  Trainer<Checked<BinaryCrossEntropyModel>> trainer(settings);
  randomise(trainer, 7);
  NamedTensors w = leaves_of(trainer);
  Tensor in = values_of(batch);
  Tensor x = in.matmul(w["x.weight"]) + w["x.bias"], y = in.matmul(w["y.weight"]) + w["y.bias"];
  Tensor loss = F::binary_cross_entropy_with_logits(x, values_of(batch, 1)) +
                F::binary_cross_entropy_with_logits(x, y);
  CHECK(relative_difference(trainer.evaluate(batch).mean(), loss.item<double>()) < bound);
  compare_step(trainer, batch, w, loss);
}

TEST_CASE("LibTorch agrees with CrossEntropy, with classes to ignore") {
  HostBatch batch = sequences_of(lengths);
  add_values(batch, given_width, 1);
  add_ids(batch, wide, 2, .3);
  REQUIRE(std::ranges::count(batch.ids[0], -1) > 0);
  Trainer<Checked<CrossEntropyModel<1, ClassLoss>, wide>> trainer(settings);
  randomise(trainer, 7);
  NamedTensors w = leaves_of(trainer);
  Tensor logits = values_of(batch).matmul(w["a.weight"]) + w["a.bias"];
  Tensor loss =
      F::cross_entropy(logits, ids_of(batch), F::CrossEntropyFuncOptions().ignore_index(-1));
  CHECK(relative_difference(trainer.evaluate(batch).mean(), loss.item<double>()) < bound);
  compare_step(trainer, batch, w, loss);
}

/// A step with label smoothing and class weights, of targets of which some are to be ignored.
template <class Model, int Vocabulary>
void compare_reshaped(auto logits_of) {
  HostBatch batch = sequences_of(lengths);
  add_values(batch, given_width, 1);
  add_ids(batch, Vocabulary, 2, .3);
  REQUIRE(std::ranges::count(batch.ids[0], -1) > 0);
  using R = Reshaped<Model, Vocabulary>;
  Trainer<R> trainer(settings);
  randomise(trainer, 7);
  NamedTensors w = leaves_of(trainer);
  const Tensor logits = logits_of(values_of(batch).matmul(w["a.weight"]) + w["a.bias"], w);
  const auto& weights = SomeWeights<Vocabulary>::class_weights;
  auto options = F::CrossEntropyFuncOptions().ignore_index(-1);
  const Tensor plain = F::cross_entropy(logits, ids_of(batch), options);
  CHECK(relative_difference(trainer.evaluate(batch).mean(), plain.item<double>()) < bound);
  options.label_smoothing(.1).weight(
      torch::tensor(Numbers(weights.begin(), weights.end()), torch::kFloat64));
  compare_step(trainer, batch, w, F::cross_entropy(logits, ids_of(batch), options));
}
TEST_CASE("LibTorch agrees with CrossEntropy, with label smoothing and class weights") {
  compare_reshaped<CrossEntropyModel<1, ClassLoss>, wide>([](const Tensor& x, auto&) { return x; });
}
TEST_CASE("LibTorch agrees with LinearCrossEntropy, with label smoothing and class weights") {
  compare_reshaped<CrossEntropyModel<1>, vocabulary>(
      [](const Tensor& x, auto& w) { return x.matmul(w["layer.weight"].t()); });
}
TEST_CASE("LibTorch agrees with LinearBiasCrossEntropy, with label smoothing and class weights") {
  compare_reshaped<CrossEntropyModel<1, BiasedTableLoss>, vocabulary>(
      [](const Tensor& x, auto& w) { return F::linear(x, w["layer.weight"], w["layer.bias"]); });
}

TEST_CASE("LibTorch agrees with FirstRow") {
  HostBatch batch = regression_batch(lengths, given_width, 1, 1);
  Trainer<Checked<PooledModel<Alone<FirstRow<wide>>>>> trainer(settings);
  randomise(trainer, 7);
  NamedTensors w = leaves_of(trainer);
  Tensor x = values_of(batch).matmul(w["a.weight"]) + w["a.bias"];
  std::vector<Tensor> first;
  for (int s = 0; s < batch.sequences(); ++s)
    first.push_back(sequence_of(x, batch, s).slice(0, 0, 1));
  Tensor y = torch::cat(first);
  CHECK(relative_difference(all_predictions(trainer, batch), numbers_of(y)) < bound);
  Tensor out = normalised(y, w, "after.norm").matmul(w["after.weight"]) + w["after.bias"];
  compare_step(trainer, batch, w, out.square().sum() / batch.rows());
}

TEST_CASE("LibTorch agrees with LastRow") {
  HostBatch batch = regression_batch(lengths, given_width, 1, 1);
  Trainer<Checked<PooledModel<Alone<LastRow<wide>>>>> trainer(settings);
  randomise(trainer, 7);
  NamedTensors w = leaves_of(trainer);
  Tensor x = values_of(batch).matmul(w["a.weight"]) + w["a.bias"];
  std::vector<Tensor> last;
  for (int s = 0; s < batch.sequences(); ++s) last.push_back(sequence_of(x, batch, s).slice(0, -1));
  Tensor y = torch::cat(last);
  CHECK(relative_difference(all_predictions(trainer, batch), numbers_of(y)) < bound);
  Tensor out = normalised(y, w, "after.norm").matmul(w["after.weight"]) + w["after.bias"];
  compare_step(trainer, batch, w, out.square().sum() / batch.rows());
}

}  // namespace
}  // namespace sinter::detail::testing
