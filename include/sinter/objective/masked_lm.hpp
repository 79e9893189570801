// SPDX-License-Identifier: Apache-2.0
// The slot `objective`: which tokens a model is shown, and which it predicts.
#pragma once
#include <algorithm>

#include "sinter/data/objective.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter {

namespace slot {
/// The slot of objectives: which tokens are shown and predicted. Without one it is the next token.
struct objective {
  static constexpr std::string_view name = "objective";
};
}  // namespace slot

struct MaskedLmOptions {
  double share = 0.15;  ///< the probability that a token is chosen, to be predicted
  /// The id shown for a masked token; -1 takes the data's special token [MASK] or <mask>.
  int mask = -1;
  SINTER_FIELDS((share).above(0).at_most(1), (mask).at_least(-1))
};

namespace detail {
SINTER_RULE(DataHaveTokens, R::data::vocabulary > 0,
            "MaskedLm: the data have no tokens. Why: it hides tokens and has them predicted, and "
            "these data are numbers. Fix: leave it out, or train on data with a vocabulary, such "
            "as Tokens or Bytes.");

/// True if an id is below the vocabulary of R's model, or if the model states none.
template <class R>
constexpr bool model_holds(int id) {
  if constexpr (requires { int(R::model::options.vocabulary); }) {
    return id < R::model::options.vocabulary;
  } else {
    return true;
  }
}

template <MaskedLmOptions O>
SINTER_RULE(ModelHoldsMask, detail::model_holds<R>(O.mask),
            "MaskedLm: the mask is not in the model's vocabulary. Why: the model is shown the "
            "mask's id, and looks it up in its embedding. Fix: a .vocabulary of the model that is "
            "above .mask: 257 for Bytes and .mask = 256.");
SINTER_MODEL_RULE(
    SeesBothSides,
    std::ranges::none_of(model.nodes, [](const Node& node) { return node.layer->causal; }),
    "MaskedLm: the model has causal attention. Why: a row would guess the hidden token from those "
    "before it alone, and learn nothing from those behind it. Fix: a model with SelfAttention in "
    "place of CausalSelfAttention, or leave MaskedLm out to predict the next token.");

/// The objective of masked language models with these options.
/// throws    ArgumentError if options.mask is -1 and the data have no mask token
Objective masked_lm(const MaskedLmOptions& options, const DataTokens& tokens);
}  // namespace detail

/// Masked language modelling (Devlin et al. 2019, "BERT", section 3.1): each token that is not
/// special is chosen with the probability `share`, and its row predicts it. 80 % of chosen tokens
/// are shown as the mask, 10 % as a random token of the data's vocabulary, and 10 % unchanged. All
/// other rows predict nothing (target -1). If no token of a sequence is drawn, one is chosen, so
/// every batch has a prediction. A sequence of only special tokens has none.
///
/// Each token is drawn independently, as in Hugging Face's DataCollatorForLanguageModeling; BERT's
/// own program chooses a fixed number per sequence. If examples have a context, only tokens of the
/// label are masked, as only rows that predict something without this policy may be chosen.
///
/// The choice is a function of seed, epoch, example (or window) and position in it. So it differs
/// in each epoch, is the same in each evaluation, and does not depend on batching.
template <MaskedLmOptions O = {}>
struct MaskedLm {
  using slot = slot::objective;
  using Options = MaskedLmOptions;
  using rules = RuleList<detail::DataHaveTokens, detail::ModelHoldsMask<O>>;
  using model_rules = RuleList<detail::SeesBothSides>;
  static constexpr Options options = O;
  /// The figure shown beside the loss; not comparable with that of a model that predicts all
  /// tokens.
  static constexpr Figure headline{"bits per hidden token", detail::bits};

  /// Returns the objective for data with these tokens; see masked_lm().
  static Objective objective(const Options& o, const DataTokens& tokens) {
    return detail::masked_lm(o, tokens);
  }
};

}  // namespace sinter
