// SPDX-License-Identifier: Apache-2.0
// Whole models in single precision, 20 steps: losses and gradient norms against the same models
// written with torch::nn, autograd and torch::optim, on whole batches.
#include "support/torch.hpp"
// (first: it mends macros)
#include "sinter/data/bytes.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/optimizer/adam.hpp"
#include "sinter/optimizer/sgd.hpp"
#include "sinter/schedule/cosine_decay.hpp"
#include "support/batches.hpp"
#include "support/recipes.hpp"
#include "support/text.hpp"

namespace sinter::detail::testing {
namespace {

using torch::Tensor;
namespace nn = torch::nn;
namespace F = torch::nn::functional;
constexpr int steps = 20;
constexpr double bound = 1e-5;

/// LibTorch's threads and the trainer's hinder each other where processors are few and busy.
[[maybe_unused]] const bool one_thread = (at::set_num_threads(1), true);

// ---- GPT-2

constexpr Gpt2Options shape{
    .layers = 4, .heads = 4, .width = 64, .vocabulary = 256, .positions = 40};

struct BlockModule : nn::Module {
  nn::LayerNorm ln_1{nn::LayerNormOptions({shape.width})},
      ln_2{nn::LayerNormOptions({shape.width})};
  nn::Linear c_attn{shape.width, 3 * shape.width}, attn_proj{shape.width, shape.width},
      c_fc{shape.width, 4 * shape.width}, mlp_proj{4 * shape.width, shape.width};
  BlockModule() {
    register_module("ln_1", ln_1);
    register_module("attn_c_attn", c_attn);
    register_module("attn_c_proj", attn_proj);
    register_module("ln_2", ln_2);
    register_module("mlp_c_fc", c_fc);
    register_module("mlp_c_proj", mlp_proj);
  }
  Tensor forward(Tensor x) {
    x = x + attn_proj(attend(c_attn(ln_1(x))));
    return x + mlp_proj(F::gelu(c_fc(ln_2(x)), F::GELUFuncOptions().approximate("tanh")));
  }
  static Tensor attend(const Tensor& qkv) {
    const auto batch = qkv.size(0), length = qkv.size(1);
    auto parts = qkv.view({batch, length, 3, shape.heads, -1}).permute({2, 0, 3, 1, 4}).unbind();
    Tensor y = torch::scaled_dot_product_attention(parts[0], parts[1], parts[2], {}, 0, true);
    return y.transpose(1, 2).reshape({batch, length, shape.width});
  }
};
struct Gpt2Module : nn::Module {
  nn::Embedding wte{shape.vocabulary, shape.width}, wpe{shape.positions, shape.width};
  nn::ModuleList h;
  nn::LayerNorm ln_f{nn::LayerNormOptions({shape.width})};
  Gpt2Module() {
    register_module("wte", wte);
    register_module("wpe", wpe);
    register_module("h", h);
    register_module("ln_f", ln_f);
    for (int l = 0; l < shape.layers; ++l) h->push_back(std::make_shared<BlockModule>());
  }
  Tensor loss(const Tensor& tokens, const Tensor& targets) {
    Tensor x = wte(tokens) + wpe(torch::arange(tokens.size(1)));
    for (const auto& block : *h) x = block->as<BlockModule>()->forward(x);
    Tensor logits = ln_f(x).matmul(wte->weight.t());
    return F::cross_entropy(logits.flatten(0, 1), targets.flatten());
  }
};

/// Copies a trainer's weights; GPT-2's file holds those of its linear layers transposed. Modules'
/// names have underscores where the file's have dots.
void copy_weights(const TrainerCore& trainer, nn::Module& module) {
  torch::NoGradGuard guard;
  std::map<std::string, Tensor> own;
  for (auto& item : module.named_parameters()) own[item.key()] = item.value();
  REQUIRE(own.size() == trainer.parameters().size());
  for (const Parameter& p : trainer.parameters()) {
    std::string name = p.name;
    for (const char* part : {"attn", "mlp"})
      if (auto at = name.find(part + std::string(".")); at != std::string::npos)
        name[at + std::string(part).size()] = '_';
    CAPTURE(name);
    REQUIRE(own.contains(name));
    Tensor value = tensor_of(trainer.parameter(p.name), p.shape);
    bool conv1d = name.find(".c_") != std::string::npos || name.find("_c_") != std::string::npos;
    own[name].copy_(conv1d && p.shape.size() == 2 ? value.t() : value);
  }
}

/// Weights with decay, and those (biases, norms) without.
template <class Options>
std::vector<torch::optim::OptimizerParamGroup> decay_groups(nn::Module& module, Options options) {
  std::vector<Tensor> decayed, undecayed;
  for (const Tensor& p : module.parameters()) (p.dim() > 1 ? decayed : undecayed).push_back(p);
  std::vector<torch::optim::OptimizerParamGroup> groups;
  groups.emplace_back(decayed, std::make_unique<Options>(options));
  groups.emplace_back(undecayed, std::make_unique<Options>(options.weight_decay(0)));
  return groups;
}

/// One step of LibTorch; what the trainer must say of the same step.
template <class Options>
void compare_step(const Applied& ours, nn::Module& module, torch::optim::Optimizer& optimizer,
                  const Tensor& loss, double rate, double max_norm, bool& clipped) {
  optimizer.zero_grad();
  loss.backward();
  double norm = nn::utils::clip_grad_norm_(module.parameters(), max_norm);
  clipped |= norm > max_norm;
  for (auto& group : optimizer.param_groups()) static_cast<Options&>(group.options()).lr(rate);
  optimizer.step();
  CHECK(relative_difference(ours.loss.mean(), loss.item<double>()) < bound);
  CHECK(relative_difference(ours.gradient_norm, norm) < bound);
  CHECK(ours.learning_rate == doctest::Approx(rate));
}

constexpr int context = 32, global_batch = 8;
constexpr double lr = 1e-3, max_norm = .5, decay = .1, least = .1;
constexpr int warmup = 5;

using Gpt2Recipe = Made<Gpt2<shape>, Bytes<{.context = context}>, Batch<{global_batch, 2}>,
                        AdamW<{.lr = lr, .weight_decay = decay}>, ClipNorm<{.max = max_norm}>,
                        CosineDecay<{.warmup = warmup, .steps = steps, .floor = least}>>;

/// Windows of context + 1 bytes, one after the other.
HostBatch text_batch(const std::string& text, int step) {
  HostBatch batch = sequences_of(std::vector<int>(global_batch, context));
  batch.ids.resize(2);
  for (int row = 0; row < batch.rows(); ++row)
    for (int shift : {0, 1}) {
      auto at = std::size_t(step * batch.rows() + row + shift);
      batch.ids[std::size_t(shift)].push_back(static_cast<unsigned char>(text[at]));
    }
  return batch;
}

/// The schedule by its formula: a line up to the warm-up's end, then half a cosine.
double learning_rate(int step) {
  double progress = std::max(0., double(step - 1 - warmup) / (steps - warmup));
  double cosine = least + (1 - least) * (1 + std::cos(std::acos(-1.) * progress)) / 2;
  return lr * std::min(1., double(step) / warmup) * cosine;
}

TEST_CASE("GPT-2 with AdamW, clipping, accumulation and a cosine schedule trains as in torch") {
  Trainer<Gpt2Recipe> trainer({.seed = 3, .threads = 2});
  Gpt2Module module;
  copy_weights(trainer, module);
  auto options = torch::optim::AdamWOptions(lr).weight_decay(decay);
  torch::optim::AdamW optimizer(decay_groups(module, options), options);
  const std::string text = some_text(std::size_t(steps) * global_batch * context + 1);
  bool clipped = false;
  double first = 0, last = 0;
  for (int step = 1; step <= steps; ++step) {
    CAPTURE(step);
    HostBatch batch = text_batch(text, step - 1);
    Tensor tokens = ids_of(batch).view({global_batch, context});
    Tensor targets = ids_of(batch, 1).view({global_batch, context});
    Applied ours = applied(trainer, batch);
    (step == 1 ? first : last) = ours.loss.mean();
    compare_step<torch::optim::AdamWOptions>(ours, module, optimizer, module.loss(tokens, targets),
                                             learning_rate(step), max_norm, clipped);
  }
  CHECK(clipped);
  CHECK(last < first - .5);  // it learns, or nothing was compared
}

// ---- Mlp

constexpr MlpOptions mlp{.in = 5, .hidden = 32, .out = 3, .layers = 3};
constexpr double sgd_lr = .1, adam_lr = .01, sgd_norm = 1;
template <class Optimizer>
using MlpRecipe =
    Made<Mlp<mlp>, Batch<{.global = 64, .micro = 16}>, ClipNorm<{.max = sgd_norm}>, Optimizer>;

struct MlpModule : nn::Module {
  nn::Linear input{mlp.in, mlp.hidden}, hidden{mlp.hidden, mlp.hidden}, output{mlp.hidden, mlp.out};
  nn::ModuleList middle;
  MlpModule() {
    register_module("input", input);
    register_module("hidden", middle);
    middle->push_back(hidden);
    register_module("output", output);
  }
  Tensor forward(const Tensor& x) { return output(torch::relu(hidden(torch::relu(input(x))))); }
  Tensor loss(const Tensor& x, const Tensor& target) { return F::mse_loss(forward(x), target); }
};

/// 20 steps of a recipe and of LibTorch's optimizer.
template <class Recipe, class Optimizer, class Options>
void compare_mlp(Options options, double rate) {
  Trainer<Recipe> trainer({.seed = 3, .threads = 2});
  MlpModule module;
  copy_weights(trainer, module);
  Optimizer optimizer(decay_groups(module, options), options);
  bool clipped = false;
  double first = 0, last = 0;
  for (int step = 1; step <= steps; ++step) {
    CAPTURE(step);
    HostBatch batch = sequences_of(std::vector<int>(64, 1));
    add_values(batch, mlp.in, 100 + std::uint64_t(step));
    batch.values.emplace_back();
    for (int row = 0; row < batch.rows(); ++row)
      for (int k = 0; k < mlp.out; ++k)
        batch.values[1].push_back(4 * std::sin(batch.values[0][std::size_t(row * mlp.in + k)]));
    Tensor x = values_of(batch).to(torch::kFloat32);
    Tensor target = values_of(batch, 1).to(torch::kFloat32);
    Applied ours = applied(trainer, batch);
    (step == 1 ? first : last) = ours.loss.mean();
    compare_step<Options>(ours, module, optimizer, module.loss(x, target), rate, sgd_norm, clipped);
  }
  CHECK(clipped);
  CHECK(last < .9 * first);  // it learns, or nothing was compared
}

TEST_CASE("Mlp with Sgd, momentum, clipping and accumulation trains as in torch") {
  compare_mlp<MlpRecipe<Sgd<{.lr = sgd_lr, .momentum = .9, .weight_decay = .01}>>,
              torch::optim::SGD>(torch::optim::SGDOptions(sgd_lr).momentum(.9).weight_decay(.01),
                                 sgd_lr);
}
TEST_CASE("Mlp with Sgd and Nesterov's momentum trains as in torch") {
  compare_mlp<MlpRecipe<Sgd<{.lr = sgd_lr, .momentum = .9, .weight_decay = .01, .nesterov = true}>>,
              torch::optim::SGD>(
      torch::optim::SGDOptions(sgd_lr).momentum(.9).weight_decay(.01).nesterov(true), sgd_lr);
}
TEST_CASE("Mlp as a classifier, with Adam trains as in torch") {
  constexpr MlpOptions of_classes{
      .in = mlp.in, .hidden = mlp.hidden, .out = mlp.out, .layers = mlp.layers, .classifier = true};
  constexpr double max_norm = .5;
  Trainer<Made<Mlp<of_classes>, Batch<{.global = 64, .micro = 16}>, ClipNorm<{.max = max_norm}>,
               Adam<{.lr = adam_lr}>>>
      trainer({.seed = 3, .threads = 2});
  MlpModule module;
  copy_weights(trainer, module);
  const auto options = torch::optim::AdamOptions(adam_lr);
  torch::optim::Adam optimizer(decay_groups(module, options), options);
  bool clipped = false;
  double first = 0, last = 0;
  for (int step = 1; step <= steps; ++step) {
    CAPTURE(step);
    HostBatch batch = sequences_of(std::vector<int>(64, 1));
    add_values(batch, mlp.in, 100 + std::uint64_t(step));
    batch.ids.emplace_back();  // the largest of the first numbers; some rows have no class
    for (int row = 0; row < batch.rows(); ++row) {
      const auto x = batch.values[0].begin() + row * mlp.in;
      const auto largest = std::int32_t(std::max_element(x, x + mlp.out) - x);
      batch.ids[0].push_back(row % 9 == 4 ? -1 : largest);
    }
    Tensor x = values_of(batch).to(torch::kFloat32);
    Tensor loss = F::cross_entropy(module.forward(x), ids_of(batch),
                                   F::CrossEntropyFuncOptions().ignore_index(-1));
    Applied ours = applied(trainer, batch);
    (step == 1 ? first : last) = ours.loss.mean();
    compare_step<torch::optim::AdamOptions>(ours, module, optimizer, loss, adam_lr, max_norm,
                                            clipped);
    if (step < steps) continue;
    const Prediction logits = trainer.predict(batch);
    REQUIRE(logits.columns == mlp.out);
    Tensor want = module.forward(x);
    for (int k = 0; k < batch.rows() * mlp.out; ++k)
      CHECK(std::abs(double(logits.values[std::size_t(k)]) - want.flatten()[k].item<double>()) <
            1e-4);
  }
  CHECK(clipped);
  CHECK(last < .9 * first);  // it learns, or nothing was compared
}
TEST_CASE("Mlp with Adam trains as in torch") {
  compare_mlp<MlpRecipe<Adam<{.lr = adam_lr, .weight_decay = .01}>>, torch::optim::Adam>(
      torch::optim::AdamOptions(adam_lr).weight_decay(.01), adam_lr);
}

}  // namespace
}  // namespace sinter::detail::testing
