// SPDX-License-Identifier: Apache-2.0
// Layers that LibTorch computes inside a step, beside the same of Sinter's layers and beside LibTorch
// alone, in double precision.
#include "support/torch_layers.hpp"
// (first: it mends macros)
#include "sinter/parameters/freeze.hpp"
#include "sinter/precision/bf16.hpp"
#include "sinter/trainer/check_gradients.hpp"
#include "support/message_of.hpp"

namespace sinter::detail::testing {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

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
  static constexpr std::array params{Param::matrix("up.weight", inner, wide, Init::normal(.02f)),
                                     Param::vector("up.bias", inner, Init::zeros),
                                     Param::matrix("down.weight", wide, inner, Init::normal(.02f)),
                                     Param::vector("down.bias", wide, Init::zeros)};
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
TEST_CASE("a torch module trains as the same layers of Sinter") {
  compare_with_own_layers(train<Of<FeedModule>>(20));
}
TEST_CASE("recomputation of a torch layer gives the same bits") {
  const Trajectory kept = train<Of<FeedModule>>(3);
  CHECK(same_bits(train<Of<FeedModule, Full>>(3), kept));
  CHECK(same_bits(train<Of<FeedModule, Checkpoint<{.policy = selective}>>>(3), kept));
}
TEST_CASE("two ranks with a torch layer train as one") {
  const Trajectory one = train<Of<FeedModule>>(5);
  const Trajectory two = train<Of<FeedModule, Ddp<{.ranks = 2}>>>(5, {.seed = 5, .threads = 2});
  CHECK(relative_difference(two.losses, one.losses) < 1e-9);
}
TEST_CASE("gradients of torch layers are right, also those that are added") {
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

/// The same, which leaves its last parameter alone.
struct Unbiased : FeedShape {
  static autograd::Results forward(const autograd::Inputs& in) {
    const auto& p = in.parameters;
    return {torch::linear(torch::gelu(torch::linear(in.x[0], p[0], p[1])), p[2])};
  }
  static Object make(const AutogradSpec& spec) { return autograd::of_function(spec, forward); }
};
TEST_CASE("the gradient of a parameter that is not used is zero") {
  Trainer<Of<Unbiased>> trainer(settings);
  randomise(trainer, 7);
  applied(trainer, batch_of(0));  // where gradients go was NaN
  CHECK(trainer.gradient("layer.down.bias") == Numbers(wide, 0));
}

template <class Unit>
using InBf16 = Made<Around<Unit>, UpTo<context>, Bf16, Batch<{.global = 8, .micro = micro}>>;
TEST_CASE("with bf16 a torch layer learns what Sinter's layers learn, but for rounding") {
  const Trajectory own = train<InBf16<Feed>>(5);
  const Trajectory torch = train<InBf16<Alone<Autograd<FeedFunction>>>>(5);
  CHECK(relative_difference(torch.losses, own.losses) < .02);
  CHECK(torch.losses.back() < torch.losses.front());
}

// ---- mistakes

struct Misnamed : FeedShape {
  static constexpr std::array params{Param::matrix("up.weight", wide, inner, Init::zeros),
                                     Param::vector("up.offset", inner, Init::zeros)};
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

TEST_CASE("a module with other parameters is refused by names when a trainer is made") {
  const std::string text =
      refusal_of<ArgumentError>([] { Trainer<Of<Misnamed>> trainer(settings); });
  CHECK(contains(text, "'up.weight' is [20, 10] in the module, and [10, 20] in F::params"));
  CHECK(contains(text, "'up.offset' is not in the module"));
  CHECK(contains(text, "'down.weight' [10, 20] is in the module alone"));
}
TEST_CASE("a result of another size, and what LibTorch refuses, name the layer") {
  const std::string size = refusal_of<Error>([] { train<Of<Misshapen>>(1); });
  CHECK(contains(size, "result 0 of "));
  CHECK(contains(size, "Misshapen"));
  const std::string refused = refusal_of<Error>(
      [] { train<Of<Failing, Ddp<{.ranks = 2}>>>(1, {.seed = 5, .threads = 2}); });
  CHECK(contains(refused, "LibTorch cannot compute"));
  CHECK(contains(refused, "Failing"));
}

}  // namespace
}  // namespace sinter::detail::testing
