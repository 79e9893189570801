// SPDX-License-Identifier: Apache-2.0
// The slot `generation`: how many texts a Generator continues at once.
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
  SINTER_FIELDS((rows).at_least(1).at_most(4096))
};

namespace detail {
SINTER_RULE(TextsAreGenerated, R::data::vocabulary > 0,
            "Generation: these data have no vocabulary. Why: the policy plans the caches of texts "
            "that are continued, and would do nothing here. Fix: leave it out, or train on texts.");
}  // namespace detail

/// Plans the key-value cache of a Generator for up to `rows` texts at once, each as long as the
/// context of the recipe's data: Generation<{.rows = 32}>. Training needs none of it.
template <GenerationOptions O = {}>
struct Generation {
  using slot = slot::generation;
  using Options = GenerationOptions;
  using rules = RuleList<detail::TextsAreGenerated>;
  static constexpr Options options = O;
};

}  // namespace sinter
