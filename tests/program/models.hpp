// SPDX-License-Identifier: Apache-2.0
// Tiny models that between them use every mechanism of programs, and batches for them.
#pragma once
#include "sinter/data/host_batch.hpp"
#include "sinter/layer/normalize.hpp"
#include "sinter/layer/swiglu.hpp"
#include "sinter/model/bert.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/model/llama.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/model/seq2seq.hpp"
#include "sinter/precision/bf16.hpp"
#include "sinter/recipe/plan.hpp"
#include "support/recipes.hpp"
#include "support/running_layer.hpp"

namespace sinter::detail::testing {

/// Eleven letters, in sequences of up to six.
struct Letters {
  using slot = slot::data;
  static constexpr int context = 6, vocabulary = 11;
};
inline constexpr Gpt2Options tiny{
    .layers = 3, .heads = 2, .width = 8, .vocabulary = 11, .positions = 6, .dropout = 0.2};

inline constexpr BertOptions tiny_bert{.layers = 2,
                                       .heads = 2,
                                       .width = 8,
                                       .hidden = 12,
                                       .vocabulary = 11,
                                       .positions = 6,
                                       .dropout = 0.2};
/// The same with types of tokens and classes of sequences.
inline constexpr BertOptions tiny_pairs = [] {
  BertOptions o = tiny_bert;
  o.pairs = true;
  o.labels = 3;
  return o;
}();

/// A Llama with biases, a window, and heads of more than width / heads numbers.
inline constexpr LlamaOptions tiny_llama{.layers = 2,
                                         .heads = 2,
                                         .kv_heads = 1,
                                         .width = 8,
                                         .head_width = 6,
                                         .hidden = 12,
                                         .vocabulary = 11,
                                         .positions = 6,
                                         .window = 4,
                                         .qkv_biases = true,
                                         .attention_dropout = 0.2};

/// Blenderbot's norms, and a dropout of each kind.
inline constexpr Seq2SeqOptions tiny_seq2seq{.encoder_layers = 1,
                                             .decoder_layers = 2,
                                             .heads = 2,
                                             .width = 8,
                                             .hidden = 12,
                                             .vocabulary = 11,
                                             .positions = 6,
                                             .encoder_norm = EmbeddingNorm::after_positions,
                                             .decoder_norm = EmbeddingNorm::before_positions,
                                             .scale_embedding = true,
                                             .dropout = 0.2,
                                             .attention_dropout = 0.2,
                                             .activation_dropout = 0.2};

/// A transformer whose residual join is fused across the border of its blocks: every unit but the
/// last hands on two values, the sum and its norm.
template <int W>
struct FusedEmbed {
  static constexpr std::tuple<Value<W>, Value<W>> trace(auto& g, Ids tokens) {
    auto x = g("wpe", AddPosition<6, W>{}, g("wte", Embedding<11, W>{}, tokens));
    return {x, g("norm", LayerNorm<W>{}, x)};
  }
};
template <int W>
struct FusedBlock {
  static constexpr std::tuple<Value<W>, Value<W>> trace(auto& g, Value<W> sum, Value<W> normed) {
    auto qkv = g("qkv", Linear<W, 3 * W>{}, normed);
    auto mixed = g("mix", CausalSelfAttention<W, 2>{}, qkv);
    auto kept = g("drop", Dropout<W, 0.2f>{}, g("proj", Linear<W, W>{}, mixed));
    return g("join", AddLayerNorm<W>{}, sum, kept);
  }
};
template <int W>
struct FusedHead {
  static constexpr Value<1> trace(auto& g, Value<W> sum, Value<W> normed, Ids targets) {
    auto x = g("add", Add<W>{}, sum, g("act", GeluTanh<W>{}, normed));
    return g.tied("head", "wte", LinearCrossEntropy<11, W>{}, x, targets);
  }
};
template <int W>
struct FusedLogits {
  static constexpr Value<11> trace(auto& g, Value<W> sum, Value<W> normed) {
    auto x = g("add", Add<W>{}, sum, g("act", GeluTanh<W>{}, normed));
    return g.tied("head", "wte", Unembedding<11, W>{}, g("last", LastRow<W>{}, x));
  }
};
struct Fused {
  using slot = slot::model;
  static constexpr int W = 8;
  static constexpr void trace(auto& g) {
    auto tokens = g.tokens(), targets = g.targets();
    auto embedded = g.unit("embed", FusedEmbed<W>{}, tokens);
    auto [sum, normed] = g.repeat(3, "h", FusedBlock<W>{}, embedded);
    g.result(g.tied_unit("head", std::get<0>(embedded), FusedHead<W>{}, sum, normed, targets));
  }
  static constexpr void predict(auto& g) {
    auto embedded = g.unit("embed", FusedEmbed<W>{}, g.tokens());
    auto [sum, normed] = g.repeat(3, "h", FusedBlock<W>{}, embedded);
    g.result(g.tied_unit("head", std::get<0>(embedded), FusedLogits<W>{}, sum, normed));
  }
};

/// A transformer of layers that GPT-2 does not have: RMS norms, SwiGLU, SiLU, attention to the
/// whole sequence.
template <int W>
struct GatedEmbed {
  static constexpr Value<W> trace(auto& g, Ids tokens) {
    auto x = g("wpe", AddPosition<6, W>{}, g("wte", Embedding<11, W>{}, tokens));
    return g("act", Silu<W>{}, x);
  }
};
template <int W>
struct GatedBlock {
  static constexpr Value<W> trace(auto& g, Value<W> x) {
    auto qkv = g("qkv", Linear<W, 3 * W>{}, g("norm_1", RmsNorm<W>{}, x));
    auto attended = g("proj", Linear<W, W>{}, g("mix", SelfAttention<W, 2>{}, qkv));
    auto [sum, normed] = g("norm_2", AddRmsNorm<W>{}, x, attended);
    auto gated = g("act", SwiGlu<2 * W>{}, g("up", Linear<W, 4 * W>{}, normed));
    return g("add", Add<W>{}, sum, g("down", Linear<2 * W, W>{}, gated));
  }
};
template <int W>
struct GatedHead {
  static constexpr Value<1> trace(auto& g, Value<W> x, Ids targets) {
    auto normed = g("norm", RmsNorm<W>{}, x);
    return g.tied("head", "wte", LinearCrossEntropy<11, W>{}, normed, targets);
  }
};
template <int W>
struct GatedLogits {
  static constexpr Value<11> trace(auto& g, Value<W> x) {
    auto last = g("norm", RmsNorm<W>{}, g("last", LastRow<W>{}, x));
    return g.tied("head", "wte", Unembedding<11, W>{}, last);
  }
};
/// Two blocks between embeddings and logits.
template <template <int> class Block>
struct TwoBlocks {
  using slot = slot::model;
  static constexpr int W = 8;
  static constexpr void trace(auto& g) {
    auto tokens = g.tokens(), targets = g.targets();
    auto embedded = g.unit("embed", GatedEmbed<W>{}, tokens);
    auto x = g.repeat(2, "h", Block<W>{}, embedded);
    g.result(g.tied_unit("head", embedded, GatedHead<W>{}, x, targets));
  }
  static constexpr void predict(auto& g) {
    auto embedded = g.unit("embed", GatedEmbed<W>{}, g.tokens());
    auto x = g.repeat(2, "h", Block<W>{}, embedded);
    g.result(g.tied_unit("head", embedded, GatedLogits<W>{}, x));
  }
};
using Gated = TwoBlocks<GatedBlock>;

/// Blocks with running values, each behind a norm and a linear layer.
template <int W>
struct CountingBlock {
  static constexpr Value<W> trace(auto& g, Value<W> x) {
    auto h = g("fc", Linear<W, W>{}, g("norm", RmsNorm<W>{}, x));
    return g("add", Add<W>{}, x, g("count", Counter<W>{}, g("act", Silu<W>{}, h)));
  }
};
using Counting = TwoBlocks<CountingBlock>;

struct PlainDescentOptions {
  double lr = 0.1;
  SINTER_FIELDS((lr))
};
/// An optimizer that leaves the copy of the weights to a cast.
struct PlainDescent {
  using slot = slot::optimizer;
  using Options = PlainDescentOptions;
  static constexpr Options options{};
  static constexpr std::array<Region, 0> regions{};
  static constexpr double learning_rate(const Options& o) { return o.lr; }
  static void update(const Options&, const auto& s) {
    for (std::int64_t k = 0; k < s.size; ++k)
      s.master[k] -= float(s.learning_rate * s.decision->scale) * s.gradient[k];
  }
};

/// A batch with sequences of these lengths, whose letters follow from `salt`. Some rows have
/// nothing to predict.
inline HostBatch letters(const std::vector<int>& lengths, int salt = 0) {
  HostBatch batch;
  batch.ids.resize(2);
  int row = 0;
  for (int length : lengths) {
    for (int k = 0; k < length; ++k, ++row) {
      batch.ids[0].push_back((row * 7 + k * k + salt * 5 + 3) % 11);
      batch.ids[1].push_back(k == 2 ? -1 : (row * 3 + salt * 7 + 1) % 11);
    }
    batch.starts.push_back(row);
  }
  return batch;
}

/// The same sequences with types of tokens, and a class for each of them.
inline HostBatch pairs(const std::vector<int>& lengths, int salt = 0) {
  HostBatch batch = letters(lengths, salt);
  for (std::size_t row = 0; row < batch.ids[0].size(); ++row)
    batch.ids[1][row] = std::int32_t(row * row + row) / 2 % 2;
  batch.ids.emplace_back();
  for (int s = 0; s < batch.sequences(); ++s) batch.ids[2].push_back((s + salt) % 3);
  return batch;
}

/// The same sequences as replies to texts of these lengths, on axis 1.
inline HostBatch replies(const std::vector<int>& lengths, const std::vector<int>& texts) {
  HostBatch batch = letters(lengths), text = letters(texts, 1);
  batch.second_starts = text.starts;
  batch.ids.insert(batch.ids.begin(), text.ids[0]);
  return batch;
}

/// The first sequences of a batch; rows that are left over do not matter.
inline HostBatch first_sequences(HostBatch batch, int count) {
  batch.starts.resize(std::size_t(count) + 1);
  if (!batch.second_starts.empty()) batch.second_starts.resize(batch.starts.size());
  return batch;
}

/// A batch of rows of numbers, each a sequence of its own.
inline HostBatch numbers(int rows, int in, int out, int salt = 0) {
  HostBatch batch;
  batch.values.resize(2);
  auto number = [&](int k) { return float((k * 37 + salt * 11) % 23 - 11) / 7; };
  for (int r = 0; r < rows; ++r) {
    for (int k = 0; k < in; ++k) batch.values[0].push_back(number(r * in + k));
    for (int k = 0; k < out; ++k) batch.values[1].push_back(number(r * out * 5 + k * 3 + 1));
    batch.starts.push_back(r + 1);
  }
  return batch;
}

}  // namespace sinter::detail::testing
