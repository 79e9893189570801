// SPDX-License-Identifier: Apache-2.0
// Roberta against Hugging Face's: tests/data/bert.txt, which scripts/bert_reference.py has written,
// and the library itself where SINTER_PYTHON names one.
#include "sinter/model/roberta.hpp"

#include <map>

#include "sinter/files/safetensors.hpp"
#include "support/small_models.hpp"

namespace sinter::detail::testing::roberta_tests {

constexpr RobertaOptions roberta = small_encoder<RobertaOptions>();
constexpr RobertaOptions roberta_of_classes =
    changed(roberta, [](auto& o) { o.labels = small_labels; });

template <class Model>
void compare(const std::string& name, const std::string& architecture) {
  const HostBatch batch = small_batch(name.ends_with("masked"), false, roberta.pad + 1);
  Trainer<Small<Model>> trainer({.seed = 1, .threads = 2});
  compare_with_reference(trainer, read_references("bert.txt")[name], architecture, batch,
                         lines_of(batch), logits_of);
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
  whole.add("lm_head.decoder.weight", {small_words, roberta.width}, trainer.parameter(table));
  whole.add("lm_head.decoder.bias", {small_words}, trainer.parameter("lm_head.bias"));
  whole.add("pooler.dense.weight", {2, 2}, {1, 2, 3, 4});
  whole.add("pooler.dense.bias", {2}, {1, 2});
  third.load_weights(whole.to(folder / "whole.safetensors"));
  CHECK(parameters_of(third) == parameters_of(trainer));
}

TEST_CASE("a classifier starts from a body that has learned hidden tokens, with a fresh head") {
  const std::string told =
      train_head_of<Roberta<roberta>, Roberta<roberta_of_classes>>("classifier.out_proj.weight");
  CHECK(told.find("lm_head.layer_norm.weight") != told.npos);
}

}  // namespace sinter::detail::testing::roberta_tests
