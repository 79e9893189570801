// SPDX-License-Identifier: Apache-2.0
// The model: a small transformer that reads text byte by byte, with this project's layer.
#pragma once
#include <sinter/sinter.hpp>

#include "swish.hpp"

namespace my_project {
using namespace sinter;

struct ReaderOptions {
  int layers = 2, heads = 4, width = 64, positions = 64;
  SINTER_FIELDS((layers).at_least(1), (heads).at_least(1), (width).at_least(1),
                (positions).at_least(1))
};

namespace reader {

// Units, each planned, and possibly recomputed, as a whole. A layer's name is the prefix of its
// parameters' names in files.
template <ReaderOptions O>
struct Embed {
  static constexpr Value<O.width> trace(auto& g, Ids tokens) {
    auto x = g("token", Embedding<256, O.width>{}, tokens);
    return g("position", AddPosition<O.positions, O.width>{}, x);
  }
};

template <int W, int Heads>
struct Block {
  static constexpr Value<W> trace(auto& g, Value<W> x) {
    auto qkv = g("attention.in", Linear<W, 3 * W>{}, g("norm_1", LayerNorm<W>{}, x));
    auto mixed = g("attention", CausalSelfAttention<W, Heads>{}, qkv);
    auto h = g("add_1", Add<W>{}, x, g("attention.out", Linear<W, W>{}, mixed));
    auto wide = g("up", Linear<W, 4 * W>{}, g("norm_2", LayerNorm<W>{}, h));
    auto narrow = g("down", Linear<4 * W, W>{}, g("act", Swish<4 * W>{}, wide));
    return g("add_2", Add<W>{}, h, narrow);
  }
};

template <int W>
struct Loss {
  static constexpr Value<1> trace(auto& g, Value<W> x, Ids targets) {
    return g.tied("head", "token", LinearCrossEntropy<256, W>{}, g("", LayerNorm<W>{}, x), targets);
  }
};

template <int W>
struct NextByte {
  static constexpr Value<256> trace(auto& g, Value<W> x) {
    auto last = g("last", LastRow<W>{}, x);
    return g.tied("head", "token", Unembedding<256, W>{}, g("", LayerNorm<W>{}, last));
  }
};

}  // namespace reader

/// Pre-norm blocks of causal attention and Swish, with a head tied to the embedding.
template <ReaderOptions O = {}>
struct Reader {
  using slot = sinter::slot::model;
  using Options = ReaderOptions;
  static constexpr Options options = O;

  static constexpr void trace(auto& g) {
    auto tokens = g.tokens(), targets = g.targets();
    auto embedded = g.unit("embed", reader::Embed<O>{}, tokens);
    g.result(g.tied_unit("norm", embedded, reader::Loss<O.width>{}, blocks(g, embedded), targets));
  }
  static constexpr void predict(auto& g) {
    auto embedded = g.unit("embed", reader::Embed<O>{}, g.tokens());
    g.result(g.tied_unit("norm", embedded, reader::NextByte<O.width>{}, blocks(g, embedded)));
  }

 private:
  static constexpr Value<O.width> blocks(auto& g, Value<O.width> x) {
    return g.repeat(O.layers, "block", reader::Block<O.width, O.heads>{}, x);
  }
};

}  // namespace my_project
