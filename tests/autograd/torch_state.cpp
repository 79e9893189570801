// SPDX-License-Identifier: Apache-2.0
// What layers that LibTorch computes have beside parameters: buffers, sequences, and random numbers.
#include "support/torch_layers.hpp"
// (first: it mends macros)
#include "sinter/trainer/check_gradients.hpp"

namespace sinter::detail::testing {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

// ---- buffers

struct Normalised {
  static constexpr std::array in{wide};
  static constexpr std::array out{wide};
  static constexpr std::array params{Param::vector("weight", wide, Init::ones),
                                     Param::vector("bias", wide, Init::zeros),
                                     Param::running("running_mean", {wide}, Init::zeros),
                                     Param::running("running_var", {wide}, Init::ones),
                                     Param::running("num_batches_tracked", Init::zeros)};
  static Object make(const AutogradSpec& spec) {
    return autograd::of_module<nn::BatchNorm1dImpl>(spec, nn::BatchNorm1dOptions(wide));
  }
};

TEST_CASE("a batch norm's buffers are those of LibTorch alone, micro-batch by micro-batch") {
  const HostBatch batch = batch_of(0);
  Trainer<Of<Normalised>> trainer(settings);
  nn::BatchNorm1d alone{nn::BatchNorm1dOptions(wide)};
  alone->to(torch::kFloat64);
  {
    torch::NoGradGuard guard;
    NamedTensors w = leaves_of(trainer);
    for (int s = 0; s < batch.sequences(); s += micro) {
      const HostBatch some = part(batch, s, std::min(s + micro, batch.sequences()));
      alone(values_of(some).matmul(w["a.weight"]) + w["a.bias"]);
    }
  }
  applied(trainer, batch);
  CHECK(relative_difference(trainer.parameter("layer.running_mean"),
                            numbers_of(alone->running_mean)) < 1e-12);
  CHECK(relative_difference(trainer.parameter("layer.running_var"),
                            numbers_of(alone->running_var)) < 1e-12);
  CHECK(trainer.parameter("layer.num_batches_tracked")[0] == 3);
}
TEST_CASE("a batch norm is recomputed with the same bits, buffers included") {
  CHECK(same_bits(train<Of<Normalised, Full>>(3, settings, false),
                  train<Of<Normalised>>(3, settings, false)));
}

// ---- sequences

struct Recurrent {
  static constexpr std::array in{wide};
  static constexpr std::array out{wide};
  static constexpr std::array params{
      Param::matrix("weight_ih_l0", 3 * wide, wide, Init::normal(.3f)),
      Param::matrix("weight_hh_l0", 3 * wide, wide, Init::normal(.3f)),
      Param::vector("bias_ih_l0", 3 * wide, Init::zeros),
      Param::vector("bias_hh_l0", 3 * wide, Init::zeros)};
  static constexpr bool causal = true;
  static Object make(const AutogradSpec& spec);
};
/// A GRU over sequences of any length, which padding behind them does not reach.
struct RecurrentImpl : nn::GRUImpl {
  RecurrentImpl() : nn::GRUImpl(nn::GRUOptions(wide, wide).batch_first(true)) {}
  autograd::Results forward(const autograd::Inputs& in) {
    Tensor h = std::get<0>(nn::GRUImpl::forward(autograd::padded(in.x[0], in.starts[0])));
    return {autograd::packed(h, in.starts[0])};
  }
};
Object Recurrent::make(const AutogradSpec& spec) {
  return autograd::of_module<RecurrentImpl>(spec);
}

TEST_CASE("rows that are padded and packed are what they were, and padding is zero") {
  const HostBatch batch = batch_of(0);
  const Tensor x = values_of(batch).requires_grad_();
  const Tensor starts = torch::tensor(batch.starts, torch::kInt64);
  const Tensor padded = autograd::padded(x, starts);
  REQUIRE(padded.sizes() == at::IntArrayRef({5, 5, given_width}));
  CHECK(padded[2].slice(0, 1).abs().sum().item<double>() == 0);
  CHECK(torch::equal(autograd::packed(padded, starts), x));
  autograd::packed(padded, starts).sum().backward();
  CHECK(torch::equal(x.grad(), torch::ones_like(x)));
}
TEST_CASE("a recurrent layer over sequences of several lengths has right gradients") {
  const GradientReport report = check_gradients<Of<Recurrent>>(batch_of(0));
  INFO(report.text());
  CHECK(report.passed());
}
TEST_CASE("each sequence is alone in a recurrent layer") {
  Trainer<Of<Recurrent>> trainer(settings);
  randomise(trainer, 7);
  const HostBatch batch = batch_of(0);
  trainer.predict(part(batch, 0, 2));
  const Numbers together = prediction_in_double(trainer);
  trainer.predict(part(batch, 1, 2));
  const Numbers alone = prediction_in_double(trainer);
  CHECK(relative_difference(alone, Numbers(together.end() - 3 * wide, together.end())) < 1e-12);
}

// ---- dropout

struct Dropped {
  static constexpr std::array in{wide};
  static constexpr std::array out{wide};
  static autograd::Results forward(const autograd::Inputs& in) {
    return {torch::dropout(in.x[0], .5, in.training)};
  }
  static Object make(const AutogradSpec& spec) { return autograd::of_function(spec, forward); }
};

TEST_CASE("recomputation and a second run repeat the draws of dropout") {
  const Trajectory first = train<Of<Dropped>>(3);
  torch::rand({5});  // whatever else is drawn
  CHECK(same_bits(train<Of<Dropped>>(3), first));
  CHECK(same_bits(train<Of<Dropped, Full>>(3), first));
  const Trajectory other = train<Of<Dropped>>(3, {.seed = 6, .threads = 1});
  CHECK(other.losses != first.losses);
}
TEST_CASE("ranks repeat what they draw") {
  using Two = Of<Dropped, Ddp<{.ranks = 2}>>;
  const TrainerSettings two{.seed = 5, .threads = 2};
  CHECK(same_bits(train<Two>(3, two), train<Two>(3, two)));
}
TEST_CASE("a step leaves LibTorch's generator as it was") {
  torch::manual_seed(1);
  const double want = torch::rand({1}).item<double>();
  torch::manual_seed(1);
  train<Of<Dropped>>(1);
  CHECK(torch::rand({1}).item<double>() == want);
}

}  // namespace
}  // namespace sinter::detail::testing
