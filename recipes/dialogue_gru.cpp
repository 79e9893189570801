// SPDX-License-Identifier: Apache-2.0
// A recurrent encoder-decoder (Cho et al. 2014) that learns to reply, computed by LibTorch: one GRU
// reads what is replied to, and another writes the reply from the state in which the first one ends.
//
//   train --data dialogues.jsonl
#include <ATen/ops/cat.h>
#include <ATen/ops/gru.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <sinter/autograd/torch.hpp>
#include <sinter/sinter.hpp>
using namespace sinter;

namespace gru {

constexpr int width = 192, vocabulary = byte_example_vocabulary;
constexpr int reply_begins = 256;  // the mark before a reply, see ExampleSet

/// Where the rows of contexts and replies lie among the rows of examples.
struct Parts {
  at::Tensor rows[2], starts[2];  ///< of contexts and of replies
  at::Tensor last;                ///< row of each context's last token, counted from 1; 0 if empty
  at::Tensor place;               ///< of each row of examples in contexts and replies joined

  explicit Parts(const autograd::Inputs& inputs) {
    const at::Tensor ids = inputs.x[1].contiguous(), bounds = inputs.starts[0].contiguous();
    const auto* id = ids.data_ptr<std::int64_t>();
    const auto* start = bounds.data_ptr<std::int64_t>();
    std::vector<std::int64_t> row[2], begin[2]{{0}, {0}}, ends, places(std::size_t(ids.numel()));
    for (std::int64_t s = 0; s + 1 < bounds.numel(); ++s) {
      const auto* mark = std::find(id + start[s], id + start[s + 1], reply_begins);
      for (std::int64_t r = start[s]; r < start[s + 1]; ++r) row[id + r >= mark].push_back(r);
      const auto read = std::int64_t(row[0].size());
      ends.push_back(read > begin[0].back() ? read : 0);
      for (int part : {0, 1}) begin[part].push_back(std::int64_t(row[part].size()));
    }
    std::int64_t next = 0;
    for (int part : {0, 1}) {
      for (std::int64_t r : row[part]) places[std::size_t(r)] = next++;
      rows[part] = at::tensor(row[part]);
      starts[part] = at::tensor(begin[part]);
    }
    last = at::tensor(ends);
    place = at::tensor(places);
  }
};

/// state: rows × width, from the embeddings of tokens, rows × width, and the tokens.
struct EncoderDecoder {
  static constexpr std::array in{width, 0};
  static constexpr std::array out{width};
  static constexpr float deviation = .04f;  // of torch's uniform one, 1 / √(3 width)
  static constexpr std::array params{
      Param::matrix("encoder.weight_ih_l0", 3 * width, width, Init::normal(deviation)),
      Param::matrix("encoder.weight_hh_l0", 3 * width, width, Init::normal(deviation)),
      Param::vector("encoder.bias_ih_l0", 3 * width, Init::zeros),
      Param::vector("encoder.bias_hh_l0", 3 * width, Init::zeros),
      Param::matrix("decoder.weight_ih_l0", 3 * width, width, Init::normal(deviation)),
      Param::matrix("decoder.weight_hh_l0", 3 * width, width, Init::normal(deviation)),
      Param::vector("decoder.bias_ih_l0", 3 * width, Init::zeros),
      Param::vector("decoder.bias_hh_l0", 3 * width, Init::zeros)};
  static constexpr bool causal = true;
  static constexpr bool random = false;  // it draws nothing
  static constexpr std::int64_t flops(std::int64_t) { return std::int64_t(2) * 6 * width * width; }

  static autograd::Results forward(const autograd::Inputs& inputs) {
    const Parts parts(inputs);
    const at::Tensor none = inputs.x[0].new_zeros({1, width});
    const at::Tensor first = none.expand({parts.last.numel(), width});
    const at::Tensor contexts = states(inputs, parts, 0, first);
    const at::Tensor ends = at::cat({none, contexts}).index_select(0, parts.last);
    return {at::cat({contexts, states(inputs, parts, 1, ends)}).index_select(0, parts.place)};
  }
  static std::unique_ptr<LayerObject> make(const AutogradSpec& spec) {
    return autograd::of_function(spec, forward);
  }

 private:
  /// The states of the encoder (part 0) or the decoder over its rows, each sequence from `first`.
  static at::Tensor states(const autograd::Inputs& inputs, const Parts& parts, std::size_t part,
                           const at::Tensor& first) {
    const at::Tensor rows = inputs.x[0].index_select(0, parts.rows[part]);
    if (rows.size(0) == 0) return rows;
    const at::TensorList weights = at::TensorList(inputs.parameters).slice(4 * part, 4);
    const auto [all, last] = at::gru(autograd::padded(rows, parts.starts[part]), first.unsqueeze(0),
                                     weights, true, 1, 0, false, false, /*batch_first=*/true);
    return autograd::packed(all, parts.starts[part]);
  }
};

struct Embed {
  static constexpr Value<width> trace(auto& g, Ids tokens) {
    return g("wte", Embedding<vocabulary, width>{}, tokens);
  }
};
struct Recurrent {
  static constexpr Value<width> trace(auto& g, Value<width> x, Ids tokens) {
    return g("", Autograd<EncoderDecoder>{}, x, tokens);
  }
};
struct Loss {
  static constexpr Value<1> trace(auto& g, Value<width> x, Ids targets) {
    return g.tied("head", "wte", LinearCrossEntropy<vocabulary, width>{}, x, targets);
  }
};
struct Logits {
  static constexpr Value<vocabulary> trace(auto& g, Value<width> x) {
    return g.tied("head", "wte", Unembedding<vocabulary, width>{}, g("last", LastRow<width>{}, x));
  }
};

struct Replies {
  using slot = sinter::slot::model;
  static constexpr void trace(auto& g) {
    auto tokens = g.tokens(), targets = g.targets();
    auto embedded = g.unit("", Embed{}, tokens);
    auto x = g.unit("gru", Recurrent{}, embedded, tokens);
    g.result(g.tied_unit("head", embedded, Loss{}, x, targets));
  }
  static constexpr void predict(auto& g) {
    auto tokens = g.tokens();
    auto embedded = g.unit("", Embed{}, tokens);
    auto x = g.unit("gru", Recurrent{}, embedded, tokens);
    g.result(g.tied_unit("head", embedded, Logits{}, x));
  }
};

}  // namespace gru

struct dialogue_gru : Recipe<gru::Replies, Dialogue<{.text = 128, .label = 64, .history = 1}>,
                             AdamW<{.lr = 3e-3, .weight_decay = 0.1}>,
                             CosineDecay<{.warmup = 50, .steps = 1000, .floor = 0.05}>,
                             Batch<{.global = 64, .micro = 64}>> {};

int main(int argc, char** argv) { return run<dialogue_gru>(argc, argv); }
