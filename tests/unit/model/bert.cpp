// SPDX-License-Identifier: Apache-2.0
// Bert and DistilBert against Hugging Face's: tests/data/bert.txt, which scripts/bert_reference.py
// has written, and the library itself where SINTER_PYTHON names one.
#include "sinter/model/bert.hpp"

#include <map>

#include "sinter/error.hpp"
#include "sinter/files/safetensors.hpp"
#include "sinter/generate/generate.hpp"
#include "sinter/model/distilbert.hpp"
#include "sinter/precision/fp64.hpp"
#include "support/small_models.hpp"

namespace sinter::detail::testing::bert_tests {

namespace fs = std::filesystem;

constexpr BertOptions bert = small_encoder<BertOptions>();
constexpr BertOptions bert_of_pairs =
    changed(bert, [](auto& o) { o.pairs = true, o.labels = small_labels; });
constexpr DistilBertOptions distilbert = small_encoder<DistilBertOptions>();
constexpr DistilBertOptions distilbert_of_classes =
    changed(distilbert, [](auto& o) { o.labels = small_labels; });

template <class Model>
void compare(const std::string& name, const std::string& architecture) {
  const bool pairs = name.ends_with("pairs");
  const HostBatch batch = small_batch(name.ends_with("masked"), pairs);
  Trainer<Small<Model>> trainer({.seed = 1, .threads = 2});
  compare_with_reference(trainer, read_references("bert.txt")[name], architecture, batch,
                         lines_of(batch, 1 + pairs), logits_of);
}

TEST_CASE("Bert predicts hidden tokens and learns as BertForMaskedLM") {
  compare<Bert<bert>>("bert_masked", "BertForMaskedLM");
}
TEST_CASE("Bert classifies pairs and learns as BertForSequenceClassification") {
  compare<Bert<bert_of_pairs>>("bert_pairs", "BertForSequenceClassification");
}
TEST_CASE("DistilBert predicts hidden tokens and learns as DistilBertForMaskedLM") {
  compare<DistilBert<distilbert>>("distilbert_masked", "DistilBertForMaskedLM");
}
TEST_CASE("DistilBert classifies and learns as DistilBertForSequenceClassification") {
  compare<DistilBert<distilbert_of_classes>>("distilbert_classes",
                                             "DistilBertForSequenceClassification");
}

/// A classifier whose last block computes all rows.
template <BertOptions O>
struct AllRows {
  using slot = sinter::slot::model;
  static constexpr void trace(auto& g) {
    auto x = pooled_rows(g);
    g.result(g.unit("classifier", encoder::ClassifierLoss<O, bert::Classifier<O>>{}, x,
                    g.targets(pooled(0))));
  }
  static constexpr void predict(auto& g) {
    g.result(g.unit("classifier", bert::Classifier<O>{}, pooled_rows(g)));
  }

