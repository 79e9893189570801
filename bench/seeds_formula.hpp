// SPDX-License-Identifier: Apache-2.0
// What a step of Bert with labels needs, by a formula of a few lines: docs/techniques/README.md has it
// in words. The plan knows the same to the byte, by other means; bench/seeds.cpp compares the two.
#pragma once
#include "sinter/model/bert.hpp"

namespace sinter::detail::bench::seeds {

enum class State { adamw, adamw8bit, adafactor };

/// How a step is computed.
struct Work {
  int at_once;  ///< tokens of a micro-batch
  bool recomputes = false, half = false;
  State state = State::adamw;
};

/// A model's parameters by what optimizers keep of them.
struct Elements {
  double tables, matrices, vectors;  ///< of word embeddings; of other matrices; of the rest
  double edges;                      ///< the sum of the rows and columns of all tables and matrices
};
constexpr Elements elements_of(const BertOptions& o) {
  const double layers = o.layers, w = o.width, h = o.hidden;
  const double layer_vectors = 4 * w + h + w + 4 * w;  // biases, and those of two norms
  return {.tables = o.vocabulary * w,
          .matrices = o.positions * w + layers * (4 * w * w + 2 * w * h) + w * w,
          .vectors = (o.types + 3 + o.labels) * w + layers * layer_vectors + o.labels,
          .edges = o.vocabulary + o.positions + layers * (10 * w + 2 * h) + 4 * w};
}
constexpr double parameters_of(const BertOptions& o) {
  const Elements e = elements_of(o);
  return e.tables + e.matrices + e.vectors;
}

/// Bytes of all parameters: masters, gradients, a copy in half precision, and the optimizer's state.
constexpr double parameter_bytes(const BertOptions& o, const Work& work) {
  const Elements e = elements_of(o);
  const double state = work.state == State::adafactor ? 4 * (e.edges + e.vectors)
                       : work.state == State::adamw8bit
                           ? 8 * (e.tables + e.vectors) + (2 + 8.0 / 256) * e.matrices
                           : 8 * (e.tables + e.matrices + e.vectors);
  return (4 + 4 + (work.half ? 2 : 0)) * parameters_of(o) + state;
}

/// Bytes that forward keeps of a token in a layer: rows of q, k, v, of what attention gives, of two
/// sums before norms, of the norm between them and of the layer's result; two wide ones around GELU;
/// and statistics in fp32.
constexpr double kept_bytes(const BertOptions& o, const Work& work) {
  const double number = work.half ? 2 : 4;
  return number * (8 * o.width + 2 * o.hidden) + 4 * (o.heads + 4);
}
/// Bytes of activations and workspace for each token. Where all is kept, every layer counts whole: the
/// last one keeps only keys and values, as first rows alone are read, and backward's workspace takes the
/// room of the rest. With recomputation each layer keeps its result, one is kept whole, and the
/// workspace comes on top.
constexpr double token_bytes(const BertOptions& o, const Work& work) {
  const double number = work.half ? 2 : 4, kept = kept_bytes(o, work);
  if (!work.recomputes) return o.layers * kept;
  return o.layers * number * o.width + kept + number * (3 * o.width + 2 * o.hidden);
}

constexpr double step_bytes(const BertOptions& o, const Work& work) {
  return parameter_bytes(o, work) + work.at_once * token_bytes(o, work);
}

}  // namespace sinter::detail::bench::seeds
