// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/bytes.hpp"
#include "sinter/data/chat.hpp"
#include "sinter/data/dialogue.hpp"
#include "sinter/evaluation/evaluate.hpp"
#include "sinter/evaluation/skip_generation.hpp"
#include "sinter/metric/accuracy.hpp"
#include "sinter/metric/bleu.hpp"
#include "sinter/metric/metrics.hpp"
#include "sinter/metric/rouge_l.hpp"
#include "sinter/metric/token_accuracy.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;
using Small = Gpt2<{.layers = 1, .heads = 1, .width = 8, .vocabulary = 258, .positions = 32}>;
using Replies = Dialogue<{.text = 16, .label = 16}>;

// Must not compile (quick), texts_without_evaluate: Metrics: a metric is of texts, and evaluations of this recipe write none
// and: Evaluate<{.examples = 200}>
struct mine : Recipe<Small, Replies, Metrics<TokenAccuracy, Bleu>> {};

// Must not compile, texts_of_classes: Metrics: a metric is of texts, and evaluations of this recipe write none
struct mine : Recipe<Mlp<{.classifier = true}>, Metrics<Accuracy, Bleu>> {};

// Must not compile, skipped: SkipGeneration: a metric of the recipe is of texts
// and: RougeL
struct mine : Recipe<Small, Replies, Metrics<Bleu>, SkipGeneration> {};

// Must not compile, both: two policies claim one slot
struct mine : Recipe<Small, Replies, Metrics<Bleu>, SkipGeneration, Evaluate<>> {};

// Must not compile, unscored: Evaluate: none of the recipe's metrics is of texts
struct mine : Recipe<Small, Replies, Metrics<TokenAccuracy>, Evaluate<>> {};

// Must not compile, without_replies: Evaluate: the data have no replies
struct mine : Recipe<Small, Bytes<{.context = 16}>, Metrics<Bleu>, Evaluate<>> {};

// Must not compile, all_tokens: Evaluate: the data have no replies
// and: Chat whose replies alone are learnt
struct mine : Recipe<Small, Chat<ChatMl, {.context = 32, .all_tokens = true}>, Metrics<RougeL>,
                     Evaluate<>> {};

// Must not compile, greedy: Sinter: options of a policy contradict each other
// and: temperature, top_k or top_p
struct mine : Recipe<Small, Replies, Metrics<Bleu>, Evaluate<{.top_k = 5}>> {};

// Must not compile, classes: Evaluate: the model does not learn tokens
namespace acme {
struct Lines {
  using slot = sinter::slot::data;
  static constexpr int context = 1, vocabulary = 0;
  static constexpr bool has_replies = true;
};
}  // namespace acme
struct mine : Recipe<Mlp<{.classifier = true}>, acme::Lines, Metrics<Bleu>, Evaluate<>> {};

// Must not compile, has_replies_type: Sinter: a member of a policy has the name of a hook, but another form
// and: the member has_replies of Policy
namespace acme {
struct Lines {
  using slot = sinter::slot::data;
  static constexpr int context = 16, vocabulary = 258;
  static constexpr std::string_view has_replies = "yes";
};
}  // namespace acme
struct mine : Recipe<Small, acme::Lines, Metrics<Bleu>, Evaluate<>> {};

// Must not compile, beams_without_rows: Evaluate: more beams than rows
// and: raise Evaluate's rows
struct mine : Recipe<Small, Replies, Metrics<Bleu>, Evaluate<{.rows = 3, .beams = 4}>> {};

// Must not compile, sampled_beams_without_rows: Evaluate: more beams than rows
struct mine : Recipe<Small, Replies, Metrics<Bleu>, Evaluate<{.rows = 3}>, Sample<{.beams = 4}>> {};

// Must not compile, lone_beam: Sinter: options of a policy contradict each other
// and: without a beam search
struct mine
    : Recipe<Small, Replies, Metrics<Bleu>, Evaluate<{.length_penalty = LengthPenalty::wu}>> {};