 private:
  struct Pooler {
    static constexpr Value<O.width> trace(auto& g, Value<O.width> x) {
      return bert::Pooler<O>::trace(g, g("first", FirstRow<O.width>{}, x));
    }
  };
  static constexpr Value<O.width> pooled_rows(auto& g) {
    auto tokens = g.tokens();
    auto x = g.unit("bert.embeddings", bert::Embed<O>{}, tokens, g.tokens());
    return g.unit(
        "bert.pooler", Pooler{},
        g.repeat(O.layers, "bert.encoder.layer", encoder::Block<O, bert::BlockParts<O>>{}, x));
  }
};

template <class Model>
using Exact = Made<Model, UpTo<small_positions, small_words>, Batch<{.global = 6, .micro = 2}>,
                   AdamW<{.lr = 1e-2, .weight_decay = .1}>, ClipNorm<{.max = 1}>, Fp64>;

template <int Layers>
void compare_with_all_rows() {
  constexpr BertOptions options = changed(bert_of_pairs, [](auto& o) { o.layers = Layers; });
  Trainer<Exact<Bert<options>>> first({.seed = 1, .threads = 2});
  Trainer<Exact<AllRows<options>>> whole({.seed = 1, .threads = 2});
  set_reference_weights(first);
  set_reference_weights(whole);
  const HostBatch batch = small_batch(false, true);
  for (int step = 0; step < 5; ++step) {
    CHECK(relative_difference(logits_of(first, batch), logits_of(whole, batch)) < 1e-6);
    CHECK(first.evaluate(batch).mean() ==
          doctest::Approx(whole.evaluate(batch).mean()).epsilon(1e-11));
    CHECK(applied(first, batch).gradient_norm ==
          doctest::Approx(applied(whole, batch).gradient_norm).epsilon(1e-10));
  }
  for (const auto& [name, values] : parameters_of(first)) {
    CAPTURE(name);
    CHECK(relative_difference(values, parameters_of(whole).at(name)) < 1e-9);
  }
}
TEST_CASE("the first rows of the last block are those of a block that computes all rows") {
  compare_with_all_rows<1>();
  compare_with_all_rows<3>();
}

/// The name of a norm's parameter as the first files of BERT have it.
std::string older_name(std::string name) {
  for (const auto& [now, older] : {std::pair(".weight", ".gamma"), std::pair(".bias", ".beta")})
    if (const std::string end = std::string("LayerNorm") + now; name.ends_with(end))
      return name.substr(0, name.size() - std::string(now).size()) + older;
  return name;
}

TEST_CASE("Bert reads what it has exported, and files of BertForPreTraining") {
  TemporaryFolder folder;
  Trainer<Small<Bert<bert>>> trainer({.seed = 1, .threads = 1}), other({.seed = 2, .threads = 1});
  set_reference_weights(trainer);
  trainer.export_to(folder / "exported");
  other.load_weights(folder / "exported");
  CHECK(parameters_of(other) == parameters_of(trainer));

  // Norms with other names, a head that is written out, its bias under both names, a pooler and a
  // next-sentence head.
  const SafetensorsFile file(folder / "exported/model.safetensors");
  std::map<std::string, std::vector<float>> content;
  std::vector<TensorView> tensors;
  auto add = [&](const std::string& name, std::vector<std::int64_t> shape, std::vector<float> x) {
    auto& kept = content[name] = std::move(x);
    tensors.push_back({name, Dtype::f32, std::move(shape), kept.data(), kept.size() * 4});
  };
  for (const TensorInfo& tensor : file.tensors()) {
    const Numbers x = trainer.parameter(tensor.name);
    add(older_name(tensor.name), tensor.shape, {x.begin(), x.end()});
  }
  const std::string table = "bert.embeddings.word_embeddings.weight";
  add("cls.predictions.decoder.weight", {small_words, bert.width}, content[table]);
  add("cls.predictions.decoder.bias", {small_words}, content["cls.predictions.bias"]);
  add("bert.pooler.dense.weight", {2, 2}, {1, 2, 3, 4});
  add("bert.pooler.dense.bias", {2}, {1, 2});
  add("cls.seq_relationship.weight", {1, 2}, {1, 2});
  add("cls.seq_relationship.bias", {1}, {1});
  const std::string whole = folder / "whole.safetensors";
  write_safetensors(whole, tensors);
  CHECK(content.contains("bert.encoder.layer.1.output.LayerNorm.gamma"));
  Trainer<Small<Bert<bert>>> third({.seed = 3, .threads = 1});
  third.load_weights(whole);
  CHECK(parameters_of(third) == parameters_of(trainer));
}

TEST_CASE("a classifier starts from a body that has learned hidden tokens, with a fresh head") {
  train_head_of<Bert<bert>, Bert<bert_of_pairs>>("classifier.weight");
  train_head_of<DistilBert<distilbert>, DistilBert<distilbert_of_classes>>("pre_classifier.weight");
}

TEST_CASE("Bert generates no text") {
  Trainer<Small<Bert<bert>>> trainer({.seed = 1, .threads = 1});
  CHECK_THROWS_WITH_AS(generate(trainer, {1}, 1, {}, [](std::int32_t) {}),
                       doctest::Contains("does not predict what follows"), ArgumentError);
}

}  // namespace sinter::detail::testing::bert_tests
