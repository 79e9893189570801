// SPDX-License-Identifier: Apache-2.0
// Small models that write texts.
#pragma once
#include "sinter/model/gpt2.hpp"
#include "sinter/optimizer/sgd.hpp"
#include "support/axes_models.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing {

/// Replies of at most 5 tokens to texts of at most 9.
using Replies = Made<TinySeq2Seq, TwoContexts, Sgd<>, Batch<{.global = 2, .micro = 2}>>;
using Next =
    Made<Gpt2<{.layers = 1, .heads = 1, .width = 8, .vocabulary = axes_vocabulary, .positions = 5}>,
         UpTo<5, axes_vocabulary>, Sgd<>, Batch<{.global = 2, .micro = 2}>>;

template <class R>
struct Random : Trainer<R> {
  explicit Random(std::uint64_t seed = 3) : Trainer<R>({.seed = 1, .threads = 1}) {
    randomise(*this, seed, 1);
  }
};

}  // namespace sinter::detail::testing
