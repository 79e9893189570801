// SPDX-License-Identifier: Apache-2.0
// Bert, DistilBert and Roberta with labels that are no single class of a sequence, against Hugging Face's:
// tests/data/bert.txt, which scripts/bert_reference.py has written.
#include "sinter/model/bert.hpp"
#include "sinter/model/distilbert.hpp"
#include "sinter/model/roberta.hpp"
#include "support/small_models.hpp"

namespace sinter::detail::testing::label_kinds_tests {

template <class Options>
constexpr Options with_labels(LabelKind kind, int count = small_labels) {
  Options o = small_encoder<Options>();
  o.labels = count;
  o.label_kind = kind;
  return o;
}
constexpr auto bert_with(auto... of) { return with_labels<BertOptions>(of...); }
constexpr auto distilbert_with(auto... of) { return with_labels<DistilBertOptions>(of...); }
constexpr auto roberta_with(auto... of) { return with_labels<RobertaOptions>(of...); }

/// The batch of the reference, without ids up to that of padding.
HostBatch batch_of(const std::string& kind, int pad) {
  HostBatch batch = sequences_of(small_lengths);
  std::vector<std::int32_t> ids, classes;
  std::vector<float> numbers;
  for (int s = 0; s < int(small_lengths.size()); ++s) {
    const int n = small_lengths[std::size_t(s)];
    for (int row = 0; row < n; ++row) {
      ids.push_back(pad + 1 + (row * 7 + s * 5 + 3) % (small_words - pad - 1));
      classes.push_back(row % 3 == 1 || n == 1 ? (row * 3 + s) % small_labels : -1);
    }
    for (int k = 0; k < (kind == "number" ? 1 : small_labels); ++k)
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
  const HostBatch batch = batch_of(name.substr(name.find('_') + 1), pad);
  Trainer<Small<Model>> trainer({.seed = 1, .threads = 2});
  compare_with_reference(trainer, read_references("bert.txt")[name], architecture, batch,
                         lines_of(batch), logits_of);
}

TEST_CASE("Bert learns numbers as BertForSequenceClassification with a regression") {
  compare<Bert<bert_with(LabelKind::numbers)>>("bert_numbers", "BertForSequenceClassification");
}
TEST_CASE("Bert learns several classes as BertForSequenceClassification with several labels") {
  compare<Bert<bert_with(LabelKind::several_classes)>>("bert_several",
                                                       "BertForSequenceClassification");
}
TEST_CASE(
    "Roberta learns several classes as RobertaForSequenceClassification with several labels") {
  compare<Roberta<roberta_with(LabelKind::several_classes)>>("roberta_several",
                                                             "RobertaForSequenceClassification", 1);
}
TEST_CASE("Bert learns classes of tokens as BertForTokenClassification") {
  compare<Bert<bert_with(LabelKind::class_of_token)>>("bert_tokens", "BertForTokenClassification");
}
TEST_CASE("DistilBert learns a number as DistilBertForSequenceClassification with one label") {
  compare<DistilBert<distilbert_with(LabelKind::numbers, 1)>>(
      "distilbert_number", "DistilBertForSequenceClassification");
}
TEST_CASE("DistilBert learns classes of tokens as DistilBertForTokenClassification") {
  compare<DistilBert<distilbert_with(LabelKind::class_of_token)>>(
      "distilbert_tokens", "DistilBertForTokenClassification");
}

TEST_CASE("a classifier of tokens starts from a body, with a fresh head") {
  train_head_of<Bert<small_encoder<BertOptions>()>, Bert<bert_with(LabelKind::class_of_token)>>(
      "classifier.weight");
  train_head_of<DistilBert<small_encoder<DistilBertOptions>()>,
                DistilBert<distilbert_with(LabelKind::class_of_token)>>("classifier.weight");
}

}  // namespace sinter::detail::testing::label_kinds_tests
