// SPDX-License-Identifier: Apache-2.0
// Small models with a label for each sequence, and with rows on two axes.
#pragma once
#include "sinter/graph/tracer.hpp"
#include "sinter/layer/add.hpp"
#include "sinter/layer/attention.hpp"
#include "sinter/layer/cross_attention.hpp"
#include "sinter/layer/dropout.hpp"
#include "sinter/layer/embedding.hpp"
#include "sinter/layer/head.hpp"
#include "sinter/layer/linear.hpp"
#include "sinter/layer/loss.hpp"
#include "sinter/policy/concepts.hpp"
#include "support/batches.hpp"
#include "support/device.hpp"

namespace sinter::detail::testing {

/// The rows of sequence s that are no padding.
inline int own_rows(const Sequences& of, int s) {
  return of.lengths ? of.lengths[s] : of.starts[s + 1] - of.starts[s];
}

/// y[s] = the mean of the rows of sequence s. x: rows × W, y: sequences × W.
template <int W>
struct MeanOfRows {
  static constexpr std::array in{W};
  static constexpr std::array out{W};
  static constexpr bool pools = true;

  static void forward(auto& c) {
    auto x = c.x(), y = c.y();
    const Sequences& of = c.sequences();
    for (int s = 0; s < of.count; ++s)
      for (int k = 0; k < W; ++k) {
        auto sum = c.zero();
        for (int row = of.starts[s]; row < of.starts[s + 1]; ++row) sum += x(row, k);
        y.put(s, k, sum / (of.starts[s + 1] - of.starts[s]));
      }
  }
  static void backward(auto& c) {
    auto dx = c.dx(), dy = c.dy();
    const Sequences& of = c.sequences();
    for (int s = 0; s < of.count; ++s)
      for (int row = of.starts[s]; row < of.starts[s + 1]; ++row)
        for (int k = 0; k < W; ++k) dx.put(row, k, dy(s, k) / (of.starts[s + 1] - of.starts[s]));
  }
};

/// y[r] = x[r] + the mean of those rows of the second operand that are of the same sequence, and no
/// padding. The operands may be on two axes; y is on that of x.
template <int W>
struct AddMeanOfRows {
  static constexpr std::array in{W, W};
  static constexpr std::array out{W};
  static constexpr bool skips_padding = true;

  static void forward(auto& c) {
    auto x = c.x(0), other = c.x(1), y = c.y();
    each(c, [&](int begin, int end, int first, int last) {
      for (int k = 0; k < W; ++k) {
        auto sum = c.zero();
        for (int row = first; row < last; ++row) sum += other(row, k);
        for (int row = begin; row < end; ++row) y.put(row, k, x(row, k) + sum / (last - first));
      }
    });
  }
  static void backward(auto& c) {
    auto dx = c.dx(0), dother = c.dx(1), dy = c.dy();
    const Sequences& from = c.sequences(1);
    for (int s = 0; s < from.count; ++s)
      for (int row = from.starts[s] + own_rows(from, s); row < from.starts[s + 1]; ++row)
        for (int k = 0; k < W; ++k) dother.put(row, k, c.zero());
    each(c, [&](int begin, int end, int first, int last) {
      for (int k = 0; k < W; ++k) {
        auto sum = c.zero();
        for (int row = begin; row < end; ++row) {
          sum += dy(row, k);
          dx.put(row, k, dy(row, k));
        }
        for (int row = first; row < last; ++row) dother.put(row, k, sum / (last - first));
      }
    });
  }

