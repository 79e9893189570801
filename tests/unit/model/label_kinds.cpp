// SPDX-License-Identifier: Apache-2.0
// Bert, DistilBert and Roberta with labels that are no single class of a sequence, against Hugging Face's:
// tests/data/bert.txt, which scripts/bert_reference.py has written.
#include "sinter/clipping/clip_norm.hpp"
#include "sinter/model/bert.hpp"
#include "sinter/model/distilbert.hpp"
#include "sinter/model/roberta.hpp"
#include "support/batches.hpp"
#include "support/recipes.hpp"
#include "support/references.hpp"

namespace sinter::detail::testing::label_kinds_tests {

constexpr int words = 19, positions = 8, labels = 3;
const std::vector<int> lengths{7, 3, 8, 1, 5};

template <class Options>
constexpr Options with_labels(LabelKind kind, int count = labels) {
  Options o{.layers = 2, .heads = 2, .width = 16, .hidden = 24};
  o.vocabulary = words;
  o.positions = positions;
  o.dropout = 0;
  o.labels = count;
  o.label_kind = kind;
  if constexpr (requires { o.classifier_dropout; }) o.classifier_dropout = 0;
  return o;
}
constexpr auto bert_with = with_labels<BertOptions>;
constexpr auto distilbert_with = with_labels<DistilBertOptions>;
constexpr auto roberta_with = with_labels<RobertaOptions>;

template <class Model>
using Small = Made<Model, UpTo<positions, words>, Batch<{.global = 6, .micro = 2}>,
                   AdamW<{.lr = 1e-3, .beta1 = .9, .beta2 = .95, .eps = 1e-8, .weight_decay = .1}>,
                   ClipNorm<{.max = 1}>>;

/// The batch of the reference, without ids up to that of padding.
HostBatch batch_of(const std::string& kind, int pad) {
  HostBatch batch = sequences_of(lengths);
  std::vector<std::int32_t> ids, classes;
  std::vector<float> numbers;
  for (int s = 0; s < int(lengths.size()); ++s) {
    const int n = lengths[std::size_t(s)];
    for (int row = 0; row < n; ++row) {
      ids.push_back(pad + 1 + (row * 7 + s * 5 + 3) % (words - pad - 1));
      classes.push_back(row % 3 == 1 || n == 1 ? (row * 3 + s) % labels : -1);
    }
    for (int k = 0; k < (kind == "number" ? 1 : labels); ++k)
      numbers.push_back(kind == "several" ? float((s + k) % 2)
                                          : float(s) * .5f - 1 + float(k) * .25f);
  }
  batch.ids.push_back(ids);
  if (kind == "tokens") {
    batch.ids.push_back(classes);
  } else {
    batch.values.push_back(numbers);
  }
  return batch;
}

template <class Model>
void compare(const std::string& name, const std::string& architecture, int pad = 0) {
  const Reference want = read_references("bert.txt")[name];
  REQUIRE(want.losses.size() == 20);
  const HostBatch batch = batch_of(name.substr(name.find('_') + 1), pad);
  Trainer<Small<Model>> trainer({.seed = 1, .threads = 2});
  set_reference_weights(trainer);
  const Prediction prediction = trainer.predict(batch);
  const Numbers logits(prediction.values.begin(), prediction.values.end());
  CHECK(relative_difference(logits, want.logits) < 1e-5);
  std::string lines;
  for (int s = 0; s < batch.sequences(); ++s) {
    for (int row = batch.starts[std::size_t(s)]; row < batch.starts[std::size_t(s) + 1]; ++row)
      lines += std::to_string(batch.ids[0][std::size_t(row)]) + " ";
    lines += "\n";
  }
  if (const Numbers library = logits_of_library(trainer, architecture, lines); !library.empty())
    CHECK(relative_difference(library, want.logits) < 1e-5);
  for (double loss : want.losses) {
    CAPTURE(loss);
    CHECK(relative_difference(trainer.evaluate(batch).mean(), loss) < 1e-4);
    CHECK(relative_difference(applied(trainer, batch).loss.mean(), loss) < 1e-4);
  }
}

TEST_CASE("Bert learns numbers as BertForSequenceClassification with a regression") {
  compare<Bert<bert_with(LabelKind::numbers, labels)>>("bert_numbers",
                                                       "BertForSequenceClassification");
}
TEST_CASE("Bert learns several classes as BertForSequenceClassification with several labels") {
  compare<Bert<bert_with(LabelKind::several_classes, labels)>>("bert_several",
                                                               "BertForSequenceClassification");
}
TEST_CASE(
    "Roberta learns several classes as RobertaForSequenceClassification with several labels") {
  compare<Roberta<roberta_with(LabelKind::several_classes, labels)>>(
      "roberta_several", "RobertaForSequenceClassification", 1);
}
TEST_CASE("Bert learns classes of tokens as BertForTokenClassification") {
  compare<Bert<bert_with(LabelKind::class_of_token, labels)>>("bert_tokens",
                                                              "BertForTokenClassification");
}
TEST_CASE("DistilBert learns a number as DistilBertForSequenceClassification with one label") {
  compare<DistilBert<distilbert_with(LabelKind::numbers, 1)>>(
      "distilbert_number", "DistilBertForSequenceClassification");
}
TEST_CASE("DistilBert learns classes of tokens as DistilBertForTokenClassification") {
  compare<DistilBert<distilbert_with(LabelKind::class_of_token, labels)>>(
      "distilbert_tokens", "DistilBertForTokenClassification");
}

template <class Body, class Classifier>
void train_head_of(const std::string& weight) {
  TemporaryFolder folder;
  Trainer<Small<Body>> body({.seed = 1, .threads = 1});
  body.export_to(folder / "body");
  Trainer<Small<Classifier>> classifier({.seed = 2, .threads = 1});
  const std::string told = classifier.load_weights(folder / "body", "", MissingHead::starts_fresh);
  CAPTURE(told);
  CHECK(told.find("the weights have no such head: ") == 0);
  CHECK(told.find(weight) < told.find("\nof another head, and left out: "));
}
TEST_CASE("a classifier of tokens starts from a body, with a fresh head") {
  constexpr BertOptions bert = with_labels<BertOptions>(LabelKind::one_class, 0);
  constexpr DistilBertOptions distilbert = with_labels<DistilBertOptions>(LabelKind::one_class, 0);
  train_head_of<Bert<bert>, Bert<bert_with(LabelKind::class_of_token, labels)>>(
      "classifier.weight");
  train_head_of<DistilBert<distilbert>,
                DistilBert<distilbert_with(LabelKind::class_of_token, labels)>>(
      "classifier.weight");
}

}  // namespace sinter::detail::testing::label_kinds_tests
