// SPDX-License-Identifier: Apache-2.0
// Recipes for tests.
#pragma once
#include "sinter/batch/batch.hpp"
#include "sinter/recipe/recipe.hpp"

namespace sinter::detail::testing {

/// A recipe without a name of its own.
template <class... Policies>
struct Made : Recipe<Policies...> {};

/// Options after a change, such as those of a model.
template <class Options>
constexpr Options changed(Options options, auto change) {
  change(options);
  return options;
}

/// Data of any kind, in sequences of at most `Context` rows.
template <int Context, int Vocabulary = 0>
struct UpTo {
  using slot = slot::data;
  static constexpr int context = Context, vocabulary = Vocabulary;
};

/// The same on two axes, with a bound of its own on the second.
template <int Context, int Second, int Vocabulary = 0>
struct UpToBoth {
  using slot = slot::data;
  static constexpr int context = Context, second_context = Second, vocabulary = Vocabulary;
};

}  // namespace sinter::detail::testing
