// SPDX-License-Identifier: Apache-2.0
// Roberta against Hugging Face's: tests/data/bert.txt, which scripts/bert_reference.py has written,
// and the library itself where SINTER_PYTHON names one.
#include "sinter/model/roberta.hpp"

#include <map>

#include "sinter/clipping/clip_norm.hpp"
#include "sinter/error.hpp"
#include "sinter/files/safetensors.hpp"
#include "support/batches.hpp"
#include "support/folder.hpp"
#include "support/recipes.hpp"
#include "support/references.hpp"

namespace sinter::detail::testing::roberta_tests {

constexpr int words = 19, positions = 8, labels = 3, steps = 20;
const std::vector<int> lengths{7, 3, 8, 1, 5};

constexpr RobertaOptions roberta{.layers = 2,
                                 .heads = 2,
                                 .width = 16,
                                 .hidden = 24,
                                 .vocabulary = words,
                                 .positions = positions,
                                 .dropout = 0};
constexpr RobertaOptions roberta_of_classes = [] {
  RobertaOptions o = roberta;
  o.labels = labels;
  return o;
}();

template <class Model>
using Small = Made<Model, UpTo<positions, words>, Batch<{.global = 6, .micro = 2}>,
                   AdamW<{.lr = 1e-3, .beta1 = .9, .beta2 = .95, .eps = 1e-8, .weight_decay = .1}>,
                   ClipNorm<{.max = 1}>>;

/// The batch of the reference, with a target for each row or each sequence.
HostBatch batch_of(bool masked) {
  HostBatch batch = sequences_of(lengths);
  std::vector<std::int32_t> ids, targets;
  for (int s = 0; s < int(lengths.size()); ++s) {
    const int n = lengths[std::size_t(s)], first = roberta.pad + 1;
    for (int row = 0; row < n; ++row) {
      ids.push_back(first + (row * 7 + s * 5 + 3) % (words - first));
      if (masked) targets.push_back(row % 3 == 1 || n == 1 ? (row * 3 + s) % words : -1);
    }
    if (!masked) targets.push_back(s % labels);
  }
  batch.ids = {ids, targets};
  return batch;
}

/// A line of ids for each sequence.
std::string lines_of(const HostBatch& batch) {
  std::string text;
  for (int s = 0; s < batch.sequences(); ++s) {
    for (int row = batch.starts[std::size_t(s)]; row < batch.starts[std::size_t(s) + 1]; ++row)
      text += std::to_string(batch.ids[0][std::size_t(row)]) + " ";
    text += "\n";
  }
  return text;
}

template <class Model>
void compare(const std::string& name, const std::string& architecture) {
  const Reference want = read_references("bert.txt")[name];
  REQUIRE(want.losses.size() == steps);
  const HostBatch batch = batch_of(name.ends_with("masked"));
  Trainer<Small<Model>> trainer({.seed = 1, .threads = 2});
  set_reference_weights(trainer);
  const Prediction prediction = trainer.predict(batch);
  CHECK(relative_difference(Numbers(prediction.values.begin(), prediction.values.end()),
                            want.logits) < 1e-5);
  if (const Numbers library = logits_of_library(trainer, architecture, lines_of(batch));
      !library.empty())
    CHECK(relative_difference(library, want.logits) < 1e-5);
  for (double loss : want.losses) {
    CAPTURE(loss);
    CHECK(relative_difference(trainer.evaluate(batch).mean(), loss) < 1e-4);
    CHECK(relative_difference(applied(trainer, batch).loss.mean(), loss) < 1e-4);
  }
}

TEST_CASE("Roberta predicts hidden tokens and learns as RobertaForMaskedLM") {
  compare<Roberta<roberta>>("roberta_masked", "RobertaForMaskedLM");
}
TEST_CASE("Roberta classifies and learns as RobertaForSequenceClassification") {
  compare<Roberta<roberta_of_classes>>("roberta_classes", "RobertaForSequenceClassification");
}

/// A file as transformers may write it: the tensors of a trainer, and more.
class Written {
  std::map<std::string, std::vector<float>> content;
  std::vector<TensorView> tensors;

 public:
  void add(const std::string& name, std::vector<std::int64_t> shape, const Numbers& x) {
    auto& kept = content[name] = {x.begin(), x.end()};
    tensors.push_back({name, Dtype::f32, std::move(shape), kept.data(), kept.size() * 4});
  }
  std::string to(const std::string& path) const {
    write_safetensors(path, tensors);
    return path;
  }
};

TEST_CASE(
    "Roberta reads what it has exported, a head that is written out, and names without prefix") {
  TemporaryFolder folder;
  Trainer<Small<Roberta<roberta>>> trainer({.seed = 1, .threads = 1}),
      other({.seed = 2, .threads = 1}), third({.seed = 3, .threads = 1});
  set_reference_weights(trainer);
  trainer.export_to(folder / "exported");
  other.load_weights(folder / "exported");
  CHECK(parameters_of(other) == parameters_of(trainer));

  const std::string prefix = "roberta.", table = "roberta.embeddings.word_embeddings.weight";
  const SafetensorsFile file(folder / "exported/model.safetensors");
  Written whole;
  int without_prefix = 0;
  for (const TensorInfo& tensor : file.tensors()) {
    const bool body = tensor.name.starts_with(prefix);
    without_prefix += body;
    whole.add(body ? tensor.name.substr(prefix.size()) : tensor.name, tensor.shape,
              trainer.parameter(tensor.name));
  }
  CHECK(without_prefix > 30);
  whole.add("lm_head.decoder.weight", {words, roberta.width}, trainer.parameter(table));
  whole.add("lm_head.decoder.bias", {words}, trainer.parameter("lm_head.bias"));
  whole.add("pooler.dense.weight", {2, 2}, {1, 2, 3, 4});
  whole.add("pooler.dense.bias", {2}, {1, 2});
  third.load_weights(whole.to(folder / "whole.safetensors"));
  CHECK(parameters_of(third) == parameters_of(trainer));
}

TEST_CASE("a classifier starts from a body that has learned hidden tokens, with a fresh head") {
  TemporaryFolder folder;
  Trainer<Small<Roberta<roberta>>> hidden({.seed = 1, .threads = 1});
  hidden.export_to(folder / "hidden");
  Trainer<Small<Roberta<roberta_of_classes>>> classes({.seed = 2, .threads = 1});
  const auto fresh = parameters_of(classes);
  CHECK_THROWS_WITH_AS(classes.load_weights(folder / "hidden"),
                       doctest::Contains("classifier.out_proj.weight"), FileError);
  const std::string told = classes.load_weights(folder / "hidden", "", MissingHead::starts_fresh);
  CAPTURE(told);
  CHECK(told.find("the weights have no such head: ") == 0);
  CHECK(told.find("lm_head.layer_norm.weight") != told.npos);
  const auto body = parameters_of(hidden);
  for (const auto& [name, values] : parameters_of(classes)) {
    CAPTURE(name);
    CHECK(name.starts_with("classifier.") == !body.contains(name));
    CHECK(values == (body.contains(name) ? body.at(name) : fresh.at(name)));
  }
}

}  // namespace sinter::detail::testing::roberta_tests
