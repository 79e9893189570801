// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/batch/beam_rules.hpp"
#include "sinter/batch/generation.hpp"
#include "sinter/batch/sample.hpp"
#include "sinter/evaluation/reply_writing.hpp"
#include "sinter/metric/class_targets.hpp"
#include "sinter/metric/metric.hpp"
#include "sinter/policy/concepts.hpp"
#include "sinter/policy/policy_facts.hpp"
#include "sinter/program/cross_entropy.hpp"

namespace sinter {

/// How an evaluation chooses the tokens that it writes.
enum class Generate : std::uint8_t {
  usual,   ///< as the recipe's Sample says; always the likeliest token unless that says how to draw
  greedy,  ///< always the likeliest token
  drawn    ///< by chance, as temperature, top_k and top_p say
};
/// The name of a choice, as options print it.
constexpr std::string_view name_of(Generate generate) {
  return generate == Generate::usual ? "usual" : generate == Generate::greedy ? "greedy" : "drawn";
}

struct EvaluateOptions {
  Generate generate = Generate::usual;  ///< how tokens are chosen
  std::int64_t examples = 0;  ///< number of examples that get a reply, the first ones; 0 for all
  std::int64_t tokens = 0;    ///< maximum tokens of a reply; 0: as many as the data's may have
  double temperature = 1;  ///< of draws: below 1 likely tokens come more often, above 1 rare ones
  int top_k = 0;           ///< draws are from the k likeliest tokens; 0: from all
  double top_p = 1;        ///< draws are from the likeliest tokens that reach this probability
  std::int64_t seed = 0;   ///< of draws
  int rows = 0;  ///< texts, or hypotheses of beam searches, written at once; 0: as Generation has
  /// Hypotheses of a beam search (BeamOptions). 1 searches none, unless a Sample says so that is obeyed.
  int beams = 1;
  BeamStopping early_stopping = BeamStopping::no;       ///< when a beam search ends
  LengthPenalty length_penalty = LengthPenalty::power;  ///< what divides scores of hypotheses
  double length_exponent = 1;  ///< of the penalty: above 0 long replies are favoured, below 0 short
  SINTER_FIELDS((generate), (examples).at_least(0).adjustable(), (tokens).at_least(0).adjustable(),
                (temperature).above(0).adjustable(), (top_k).at_least(0).adjustable(),
                (top_p).above(0).at_most(1).adjustable(), (seed).at_least(0).adjustable(),
                (rows).at_least(0).at_most(4096), (beams).at_least(1).at_most(4096),
                (early_stopping), (length_penalty),
                (length_exponent).at_least(-100).at_most(100).adjustable())
};

namespace detail {
/// True if a metric of the recipe R is of texts.
template <class R>
constexpr bool has_text_metric() {
  bool found = false;
  for_each_policy(typename R::all{}, [&]<hook::HasMetrics P>(P*) {
    for (const Metric& metric : P::metrics) found |= metric.is_of_texts();
  });
  return found;
}

/// True if the beams of the policy P fit into the rows that it has, or that Generation plans.
template <class R, class P>
constexpr bool beams_fit() {
  if constexpr (!requires {
                  typename std::bool_constant<(P::writes(P::options), P::reply_rows, true)>;
                }) {
    return true;
  } else {
    constexpr int planned = R::template Pick<slot::generation, Generation<>>::options.rows;
    return P::writes(P::options).with(sampling_of<R>()).sampling.beams.value_or(1) <=
           (P::reply_rows > 0 ? P::reply_rows : planned);
  }
}
template <class R>
constexpr bool all_beams_fit() {
  bool fit = true;
  for_each_policy(typename R::all{}, [&]<hook::WritesReplies P>(P*) { fit &= beams_fit<R, P>(); });
  return fit;
}

SINTER_RULE(
    RepliesAreScored, has_text_metric<R>(),
    "Evaluate: none of the recipe's metrics is of texts. Why: nothing would score the replies "
    "that evaluations write, which take most of their time. Fix: name such metrics, as in "
    "Metrics<Bleu, RougeL, TokenF1<>>, or leave Evaluate out.");
SINTER_RULE(
    DataHaveReplies, hook::has_replies<typename R::data>,
    "Evaluate: the data have no replies. Why: an evaluation writes a reply for an example and "
    "compares it with the example's own. Fix: data of examples, such as Dialogue, "
    "DialoguePairs, JsonLines, Columns, or Chat whose replies alone are learnt; or leave "
    "Evaluate and the metrics of texts out.");
SINTER_RULE(
    BeamsHaveRows, all_beams_fit<R>(),
    "Evaluate: more beams than rows. Why: each hypothesis of a beam search takes a row of the "
    "caches, and all of one reply are there at once. Fix: raise Evaluate's rows, or those of "
    "Generation where Evaluate has none; or take fewer beams.");
SINTER_RULE(
    RepliesAreWrittenInOrder, !has_objective<R>(),
    "Evaluate: the recipe has an objective that hides tokens. Why: its model learns to fill "
    "gaps, and does not write a text from its beginning. Fix: leave the objective out, or "
    "Evaluate and the metrics of texts.");
SINTER_MODEL_RULE(
    RepliesArePredictable, losses_of(model).cross_entropies > 0 && !class_targets(model),
    "Evaluate: the model does not learn tokens. Why: a reply is written token by token, "
    "by the logits of the next one. Fix: a model of tokens, such as Gpt2 or Seq2Seq; "
    "or leave Evaluate and the metrics of texts out.");
}  // namespace detail

/// Evaluations that write: beside the loss, the model replies to examples of the validation set, and the
/// recipe's metrics of texts score the replies. Evaluate<{.examples = 200}> replies to the first 200, as
/// the recipe's Sample says, and greedily without one. A reply ends as the data's replies do, or after
/// `tokens` tokens. The text that it is compared with is that of the example, as far as the data's limits
/// leave it. Draws of an example depend only on `seed` and on its number in the set. `rows` texts are
/// written at once, through a key-value cache where the model has one; while they are, a copy of the
/// weights and the caches take memory of their own, as `describe` says. Up to 64 MiB of what an encoder
/// gave for the loss are kept for the replies, so that it reads no text twice. --skip-generation leaves
/// all this out.
template <EvaluateOptions O = {}>
struct Evaluate {
  using slot = slot::evaluation;
  using Options = EvaluateOptions;
  using rules = RuleList<detail::RepliesAreScored, detail::DataHaveReplies,
                         detail::RepliesAreWrittenInOrder, detail::BeamsHaveRows>;
  using model_rules = RuleList<detail::RepliesArePredictable>;
  static constexpr Options options = O;
  static constexpr int reply_rows = O.rows;  ///< texts at once; 0: as many as Generation plans

  static constexpr ReplyWriting writes(const Options& o) {
    SamplingSettings said;
    if (o.generate == Generate::greedy) said.temperature = 0;
    if (o.generate == Generate::drawn)
      said = {.temperature = o.temperature, .top_k = o.top_k, .top_p = o.top_p};
    const bool obeys = o.generate == Generate::usual;
    if (!obeys || o.beams > 1) {
      said.beams = o.beams;
      said.early_stopping = o.early_stopping;
      said.length_penalty = o.length_penalty;
      said.length_exponent = o.length_exponent;
    }
    return {.examples = o.examples,
            .tokens = o.tokens,
            .seed = std::uint64_t(o.seed),
            .sampling = said,
            .obeys_recipe = obeys};
  }
  static constexpr Contradiction contradiction(const Options& o) {
    if (o.generate != Generate::drawn && (o.temperature != 1 || o.top_k != 0 || o.top_p != 1))
      return {"a temperature, top_k or top_p has no effect on replies that are not drawn",
              "leave it out, or set generate to Generate::drawn in the recipe"};
    return detail::beam_contradiction(
        {o.beams, o.early_stopping, o.length_penalty, o.length_exponent});
  }
};

}  // namespace sinter
