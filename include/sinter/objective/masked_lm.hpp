// SPDX-License-Identifier: Apache-2.0
// What a model is shown of tokens, and what it predicts: the slot `objective`.
#pragma once
#include "sinter/data/objective.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter {

namespace slot {
/// What is shown and predicted. Left out, it is the next token.
struct objective {
  static constexpr std::string_view name = "objective";
};
}  // namespace slot

struct MaskedLmOptions {
  double share = 0.15;  ///< the probability with which a token is chosen, to be predicted
  /// The id that stands for a hidden token; -1 takes the special token [MASK] or <mask> of the data.
  int mask = -1;
  SINTER_FIELDS((share).above(0).at_most(1), (mask).at_least(-1))
};

/// A rule: the data have tokens.
struct DataHaveTokens {
  template <class R>
  static constexpr bool holds = (R::data::vocabulary > 0);
  template <class R>
  static auto enforce() {
    static_assert(holds<R>,
                  "MaskedLm: the data have no tokens. Why: it hides tokens and has them "
                  "predicted, and these data are numbers. Fix: leave it out, or train on data "
                  "with a vocabulary, such as Tokens or Bytes.");
  }
};

/// A rule: the model has an embedding for the mask, as far as it says its vocabulary.
template <MaskedLmOptions O>
struct ModelHoldsMask {
  /// Whether the mask is an id of the model of R; true if that does not say its vocabulary.
  template <class R>
  static constexpr bool fits() {
    if constexpr (requires { int(R::model::options.vocabulary); }) {
      return O.mask < R::model::options.vocabulary;
    } else {
      return true;
    }
  }
  template <class R>
  static constexpr bool holds = fits<R>();
  template <class R>
  static auto enforce() {
    static_assert(holds<R>,
                  "MaskedLm: the mask is not in the model's vocabulary. Why: the model is shown "
                  "the mask's id, and looks it up in its embedding. Fix: a .vocabulary of the "
                  "model that is above .mask: 257 for Bytes and .mask = 256.");
  }
};

/// A rule of the model: no row is kept from seeing those that follow.
struct SeesBothSides {
  static constexpr bool holds(const Model& model) {
    for (const Node& node : model.nodes)
      if (node.layer->causal) return false;
    return true;
  }
  template <class R>
  static auto enforce() {
    static_assert(sizeof(R) == 0,
                  "MaskedLm: the model has causal attention. Why: a row would guess the hidden "
                  "token from those before it alone, and learn nothing from those behind it. Fix: "
                  "a model with SelfAttention in place of CausalSelfAttention, or leave MaskedLm "
                  "out to predict the next token.");
  }
};

/// The objective of masked language models with these options.
/// throws    ArgumentError if no mask is said and the data have none
Objective masked_lm(const MaskedLmOptions& options, const DataTokens& tokens);

/// Hides tokens and has them predicted (Devlin et al. 2019, "BERT", section 3.1): each token that
/// is not special is chosen with the probability `share`, and its row predicts it. Of those that
/// are chosen 80 % are shown as the mask, 10 % as a random token of the data's vocabulary, and 10 %
/// as they are. All other rows predict nothing (target -1). A sequence of which none would be
/// chosen has one, so that no batch is without a prediction; a sequence of special tokens alone has
/// none.
///
/// As in Hugging Face's DataCollatorForLanguageModeling, each token is drawn for itself; BERT's own
/// program chooses a fixed number of each sequence. Of examples with a context only the label is
/// hidden, for only rows that predict something without this policy may be chosen.
///
/// What is hidden is a function of seed, epoch, example (or window) and place in it: another set in
/// each epoch, the same in each evaluation, and the same however examples are put into batches.
template <MaskedLmOptions O = {}>
struct MaskedLm {
  using slot = slot::objective;
  using Options = MaskedLmOptions;
  using rules = RuleList<DataHaveTokens, ModelHoldsMask<O>>;
  using model_rules = RuleList<SeesBothSides>;
  static constexpr Options options = O;
  /// Shown beside the loss; it cannot be compared with that of a model which predicts all tokens.
  static constexpr Figure headline{"bits per hidden token", bits};

  /// What is done with batches of these tokens; see masked_lm().
  static Objective objective(const Options& o, const DataTokens& tokens) {
    return masked_lm(o, tokens);
  }
};

}  // namespace sinter
