// SPDX-License-Identifier: Apache-2.0
// Sizes of Bert, DistilBert and Roberta, those of Hugging Face's models of the same names, as values
// that the compiler computes.
#include "sinter/data/tokens.hpp"
#include "sinter/model/bert.hpp"
#include "sinter/model/distilbert.hpp"
#include "sinter/model/roberta.hpp"
#include "sinter/objective/masked_lm.hpp"
#include "sinter/recipe/plan.hpp"

using namespace sinter;

template <class Model>
struct Hidden : Recipe<Model, Tokens<{.context = 128, .vocabulary = 30522}>, MaskedLm<>> {};
/// A program's own batches, with a label for each sequence.
struct Labelled {
  using slot = sinter::slot::data;
  static constexpr int context = 128, vocabulary = 30522;
};
template <class Model>
struct Classified : Recipe<Model, Labelled> {};

static_assert(ready<Hidden<Bert<>>>());
static_assert(Plan<Hidden<Bert<>>>::parameters == 109'514'298);
static_assert(ready<Hidden<DistilBert<>>>());
static_assert(Plan<Hidden<DistilBert<>>>::parameters == 66'985'530);
static_assert(ready<Classified<Bert<{.pairs = true, .labels = 2}>>>());
static_assert(Plan<Classified<Bert<{.pairs = true, .labels = 2}>>>::parameters == 109'483'778);
static_assert(ready<Classified<DistilBert<{.labels = 2}>>>());
static_assert(Plan<Classified<DistilBert<{.labels = 2}>>>::parameters == 66'955'010);
static_assert(ready<Hidden<Roberta<>>>());
static_assert(Plan<Hidden<Roberta<>>>::parameters == 124'697'433);
static_assert(ready<Classified<Roberta<{.labels = 2}>>>());
static_assert(Plan<Classified<Roberta<{.labels = 2}>>>::parameters == 124'647'170);

// Attention counts all of context × context, in both directions.
using base = Plan<Hidden<Bert<>>>;
constexpr std::int64_t width = 768, layers = 12, context = 128;
constexpr std::int64_t in_matmuls = layers * 12 * width * width + width * width + 30522 * width;
static_assert(base::flops_per_token == 6 * in_matmuls + 12 * layers * width * context);

// For classes, the last block has keys and values of all rows, and once in a sequence the rest.
using classes = Plan<Classified<Bert<{.labels = 2}>>>;
constexpr std::int64_t of_all_rows = (layers - 1) * 12 * width * width + 2 * width * width;
constexpr std::int64_t of_first_rows = (10 + 1) * width * width + 2 * width;
static_assert(classes::flops_per_token == 6 * of_all_rows + 12 * (layers - 1) * width * context +
                                              (6 * of_first_rows + 12 * width * context) / context);
