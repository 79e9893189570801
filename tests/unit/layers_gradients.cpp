// Every gradient of every layer against central finite differences, in double precision: variable
// lengths, rows below the budget, three micro-batches.
#include "support/batches.hpp"
#include "support/finite_differences.hpp"
#include "support/layer_models.hpp"

namespace sinter::testing {
namespace {

template <class Model>
void check_around() {
  check_gradients<Checked<Model>>(regression_batch(lengths, given_width, target_width, 1));
}

TEST_CASE("Linear, stored as in GPT-2") { check_around<LinearModel>(); }
TEST_CASE("Linear, stored as in torch.nn") { check_around<TorchLinearModel>(); }
TEST_CASE("LayerNorm") { check_around<LayerNormModel>(); }
TEST_CASE("AddLayerNorm") { check_around<AddLayerNormModel>(); }
TEST_CASE("AddPosition") { check_around<AddPositionModel>(); }
TEST_CASE("CausalSelfAttention") { check_around<AttentionModel>(); }
TEST_CASE("CausalSelfAttention with dropout") { check_around<AttentionDropoutModel>(); }
TEST_CASE("GeluTanh") { check_around<GeluTanhModel>(); }
TEST_CASE("GeluErf") { check_around<GeluErfModel>(); }
TEST_CASE("Relu") { check_around<ReluModel>(); }
TEST_CASE("Add") { check_around<AddModel>(); }
TEST_CASE("Dropout") { check_around<DropoutModel>(); }
TEST_CASE("Unembedding") { check_around<UnembeddingModel>(); }
TEST_CASE("LastRow") {
  check_gradients<Checked<LastRowModel>>(regression_batch(lengths, given_width, 1, 1));
}
TEST_CASE("Embedding") {
  HostBatch batch = sequences_of(lengths);
  add_ids(batch, vocabulary, 1);
  add_values(batch, target_width, 2);
  check_gradients<Checked<EmbeddingModel, vocabulary>>(batch);
}
TEST_CASE("LinearCrossEntropy, with targets to ignore") {
  HostBatch batch = sequences_of(lengths);
  add_values(batch, given_width, 1);
  add_ids(batch, vocabulary, 2, .3);
  check_gradients<Checked<CrossEntropyModel, vocabulary>>(batch);
}

}  // namespace
}  // namespace sinter::testing
