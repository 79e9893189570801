// SPDX-License-Identifier: Apache-2.0
// The slot `generation`: how many texts a Generator continues at once, and how long they may be.
#pragma once
#include "sinter/policy/concepts.hpp"

namespace sinter {

namespace slot {
/// The slot of Generation.
struct generation {
  static constexpr std::string_view name = "generation";
  static constexpr bool decisive = false;
};
}  // namespace slot

struct GenerationOptions {
  int rows = 8;  ///< the most texts, or hypotheses of beam searches, that are continued at once
  /// The most tokens of a text that the model sees; 0: the context of the recipe's data. Of an
  /// encoder-decoder, tokens of the decoder.
  int context = 0;
  SINTER_FIELDS((rows).at_least(1).at_most(4096), (context).at_least(0))
};

namespace detail {
/// True if the model of the recipe R has positions for texts of `context` tokens, as far as its
/// options say.
template <class R>
constexpr bool has_positions_for(int context) {
  if constexpr (requires { R::model::options.positions; })
    return context <= R::model::options.positions;
  return true;
}

SINTER_RULE(TextsAreGenerated, R::data::vocabulary > 0,
            "Generation: these data have no vocabulary. Why: the policy plans the caches of texts "
            "that are continued, and would do nothing here. Fix: leave it out, or train on texts.");
template <GenerationOptions O>
SINTER_RULE(
    GenerationWithinPositions, has_positions_for<R>(O.context),
    "Generation: the context is beyond the model's positions. Why: a model has only "
    "`positions` places of a text, and nothing says what stands behind them. Fix: a smaller "
    ".context in Generation, or a model with more .positions.");
}  // namespace detail

/// Plans the key-value cache of a Generator for up to `rows` texts at once, of `context` tokens each:
/// Generation<{.rows = 32, .context = 512}>. A text that outgrows a smaller context than the data's is
/// read anew, or ends, earlier; in a larger one it goes on at positions that training did not reach.
/// Training and the replies of evaluations need none of it: they have the data's context.
template <GenerationOptions O = {}>
struct Generation {
  using slot = slot::generation;
  using Options = GenerationOptions;
  using rules = RuleList<detail::TextsAreGenerated, detail::GenerationWithinPositions<O>>;
  static constexpr Options options = O;
};

}  // namespace sinter