 private:
  static void each(auto& c, const auto& visit) {
    const Sequences &to = c.sequences(0), &from = c.sequences(1);
    for (int s = 0; s < to.count; ++s)
      visit(to.starts[s], to.starts[s + 1], from.starts[s], from.starts[s] + own_rows(from, s));
  }
};

inline constexpr int axes_vocabulary = 11, axes_width = 6, axes_classes = 3;

template <float P>
struct EmbedRows {
  static constexpr int W = axes_width;
  static constexpr Value<W> trace(auto& g, Ids tokens) {
    return g("drop", Dropout<W, P>{}, g("", Embedding<axes_vocabulary, W>{}, tokens));
  }
};
/// Makes a row of a sequence: by a layer of ours where the host reaches its elements.
using Pool =
    std::conditional_t<DefaultDevice::on_host, MeanOfRows<axes_width>, FirstRow<axes_width>>;
template <float P>
struct PoolRows {
  static constexpr int W = axes_width;
  static constexpr Value<W> trace(auto& g, Value<W> x) {
    return g("drop", Dropout<W, P>{}, g("mean", Pool{}, x));
  }
};
struct ClassifyRows {
  static constexpr Value<1> trace(auto& g, Value<axes_width> x, Ids classes) {
    auto logits = g("", Linear<axes_width, axes_classes>{}, x);
    return g("loss", CrossEntropy<axes_classes>{}, logits, classes);
  }
};
struct LogitsOfRows {
  static constexpr Value<axes_classes> trace(auto& g, Value<axes_width> x) {
    return g("", Linear<axes_width, axes_classes>{}, x);
  }
};

/// The mean over a sequence's rows, and a class for each sequence.
template <float P = 0.f>
struct SequenceClassifier {
  using slot = slot::model;
  static constexpr void trace(auto& g) {
    auto tokens = g.tokens(), classes = g.targets(pooled(0));
    auto x = g.unit("pool", PoolRows<P>{}, g.unit("embed", EmbedRows<P>{}, tokens));
    g.result(g.unit("head", ClassifyRows{}, x, classes));
  }
  static constexpr void predict(auto& g) {
    auto x = g.unit("pool", PoolRows<P>{}, g.unit("embed", EmbedRows<P>{}, g.tokens()));
    g.result(g.unit("head", LogitsOfRows{}, x));
  }
};

struct MixAxes {
  static constexpr int W = axes_width;
  static constexpr Value<W> trace(auto& g, Value<W> x, Value<W> source) {
    return g("mix", AddMeanOfRows<W>{}, x, g("", Linear<W, W>{}, source));
  }
};

struct AttendOnce {
  static constexpr int W = axes_width;
  static constexpr Value<W> trace(auto& g, Value<W> x, Value<W> source) {
    auto kv = g("", Linear<W, 2 * W>{}, source);
    return g("add", Add<W>{}, x, g("mix", CrossAttention<W, 2>{}, x, kv));
  }
};
/// Mixes the axes: by a layer of ours where the host reaches its elements.
using MixRows = std::conditional_t<DefaultDevice::on_host, MixAxes, AttendOnce>;

/// Attends to the other axis twice, with the same operands: in the backward phase one assigns their
/// gradients, and the other adds to them.
template <float P>
struct AttendAcross {
  static constexpr int W = axes_width, heads = 2;
  static constexpr Value<W> trace(auto& g, Value<W> x, Value<W> source) {
    auto q = g("q", Linear<W, W>{}, x);
    auto kv = g("kv", Linear<W, 2 * W>{}, source);
    auto first = g("first", CrossAttention<W, heads, P>{}, q, kv);
    return g("sum", Add<W>{}, first, g("again", CrossAttention<W, heads, P>{}, q, kv));
  }
};

/// Tokens on axis 0, each of which is classified, and tokens on axis 1, which they all see.
template <float P = 0.f, class Mix = MixRows>
struct TwoAxes {
  using slot = slot::model;
  static constexpr void trace(auto& g) {
    auto tokens = g.tokens(0), source = g.tokens(1), classes = g.targets(0);
    auto x = g.unit("embed", EmbedRows<P>{}, tokens);
    auto y = g.unit("source", EmbedRows<P>{}, source);
    g.result(g.unit("head", ClassifyRows{}, g.unit("mix", Mix{}, x, y), classes));
  }
};

/// By cross-attention.
template <float P = 0.f>
using AcrossAxes = TwoAxes<P, AttendAcross<P>>;

struct AttendRows {
  static constexpr int W = axes_width;
  static constexpr Value<W> trace(auto& g, Value<W> x) {
    auto qkv = g("qkv", Linear<W, 3 * W>{}, x);
    return g("add", Add<W>{}, x, g("attend", CausalSelfAttention<W, 2>{}, qkv));
  }
};
struct PredictRows {
  static constexpr Value<1> trace(auto& g, Value<axes_width> x, Ids targets) {
    auto logits = g("", Linear<axes_width, axes_vocabulary>{}, x);
    return g("loss", CrossEntropy<axes_vocabulary>{}, logits, targets);
  }
};
struct PredictWhatFollows {
  static constexpr Value<axes_vocabulary> trace(auto& g, Value<axes_width> x) {
    return g("", Linear<axes_width, axes_vocabulary>{}, g("last", LastRow<axes_width>{}, x));
  }
};

/// An encoder-decoder: each row of axis 0 sees those before it and the mean of the source on axis 1,
/// and predicts its next token.
struct TinySeq2Seq {
  using slot = slot::model;
  static constexpr void trace(auto& g) {
    auto x = rows(g);
    g.result(g.unit("head", PredictRows{}, x, g.targets(0)));
  }
  static constexpr void predict(auto& g) {
    g.result(g.unit("head", PredictWhatFollows{}, rows(g)));
  }

 private:
  static constexpr Value<axes_width> rows(auto& g) {
    auto source = g.tokens(1), tokens = g.tokens(0);
    auto encoded = g.unit("encode", EmbedRows<0.f>{}, source);
    auto decoded = g.unit("decode", AttendRows{}, g.unit("embed", EmbedRows<0.f>{}, tokens));
    return g.unit("mix", MixRows{}, decoded, encoded);
  }
};

/// Sequences of at most 5 rows on axis 0 and 9 on axis 1.
struct TwoContexts {
  using slot = slot::data;
  static constexpr int context = 5, second_context = 9, vocabulary = axes_vocabulary;
};

/// Tokens, and a class for each sequence; a share `ignored` of the classes is -1.
inline HostBatch classified_batch(const std::vector<int>& lengths, std::uint64_t seed,
                                  double ignored = 0) {
  HostBatch batch = sequences_of(lengths);
  add_ids(batch, axes_vocabulary, seed);
  HostBatch classes = sequences_of(std::vector<int>(lengths.size(), 1));
  add_ids(classes, axes_classes, seed + 1, ignored);
  batch.ids.push_back(classes.ids[0]);
  return batch;
}

/// Tokens on both axes, and a class for each row of axis 0.
inline HostBatch two_axes_batch(const std::vector<int>& lengths, const std::vector<int>& second,
                                std::uint64_t seed, double ignored = 0) {
  HostBatch batch = sequences_of(lengths), source = sequences_of(second);
  add_ids(batch, axes_vocabulary, seed);
  add_ids(source, axes_vocabulary, seed + 1);
  batch.second_starts = source.starts;
  batch.ids.push_back(source.ids[0]);
  add_ids(batch, axes_classes, seed + 2, ignored);
  return batch;
}

/// A source on axis 1 and what a decoder reads on axis 0, with lengths of `second` and `lengths`, as
/// TinySeq2Seq asks for them to predict.
inline HostBatch source_batch(const std::vector<int>& lengths, const std::vector<int>& second,
                              std::uint64_t seed) {
  HostBatch batch = two_axes_batch(lengths, second, seed);
  std::swap(batch.ids[0], batch.ids[1]);
  batch.ids.pop_back();
  return batch;
}

}  // namespace sinter::detail::testing
