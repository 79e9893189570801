// SPDX-License-Identifier: Apache-2.0
// Prefill and decode are launch graphs of a device: recorded once for each shape, and launched for each token.
#include <doctest/doctest.h>

#include <numeric>

#include "emulated/device/graph_counts.hpp"
#include "sinter/generate/generator.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/model/seq2seq.hpp"
#include "sinter/optimizer/sgd.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing {
namespace {

constexpr int vocabulary = 23, context = 40;
using OfGpt2 = Made<
    Gpt2<{.layers = 2, .heads = 2, .width = 16, .vocabulary = vocabulary, .positions = context}>,
    UpTo<context, vocabulary>, Sgd<>, Batch<{.global = 2, .micro = 2}>>;
using OfPairs = Made<Seq2Seq<{.encoder_layers = 1,
                              .decoder_layers = 2,
                              .heads = 2,
                              .width = 16,
                              .hidden = 20,
                              .vocabulary = vocabulary,
                              .positions = context,
                              .dropout = 0}>,
                     UpToBoth<context, 30, vocabulary>, Sgd<>, Batch<{.global = 2, .micro = 2}>>;

using kernel::emulated::GraphCounts;

/// A generator, and the graphs that it records and launches.
template <class R>
struct Counted {
  Generator<R> generator;

  Counted() { randomise(generator.weights(), 5); }

  GraphCounts read(const Prompt& prompt) {
    return counts([&] {
      generator.add(prompt);
      (void)generator.logits(generator.rows() - 1);
    });
  }
  /// Adds so many tokens to each text.
  GraphCounts write(int tokens) {
    return counts([&] {
      std::vector<int> parents(std::size_t(generator.rows()));
      std::iota(parents.begin(), parents.end(), 0);
      std::vector<std::int32_t> next(parents.size());
      for (int k = 0; k < tokens; ++k) {
        std::ranges::fill(next, k % vocabulary);
        generator.extend(parents, next);
      }
    });
  }

 private:
  static GraphCounts counts(const auto& work) {
    const GraphCounts before = kernel::emulated::graph_counts;
    work();
    const GraphCounts& now = kernel::emulated::graph_counts;
    return {now.recorded - before.recorded, now.launched - before.launched};
  }
};

template <class R>
void check_graphs(const Prompt& prompt) {
  Counted<R> one;
  CHECK(one.read(prompt) == GraphCounts{1, 1});
  CHECK(one.write(1) == GraphCounts{1, 1});
  CHECK(one.write(8) == GraphCounts{0, 8});
  CHECK(one.read(prompt) == GraphCounts{0, 1});
  CHECK(one.write(1) == GraphCounts{1, 1});  // for two texts
  CHECK(one.write(8) == GraphCounts{0, 8});
  one.generator.clear();
  CHECK(one.read(prompt) == GraphCounts{0, 1});
  CHECK(one.write(8) == GraphCounts{0, 8});
}

TEST_CASE("prefill and decode are recorded once for a shape, and launched for each token") {
  check_graphs<OfGpt2>({.tokens = {1, 2, 3}});
  check_graphs<OfPairs>({.tokens = {1, 2, 3, 4}, .decoder = {1}});
}

TEST_CASE("a text that outgrows the context is read anew by one more graph") {
  Counted<OfGpt2> one;
  (void)one.read({.tokens = {1, 2, 3}});
  CHECK(one.write(context) == GraphCounts{2, context + 1});
  CHECK(one.generator.rereads() == 1);
  CHECK(one.write(2 * context) == GraphCounts{0, 2 * context + 4});
  CHECK(one.generator.rereads() == 5);
}

}  // namespace
}  // namespace sinter::detail::testing
