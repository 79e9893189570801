// SPDX-License-Identifier: Apache-2.0
// GPT-2 as a user of LibTorch writes it by hand: with autograd, the fastest attention that LibTorch
// has, and one fused AdamW.
#pragma once
#include <torch/torch.h>

#include "sinter/model/gpt2.hpp"
#include "sinter/trainer/core.hpp"

namespace sinter::detail::bench {

class TorchGpt2 {
  using Tensor = torch::Tensor;
  Gpt2Options shape;
  std::map<std::string, Tensor> w;
  struct Group {
    std::vector<Tensor> weights, gradients, mean, square, unused, steps;
    double decay = 0;
  };
  Group decayed, undecayed;

 public:
  /// Starts from a trainer's weights.
  TorchGpt2(Gpt2Options options, const TrainerCore& trainer, double weight_decay) : shape(options) {
    decayed.decay = weight_decay;
    for (const Parameter& p : trainer.parameters()) {
      Tensor value = torch::tensor(trainer.parameter(p.name), torch::kFloat64).to(torch::kFloat32);
      Tensor leaf = value.view(p.shape).clone().requires_grad_();
      w[p.name] = leaf;
      Group& group = p.decayed ? decayed : undecayed;
      group.weights.push_back(leaf);
      group.mean.push_back(torch::zeros_like(leaf));
      group.square.push_back(torch::zeros_like(leaf));
      group.steps.push_back(torch::zeros({}, torch::kFloat32));
    }
  }

  /// Takes one step of AdamW with clipping and returns the loss. Tokens and targets are sequences ×
  /// length.
  double step(const Tensor& tokens, const Tensor& targets, double lr, double beta2,
              double max_norm) {
    Tensor mean_loss = loss(tokens, targets);
    mean_loss.backward();
    Tensor scale = clip(max_norm);
    for (Group* group : {&decayed, &undecayed}) update(*group, lr, beta2, scale);
    return mean_loss.item<double>();
  }

 private:
  Tensor norm(const Tensor& x, const std::string& name) {
    return torch::layer_norm(x, {shape.width}, w[name + ".weight"], w[name + ".bias"], 1e-5);
  }
  Tensor linear(const Tensor& x, const std::string& name) {
    Tensor flat = x.reshape({-1, x.size(-1)});
    return torch::addmm(w[name + ".bias"], flat, w[name + ".weight"])
        .view({x.size(0), x.size(1), -1});
  }
  Tensor attend(const Tensor& qkv) {
    const auto batch = qkv.size(0), length = qkv.size(1);
    auto parts = qkv.view({batch, length, 3, shape.heads, -1}).permute({2, 0, 3, 1, 4}).unbind();
    Tensor y = torch::scaled_dot_product_attention(parts[0], parts[1], parts[2], {}, 0, true);
    return y.transpose(1, 2).reshape({batch, length, shape.width});
  }
  Tensor loss(const Tensor& tokens, const Tensor& targets) {
    Tensor x =
        torch::embedding(w["wte.weight"], tokens) + w["wpe.weight"].slice(0, 0, tokens.size(1));
    for (int l = 0; l < shape.layers; ++l) {
      std::string h = "h." + std::to_string(l) + ".";
      Tensor mixed = attend(linear(norm(x, h + "ln_1"), h + "attn.c_attn"));
      x = x + linear(mixed, h + "attn.c_proj");
      Tensor wide = torch::gelu(linear(norm(x, h + "ln_2"), h + "mlp.c_fc"), "tanh");
      x = x + linear(wide, h + "mlp.c_proj");
    }
    Tensor logits = norm(x, "ln_f").flatten(0, 1).matmul(w["wte.weight"].t());
    return torch::cross_entropy_loss(logits, targets.flatten());
  }

  /// The number by which the optimizer is to divide the gradients, so that they are clipped.
  Tensor clip(double max_norm) {
    torch::NoGradGuard guard;
    std::vector<Tensor> norms;
    for (Group* group : {&decayed, &undecayed}) {
      group->gradients.clear();
      for (Tensor& weight : group->weights) group->gradients.push_back(weight.grad());
      auto part = at::_foreach_norm(group->gradients);
      norms.insert(norms.end(), part.begin(), part.end());
    }
    return ((torch::stack(norms).norm() + 1e-6) / max_norm).clamp_min(1.0);
  }
  void update(Group& group, double lr, double beta2, const Tensor& scale) {
    torch::NoGradGuard guard;
    at::_foreach_add_(group.steps, 1);
    at::_fused_adamw_(group.weights, group.gradients, group.mean, group.square, group.unused,
                      group.steps, lr, 0.9, beta2, group.decay, 1e-8, false, false, scale);
    for (Tensor& weight : group.weights) weight.mutable_grad().reset();
  }
};

}  // namespace sinter::detail::bench
