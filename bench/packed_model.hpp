// SPDX-License-Identifier: Apache-2.0
// A model for benches: GPT-2 with attention that sees the whole sequence, and a prediction at each
// token. Its parameters have GPT-2's names.
#pragma once
#include "sinter/layer/attention.hpp"
#include "sinter/model/gpt2.hpp"

namespace sinter::detail::bench {

template <int W, int Heads, int Layers>
struct PackedBlock {
  static constexpr Value<W> trace(auto& g, Value<W> x) {
    auto qkv = g("attn.c_attn", Linear<W, 3 * W>{}, g("ln_1", LayerNorm<W>{}, x));
    auto mixed = g("attn", SelfAttention<W, Heads>{}, qkv);
    auto attended = g("attn.c_proj", Linear<W, W, gpt2::residual<Layers>>{}, mixed);
    auto [h, m] = g("ln_2", AddLayerNorm<W>{}, x, attended);
    auto wide = g("mlp.act", GeluTanh<4 * W>{}, g("mlp.c_fc", Linear<W, 4 * W>{}, m));
    auto narrow = g("mlp.c_proj", Linear<4 * W, W, gpt2::residual<Layers>>{}, wide);
    return g("add", Add<W>{}, h, narrow);
  }
};

template <Gpt2Options O>
struct PackedModel {
  using slot = slot::model;
  static constexpr void trace(auto& g) {
    auto tokens = g.tokens(), targets = g.targets();
    auto embedded = g.unit("", gpt2::Embed<O>{}, tokens);
    auto x = g.repeat(O.layers, "h", PackedBlock<O.width, O.heads, O.layers>{}, embedded);
    g.result(g.tied_unit("ln_f", embedded, gpt2::Head<O>{}, x, targets));
  }
};

}  // namespace sinter::detail::bench
