// SPDX-License-Identifier: Apache-2.0
// The models of bench/learn.cpp, and the methods by which each is trained.
#pragma once
#include "learn_texts.hpp"
#include "recipes.hpp"

namespace sinter::detail::bench::learn {

constexpr double lr = 1e-3, weight_decay = 0.1, max_norm = 1;

using Gpt = Gpt2<{.layers = 2, .heads = 4, .width = 64, .vocabulary = 256, .positions = longest}>;
using MaskedBert = Bert<{.layers = 2,
                         .heads = 4,
                         .width = 64,
                         .hidden = 256,
                         .vocabulary = mask + 1,
                         .positions = longest,
                         .dropout = 0}>;
using Replier = Seq2Seq<{.encoder_layers = 2,
                         .decoder_layers = 2,
                         .heads = 4,
                         .width = 64,
                         .hidden = 256,
                         .vocabulary = pad + 1,
                         .positions = longest + 1,
                         .position = Positions::sinusoidal,
                         .activation = Activation::relu,
                         .scale_embedding = true,
                         .dropout = 0,
                         .pad = pad}>;

/// Each step has two micro-batches, as many sequences in both, and other numbers of predictions.
template <class Model, class Precision, class Optimizer>
struct learner
    : Recipe<Model, Precision, Tokens<Model::options.positions, Model::options.vocabulary>,
             Optimizer, ClipNorm<{.max = max_norm}>, CosineDecay<>,
             Batch<{.global = sequences, .micro = sequences / 2}>> {};

using Recipes = std::vector<std::shared_ptr<RecipeView> (*)()>;

/// How a model is trained: in the order of `methods`, which recipes_of() keeps to.
struct Method {
  const char *name, *peer, *word;  ///< for the table; on the command line of peers/learn.py
  double bar;  ///< the largest difference of a loss; of distances, the largest ratio
  /// True if losses are held to their distance from those of Fp32 and not to the peer's.
  bool by_distance = false;
};
inline const std::vector<Method> methods{
    {"Fp32", "PyTorch in fp32", "fp32", 1e-3},
    {"Bf16", "PyTorch, autocast to bf16", "autocast", 3, true},
    {"AdamW8bit", "bitsandbytes' AdamW8bit", "adamw8bit", 1e-2},
    {"Adafactor", "transformers' Adafactor", "adafactor", 1e-2},
    {"Muon", "torch.optim.Muon", "muon", 1e-2},
};
constexpr std::size_t fp32 = 0, bf16 = 1;  // of `methods`

template <class... Learners>
Recipes views_of() {
  return {&Trainer<Learners>::options...};
}
template <class Model>
Recipes recipes_of() {
  using Usual = AdamW<{.lr = lr, .weight_decay = weight_decay}>;
  return views_of<learner<Model, Fp32, Usual>, learner<Model, Bf16, Usual>,
                  learner<Model, Fp32, AdamW8bit<{.lr = lr, .weight_decay = weight_decay}>>,
                  learner<Model, Fp32, Adafactor<{.lr = lr}>>,
                  learner<Model, Fp32,
                          Muon<{.lr = lr,
                                .weight_decay = weight_decay,
                                .adamw_lr = lr,
                                .adamw_weight_decay = weight_decay}>>>();
}

struct Subject {
  const char *name, *model;  ///< for the table; the class of transformers
  std::vector<int> axes;     ///< of the inputs
  Add add;
  Recipes recipes;

  /// Of a row of the table.
  std::string with(const Method& method) const { return std::string(name) + ", " + method.name; }
};
inline const std::vector<Subject> subjects{
    {"GPT", "GPT2LMHeadModel", {0, 0}, add_next_bytes, recipes_of<Gpt>()},
    {"BERT", "BertForMaskedLM", {0, 0}, add_hidden_bytes, recipes_of<MaskedBert>()},
    {"seq2seq", "MarianMTModel", {1, 0, 0}, add_reply, recipes_of<Replier>()},
};

}  // namespace sinter::detail::bench::learn
