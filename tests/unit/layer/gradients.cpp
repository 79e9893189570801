// SPDX-License-Identifier: Apache-2.0
// Every gradient of every layer against central finite differences, in double precision: variable
// lengths, rows below the budget, three micro-batches.
#include "support/batches.hpp"
#include "support/finite_differences.hpp"
#include "support/layer_models.hpp"

namespace sinter::detail::testing::gradients_tests {

template <class Unit>
void check_unit() {
  using R = Checked<Around<Unit>>;
  expect_right_gradients<R>(regression_batch(lengths, given_width, target_width, 1));
}
template <class L>
void check_layer() {
  check_unit<Doubled<L>>();
}

TEST_CASE("finite differences agree with Linear, stored as in GPT-2") {
  check_layer<InOutLinear>();
}
TEST_CASE("finite differences agree with Linear, stored as in torch.nn") {
  check_layer<OutInLinear>();
}
TEST_CASE("finite differences agree with Linear, without a bias") { check_layer<UnbiasedLinear>(); }
TEST_CASE("finite differences agree with LayerNorm") { check_layer<Norm>(); }
TEST_CASE("finite differences agree with AddLayerNorm") { check_unit<AddThenNormDoubled<wide>>(); }
TEST_CASE("finite differences agree with PostLayerNorm") { check_layer<PostNorm>(); }
TEST_CASE("finite differences agree with RmsNorm") { check_layer<RmsNorm<wide>>(); }
TEST_CASE("finite differences agree with AddRmsNorm") {
  check_unit<AddThenNormDoubled<wide, AddRmsNorm<wide>>>();
}
TEST_CASE("finite differences agree with AddPosition") { check_layer<Places>(); }
TEST_CASE("finite differences agree with AddPosition, with rows before the first") {
  check_layer<OffsetPlaces>();
}
TEST_CASE("finite differences agree with AddSinusoids") { check_layer<AddSinusoids<wide>>(); }
TEST_CASE("finite differences agree with Scale") { check_layer<Scaled>(); }
TEST_CASE("finite differences agree with CausalSelfAttention") { check_layer<CausalAttention>(); }
TEST_CASE("finite differences agree with CausalSelfAttention with dropout") {
  check_layer<CausalAttentionDropout>();
}
TEST_CASE("finite differences agree with CausalSelfAttention, keys shared") {
  check_layer<SharedAttention>();
}
TEST_CASE("finite differences agree with CausalSelfAttention, keys shared, with dropout") {
  check_layer<SharedAttentionDropout>();
}
TEST_CASE("finite differences agree with CausalSelfAttention in a window") {
  check_layer<WindowAttention>();
}
TEST_CASE(
    "finite differences agree with CausalSelfAttention in a window, keys shared, with dropout") {
  check_layer<WindowAttentionDropout>();
}
TEST_CASE("finite differences agree with Rotary") { check_layer<Turned>(); }
TEST_CASE("finite differences agree with Rotary scaled by yarn") { check_layer<TurnedByYarn>(); }
TEST_CASE("finite differences agree with SelfAttention") { check_layer<FullAttention>(); }
TEST_CASE("finite differences agree with SelfAttention with dropout") {
  check_layer<FullAttentionDropout>();
}
TEST_CASE("finite differences agree with CrossAttention, of rows to their own axis") {
  check_layer<AttentionAcross>();
}
TEST_CASE("finite differences agree with CrossAttention, of rows to their own axis, with dropout") {
  check_layer<AttentionAcrossDropout>();
}
TEST_CASE("finite differences agree with GeluTanh") { check_layer<GeluTanh<wide>>(); }
TEST_CASE("finite differences agree with GeluErf") { check_layer<GeluErf<wide>>(); }
TEST_CASE("finite differences agree with Relu") { check_layer<Relu<wide>>(); }
TEST_CASE("finite differences agree with Silu") { check_layer<Silu<wide>>(); }
TEST_CASE("finite differences agree with Tanh") { check_layer<Tanh<wide>>(); }
TEST_CASE("finite differences agree with SwiGlu") { check_layer<SwiGlu<wide>>(); }
TEST_CASE("finite differences agree with GatedSilu") { check_layer<GatedSilu<wide>>(); }
TEST_CASE("finite differences agree with Add") { check_layer<Add<wide>>(); }
TEST_CASE("finite differences agree with Concat") { check_layer<Concat<wide, 3>>(); }
TEST_CASE("finite differences agree with AddFirstEmbedding") {
  check_layer<AddFirstEmbedding<3, wide>>();
}
TEST_CASE("finite differences agree with Dropout") { check_layer<Drop>(); }
TEST_CASE("finite differences agree with Unembedding") { check_layer<Logits>(); }
TEST_CASE("finite differences agree with UnembeddingBias") { check_layer<BiasedLogits>(); }
TEST_CASE("finite differences agree with FirstRow") {
  using R = Checked<PooledModel<Doubled<FirstRow<wide>>>>;
  expect_right_gradients<R>(regression_batch(lengths, given_width, 1, 1));
}
TEST_CASE("finite differences agree with LastRow") {
  using R = Checked<PooledModel<Doubled<LastRow<wide>>>>;
  expect_right_gradients<R>(regression_batch(lengths, given_width, 1, 1));
}
TEST_CASE("finite differences agree with Embedding") {
  HostBatch batch = sequences_of(lengths);
  add_ids(batch, vocabulary, 1);
  add_values(batch, target_width, 2);
  expect_right_gradients<Checked<EmbeddingModel, vocabulary>>(batch);
}
TEST_CASE("finite differences agree with AddEmbedding") {
  HostBatch batch = regression_batch(lengths, given_width, target_width, 1);
  add_ids(batch, vocabulary, 2);
  expect_right_gradients<Checked<AddEmbeddingModel, vocabulary>>(batch);
}
TEST_CASE("finite differences agree with LinearBiasCrossEntropy, with targets to ignore") {
  HostBatch batch = sequences_of(lengths);
  add_values(batch, given_width, 1);
  add_ids(batch, vocabulary, 2, .3);
  expect_right_gradients<Checked<CrossEntropyModel<2, BiasedTableLoss>, vocabulary>>(batch);
}
TEST_CASE(
    "finite differences agree with a head with the weight of an embedding and a bias of its own") {
  expect_right_gradients<Checked<TiedBiasModel, vocabulary>>(
      token_batch(lengths, vocabulary, 1, .3));
}
TEST_CASE("finite differences agree with LinearCrossEntropy, with targets to ignore") {
  HostBatch batch = sequences_of(lengths);
  add_values(batch, given_width, 1);
  add_ids(batch, vocabulary, 2, .3);
  expect_right_gradients<Checked<CrossEntropyModel<2>, vocabulary>>(batch);
}
TEST_CASE("finite differences agree with CrossEntropy, with classes to ignore") {
  HostBatch batch = sequences_of(lengths);
  add_values(batch, given_width, 1);
  add_ids(batch, wide, 2, .3);
  expect_right_gradients<Checked<CrossEntropyModel<2, ClassLoss>, wide>>(batch);
}
TEST_CASE("finite differences agree with cross-entropies that smooth labels and weigh classes") {
  HostBatch batch = sequences_of(lengths), of_wide = batch;
  add_values(batch, given_width, 1);
  add_values(of_wide, given_width, 1);
  add_ids(batch, vocabulary, 2, .3);
  add_ids(of_wide, wide, 2, .3);
  expect_right_gradients<Reshaped<CrossEntropyModel<1>, vocabulary>>(batch);
  expect_right_gradients<Reshaped<CrossEntropyModel<1, BiasedTableLoss>, vocabulary>>(batch);
  expect_right_gradients<Reshaped<CrossEntropyModel<1, ClassLoss>, wide>>(of_wide);
}
TEST_CASE("finite differences agree with MeanSquaredError") {
  using R = Checked<SquaredErrorModel>;
  expect_right_gradients<R>(regression_batch(lengths, given_width, target_width, 1));
}
TEST_CASE("finite differences agree with BinaryCrossEntropy") {
  expect_right_gradients<Checked<BinaryCrossEntropyModel>>(
      regression_batch(lengths, given_width, wide, 1));
}

}  // namespace sinter::detail::testing::gradients_tests
