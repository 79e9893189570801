// SPDX-License-Identifier: Apache-2.0
// Bert and DistilBert against Hugging Face's: tests/data/bert.txt, which scripts/bert_reference.py
// has written, and the library itself where SINTER_PYTHON names one.
#include "sinter/model/bert.hpp"

#include <map>

#include "sinter/clipping/clip_norm.hpp"
#include "sinter/error.hpp"
#include "sinter/files/safetensors.hpp"
#include "sinter/generate/generate.hpp"
#include "sinter/model/distilbert.hpp"
#include "sinter/precision/fp64.hpp"
#include "support/batches.hpp"
#include "support/folder.hpp"
#include "support/recipes.hpp"
#include "support/references.hpp"

namespace sinter::detail::testing::bert_tests {

namespace fs = std::filesystem;

constexpr int words = 19, positions = 8, labels = 3, steps = 20;
const std::vector<int> lengths{7, 3, 8, 1, 5};

constexpr BertOptions bert{.layers = 2,
                           .heads = 2,
                           .width = 16,
                           .hidden = 24,
                           .vocabulary = words,
                           .positions = positions,
                           .dropout = 0};
constexpr BertOptions bert_of_pairs = [] {
  BertOptions o = bert;
  o.pairs = true;
  o.labels = labels;
  return o;
}();
constexpr DistilBertOptions distilbert{.layers = 2,
                                       .heads = 2,
                                       .width = 16,
                                       .hidden = 24,
                                       .vocabulary = words,
                                       .positions = positions,
                                       .dropout = 0,
                                       .classifier_dropout = 0};
constexpr DistilBertOptions distilbert_of_classes = [] {
  DistilBertOptions o = distilbert;
  o.labels = labels;
  return o;
}();

template <class Model>
using Small = Made<Model, UpTo<positions, words>, Batch<{.global = 6, .micro = 2}>,
                   AdamW<{.lr = 1e-3, .beta1 = .9, .beta2 = .95, .eps = 1e-8, .weight_decay = .1}>,
                   ClipNorm<{.max = 1}>>;

/// The batch of the reference, with a target for each row or each sequence, and types or none.
HostBatch batch_of(bool masked, bool pairs) {
  HostBatch batch = sequences_of(lengths);
  std::vector<std::int32_t> ids, types, targets;
  for (int s = 0; s < int(lengths.size()); ++s) {
    const int n = lengths[std::size_t(s)];
    for (int row = 0; row < n; ++row) {
      ids.push_back(1 + (row * 7 + s * 5 + 3) % (words - 1));
      types.push_back(row >= n / 2);
      if (masked) targets.push_back(row % 3 == 1 || n == 1 ? (row * 3 + s) % words : -1);
    }
    if (!masked) targets.push_back(s % labels);
  }
  batch.ids.push_back(ids);
  if (pairs) batch.ids.push_back(types);
  batch.ids.push_back(targets);
  return batch;
}

Numbers logits_of(TrainerCore& trainer, const HostBatch& batch) {
  const Prediction prediction = trainer.predict(batch);
  return {prediction.values.begin(), prediction.values.end()};
}

/// A line of ids, and their types, for each sequence.
std::string lines_of(const HostBatch& batch, bool pairs) {
  std::string text;
  for (int s = 0; s < batch.sequences(); ++s)
    for (std::size_t input = 0; input < 1u + pairs; ++input) {
      for (int row = batch.starts[std::size_t(s)]; row < batch.starts[std::size_t(s) + 1]; ++row)
        text += std::to_string(batch.ids[input][std::size_t(row)]) + " ";
      text += input == std::size_t(pairs) ? "\n" : "|";
    }
  return text;
}

template <class Model>
void compare(const std::string& name, const std::string& architecture) {
  const bool masked = name.ends_with("masked"), pairs = name.ends_with("pairs");
  const Reference want = read_references("bert.txt")[name];
  REQUIRE(want.losses.size() == steps);
  const HostBatch batch = batch_of(masked, pairs);
  Trainer<Small<Model>> trainer({.seed = 1, .threads = 2});
  set_reference_weights(trainer);
  CHECK(relative_difference(logits_of(trainer, batch), want.logits) < 1e-5);
  if (const Numbers library = logits_of_library(trainer, architecture, lines_of(batch, pairs));
      !library.empty())
    CHECK(relative_difference(library, want.logits) < 1e-5);
  for (double loss : want.losses) {
    CAPTURE(loss);
    CHECK(relative_difference(trainer.evaluate(batch).mean(), loss) < 1e-4);
    CHECK(relative_difference(applied(trainer, batch).loss.mean(), loss) < 1e-4);
  }
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
using Exact = Made<Model, UpTo<positions, words>, Batch<{.global = 6, .micro = 2}>,
                   AdamW<{.lr = 1e-2, .weight_decay = .1}>, ClipNorm<{.max = 1}>, Fp64>;

template <int Layers>
void compare_with_all_rows() {
  constexpr BertOptions options = [] {
    BertOptions o = bert_of_pairs;
    o.layers = Layers;
    return o;
  }();
  Trainer<Exact<Bert<options>>> first({.seed = 1, .threads = 2});
  Trainer<Exact<AllRows<options>>> whole({.seed = 1, .threads = 2});
  set_reference_weights(first);
  set_reference_weights(whole);
  const HostBatch batch = batch_of(false, true);
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
  add("cls.predictions.decoder.weight", {words, bert.width}, content[table]);
  add("cls.predictions.decoder.bias", {words}, content["cls.predictions.bias"]);
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

template <class Hidden, class Classes>
void train_head_of(const std::string& weight) {
  TemporaryFolder folder;
  Trainer<Small<Hidden>> hidden({.seed = 1, .threads = 1});
  hidden.export_to(folder / "hidden");
  Trainer<Small<Classes>> classes({.seed = 2, .threads = 1});
  const auto fresh = parameters_of(classes);
  CHECK_THROWS_WITH_AS(classes.load_weights(folder / "hidden"), doctest::Contains(weight.c_str()),
                       FileError);
  CHECK(parameters_of(classes) == fresh);
  const std::string told = classes.load_weights(folder / "hidden", "", MissingHead::starts_fresh);
  CAPTURE(told);
  CHECK(told.find("the weights have no such head: ") == 0);
  CHECK(told.find(weight) < told.find("\nof another head, and left out: "));
  const auto body = parameters_of(hidden), now = parameters_of(classes);
  int shared = 0;
  for (const auto& [name, values] : now) {
    CAPTURE(name);
    CHECK(values == (body.contains(name) ? body.at(name) : fresh.at(name)));
    shared += body.contains(name);
  }
  CHECK(shared > 30);
  CHECK(told.find("layer.0.") == std::string::npos);
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
