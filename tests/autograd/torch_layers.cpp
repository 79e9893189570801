// SPDX-License-Identifier: Apache-2.0
// Layers that LibTorch computes inside a step, beside the same of Sinter's layers and beside LibTorch
// alone, in double precision.
#include "support/torch.hpp"
// (first: it mends macros)
#include "sinter/autograd/torch.hpp"
#include "sinter/clipping/clip_norm.hpp"
#include "sinter/memory/checkpoint.hpp"
#include "sinter/optimizer/adamw.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/parameters/freeze.hpp"
#include "sinter/trainer/check_gradients.hpp"
#include "support/batches.hpp"
#include "support/layer_models.hpp"

namespace sinter::testing {
namespace {

using torch::Tensor;
namespace nn = torch::nn;
using Object = std::unique_ptr<LayerObject>;

// ---- two linear layers, by Sinter's layers, by a function and by a module

constexpr int inner = 20;

struct Feed {
  static constexpr std::array in{wide};
  static constexpr Value<wide> trace(auto& g, Value<wide> x) {
    auto h = g("act", GeluErf<inner>{}, g("up", Linear<wide, inner, as_torch>{}, x));
    return g("down", Linear<inner, wide, as_torch>{}, h);
  }
};

struct FeedShape {
  static constexpr std::array in{wide};
  static constexpr std::array out{wide};
  static constexpr std::array params{
      matrix("up.weight", inner, wide, normal(.02f)), vector("up.bias", inner, zeros),
      matrix("down.weight", wide, inner, normal(.02f)), vector("down.bias", wide, zeros)};
};
struct FeedFunction : FeedShape {
  static autograd::Results forward(const autograd::Inputs& in) {
    const auto& p = in.parameters;
    return {torch::linear(torch::gelu(torch::linear(in.x[0], p[0], p[1])), p[2], p[3])};
  }
  static Object make(const AutogradSpec& spec) { return autograd::of_function(spec, forward); }
};
struct FeedImpl : nn::Module {
  nn::Linear down{inner, wide}, up{wide, inner};
  FeedImpl() {
    register_module("down", down);
    register_module("up", up);
  }
  Tensor forward(const Tensor& x) { return down(torch::gelu(up(x))); }
};
struct FeedModule : FeedShape {
  static Object make(const AutogradSpec& spec) { return autograd::of_module<FeedImpl>(spec); }
};

template <class Unit, class... Policies>
using Net = Made<Around<Unit>, UpTo<context>, Fp64, AdamW<{.lr = 1e-2, .weight_decay = .1}>,
                 ClipNorm<{.max = .5}>, Batch<{.global = 8, .micro = micro}>, Policies...>;
template <class F, class... Policies>
using Of = Net<Alone<Autograd<F>>, Policies...>;
using Full = Checkpoint<{.policy = full}>;

constexpr TrainerSettings settings{.seed = 5, .threads = 1};
HostBatch batch_of(int step) {
  return regression_batch(lengths, given_width, target_width, std::uint64_t(10 * step + 1));
}

struct Trajectory {
  Numbers losses, norms;
  NamedNumbers parameters;
};
template <class R>
Trajectory train(int steps, TrainerSettings with = settings, bool random_weights = true) {
  Trainer<R> trainer(with);
  if (random_weights) randomise(trainer, 7);
  Trajectory t;
  for (int s = 0; s < steps; ++s) {
    const Applied step = applied(trainer, batch_of(s));
    t.losses.push_back(step.loss.mean());
    t.norms.push_back(step.gradient_norm);
  }
  t.parameters = parameters_of(trainer);
  return t;
}
bool same_bits(const Trajectory& a, const Trajectory& b) {
  return a.losses == b.losses && a.norms == b.norms && a.parameters == b.parameters;
}

void compare_with_own_layers(const Trajectory& torch) {
  constexpr double bound = 1e-9;
  static const Trajectory own = train<Net<Feed>>(20);
  CHECK(relative_difference(torch.losses, own.losses) < bound);
  CHECK(relative_difference(torch.norms, own.norms) < bound);
  REQUIRE(torch.parameters.size() == own.parameters.size());
  for (const auto& [name, values] : own.parameters) {
    CAPTURE(name);
    REQUIRE(torch.parameters.contains(name));
    CHECK(relative_difference(torch.parameters.at(name), values) < bound);
  }
}

TEST_CASE("a function of tensors trains as the same layers of Sinter") {
  compare_with_own_layers(train<Of<FeedFunction>>(20));
}
TEST_CASE("so does a module") { compare_with_own_layers(train<Of<FeedModule>>(20)); }
TEST_CASE("recomputation gives the same bits") {
  const Trajectory kept = train<Of<FeedModule>>(3);
  CHECK(same_bits(train<Of<FeedModule, Full>>(3), kept));
  CHECK(same_bits(train<Of<FeedModule, Checkpoint<{.policy = selective}>>>(3), kept));
}
TEST_CASE("two ranks train as one") {
  const Trajectory one = train<Of<FeedModule>>(5);
  const Trajectory two = train<Of<FeedModule, Ddp<{.ranks = 2}>>>(5, {.seed = 5, .threads = 2});
  CHECK(relative_difference(two.losses, one.losses) < 1e-9);
}
TEST_CASE("gradients are right, also those that are added") {
  for (const GradientReport& report :
       {check_gradients<Of<FeedFunction>>(batch_of(0)),
        check_gradients<Net<Doubled<Autograd<FeedFunction>>>>(batch_of(0))}) {
    INFO(report.text());
    CHECK(report.passed());
  }
}
TEST_CASE("a frozen layer stays as it is, and what lies before it learns") {
  Trainer<Of<FeedModule, Freeze<"layer">>> trainer(settings);
  randomise(trainer, 7);
  const NamedNumbers before = parameters_of(trainer);
  applied(trainer, batch_of(0));
  CHECK(trainer.parameter("layer.up.weight") == before.at("layer.up.weight"));
  CHECK(trainer.parameter("a.weight") != before.at("a.weight"));
}

// ---- buffers

struct Normalised {
  static constexpr std::array in{wide};
  static constexpr std::array out{wide};
  static constexpr std::array params{vector("weight", wide, ones), vector("bias", wide, zeros),
                                     running("running_mean", {wide}, zeros),
                                     running("running_var", {wide}, ones),
                                     running("num_batches_tracked", zeros)};
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
  static constexpr std::array params{matrix("weight_ih_l0", 3 * wide, wide, normal(.3f)),
                                     matrix("weight_hh_l0", 3 * wide, wide, normal(.3f)),
                                     vector("bias_ih_l0", 3 * wide, zeros),
                                     vector("bias_hh_l0", 3 * wide, zeros)};
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

TEST_CASE("what dropout draws is repeated by recomputation and by a second run") {
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

// ---- mistakes

struct Misnamed : FeedShape {
  static constexpr std::array params{matrix("up.weight", wide, inner, zeros),
                                     vector("up.offset", inner, zeros)};
  static Object make(const AutogradSpec& spec) { return autograd::of_module<FeedImpl>(spec); }
};
struct Misshapen : FeedShape {
  static constexpr std::array<Param, 0> params{};
  static autograd::Results forward(const autograd::Inputs& in) { return {in.x[0].sum()}; }
  static Object make(const AutogradSpec& spec) { return autograd::of_function(spec, forward); }
};
struct Failing : Misshapen {
  static autograd::Results forward(const autograd::Inputs& in) {
    return {torch::matmul(in.x[0], in.x[0])};
  }
  static Object make(const AutogradSpec& spec) { return autograd::of_function(spec, forward); }
};

bool says(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}
/// What the call throws.
template <class E>
std::string message(auto call) {
  try {
    call();
  } catch (const E& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("a module with other parameters is refused by names when a trainer is made") {
  const std::string text = message<ArgumentError>([] { Trainer<Of<Misnamed>> trainer(settings); });
  CHECK(says(text, "'up.weight' is [20, 10] in the module, and [10, 20] in F::params"));
  CHECK(says(text, "'up.offset' is not in the module"));
  CHECK(says(text, "'down.weight' [10, 20] is in the module alone"));
}
TEST_CASE("a result of another size, and what LibTorch refuses, name the layer") {
  const std::string size = message<Error>([] { train<Of<Misshapen>>(1); });
  CHECK(says(size, "result 0 of "));
  CHECK(says(size, "Misshapen"));
  const std::string refused =
      message<Error>([] { train<Of<Failing, Ddp<{.ranks = 2}>>>(1, {.seed = 5, .threads = 2}); });
  CHECK(says(refused, "LibTorch cannot compute"));
  CHECK(says(refused, "Failing"));
}

}  // namespace
}  // namespace sinter::testing
