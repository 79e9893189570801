// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/bytes.hpp"
#include "sinter/data/dialogue.hpp"
#include "sinter/evaluation/evaluate.hpp"
#include "sinter/metric/accuracy.hpp"
#include "sinter/metric/exact_classes.hpp"
#include "sinter/metric/f1.hpp"
#include "sinter/metric/hits_at.hpp"
#include "sinter/metric/metrics.hpp"
#include "sinter/metric/pearson.hpp"
#include "sinter/metric/token_accuracy.hpp"
#include "sinter/model/bert.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;
using Classes = Mlp<{.classifier = true}>;

// Must not compile (quick), no_classes: Metrics: the model does not learn classes
struct mine : Recipe<Mlp<>, Metrics<Accuracy>> {};

// Must not compile, numbers_of_classes: Metrics: the model does not learn numbers
// and: Metrics<Accuracy>
struct mine : Recipe<Classes, Metrics<Accuracy, Pearson>> {};

// Must not compile, sets_of_classes: Metrics: the model does not learn several classes of a row
// and: LabelKind::several_classes
struct mine
    : Recipe<Classes, Metrics<Accuracy, ExactClasses, F1<{.average = ClassAverage::samples}>>> {};

// Must not compile, sets_of_numbers: Metrics: the model does not learn classes
// and: of numbers, Pearson
struct mine : Recipe<Mlp<>, Metrics<F1<>>> {};

// Must not compile, one_class_of_several: Metrics: the model does not learn classes
// and: ExactClasses and F1
struct mine : Recipe<Bert<{.layers = 1,
                           .heads = 1,
                           .width = 8,
                           .hidden = 8,
                           .vocabulary = 258,
                           .positions = 8,
                           .labels = 3,
                           .label_kind = LabelKind::several_classes}>,
                     Metrics<F1<>, Accuracy>> {};

// Must not compile, empty: Metrics: the list is empty, or one of its types is no metric
struct mine : Recipe<Classes, Metrics<>> {};

// Must not compile, not_a_metric: Metrics: the list is empty, or one of its types is no metric
namespace acme {
struct Rate {
  static constexpr std::string_view name = "rate";
  static constexpr bool greater_is_better = true;
  static constexpr int sums(int) { return 1; }
  static void add(const ClassifiedRows&, std::span<double>) {}
  // value() is missing.
};
}  // namespace acme
struct mine : Recipe<Classes, Metrics<Accuracy, acme::Rate>> {};

// Must not compile, twice: Metrics: two metrics have one name
struct mine : Recipe<Classes, Metrics<F1<>, F1<{.average = ClassAverage::macro}>>> {};

// Must not compile, name: Metrics: two metrics have one name
namespace acme {
struct Loud : Accuracy {
  static constexpr std::string_view name = "Val Accuracy";
};
}  // namespace acme
struct mine : Recipe<Classes, Metrics<acme::Loud>> {};

// Must not compile, tokens_of_classes: Metrics: the model does not learn tokens
// and: Metrics<Accuracy>
struct mine : Recipe<Classes, Metrics<Accuracy, TokenAccuracy>> {};

// Must not compile, tokens_of_numbers: Metrics: the model does not learn tokens
struct mine : Recipe<Mlp<>, Metrics<TokenAccuracy>> {};

// Must not compile, classes_of_tokens: Metrics: the model does not learn classes
// and: Metrics<TokenAccuracy>
struct mine : Recipe<Gpt2<{.layers = 1, .heads = 1, .width = 8, .vocabulary = 256}>,
                     Bytes<{.context = 16}>, Metrics<Accuracy>> {};

// Must not compile, ranks_alone: Metrics: a metric is of texts, and evaluations of this recipe write none
// and: HitsAt ranks those of the examples
struct mine : Recipe<Gpt2<{.layers = 1, .heads = 1, .width = 8, .vocabulary = 258}>, Dialogue<>,
                     Metrics<HitsAt<>>> {};

// Must not compile, ranks_of_classes: Evaluate: the data have no replies
struct mine : Recipe<Classes, Metrics<Accuracy, HitsAt<>>, Evaluate<>> {};

// Must not compile, always_hit: Metrics: a metric's k is below 1, or as large as the number of its candidates
// and: of k candidates, each is among the first k
struct mine
    : Recipe<Gpt2<{.layers = 1, .heads = 1, .width = 8, .vocabulary = 258, .positions = 16}>,
             Dialogue<{.text = 8, .label = 8}>, Metrics<HitsAt<{.k = 20}>>, Evaluate<>> {};
