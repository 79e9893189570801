// SPDX-License-Identifier: Apache-2.0
#include "sinter/layer/attention.hpp"
#include "sinter/layer/autograd.hpp"
#include "sinter/layer/cross_attention.hpp"
#include "sinter/recipe/plan.hpp"
#include "support/recipe_of_layer.hpp"
using namespace sinter;

/// The members of a whole layer, beside which a case has another one, or one of its own instead.
template <int W>
struct Whole {
  static constexpr std::array in{W};
  static constexpr std::array out{W};
  static void forward(auto&) {}
  static void backward(auto&) {}
};
/// The members of a layer that computes in an object, but for `unplanned`.
template <int W>
struct InObject {
  static constexpr std::array in{W};
  static constexpr std::array out{W};
  template <class P>
  static std::unique_ptr<LayerObject> object();
};

// Must not compile, autograd_code: Autograd: F does not say where its code is
struct Unwritten {
  static constexpr std::array in{8};
  static constexpr std::array out{8};
  static constexpr std::array params{Param::vector("bias", 8, Init::zeros)};
};
struct mine : Recipe<detail::testing::ModelOfLayer<Autograd<Unwritten>>> {};

// Must not compile, autograd_out: Sinter: a member of a layer is missing, or not what it must be
// and: Autograd<acme::Halved> and: {"out"} and: {"constexpr std::array of 1-3 int"}
namespace acme {
struct Halved {
  static constexpr std::array in{8};
  static std::unique_ptr<LayerObject> make(const AutogradSpec&);
};
}  // namespace acme
struct mine : detail::testing::RecipeOfLayer<Autograd<acme::Halved>> {};

// Must not compile, autograd_params: Sinter: a member of a layer is missing, or not what it must be
// and: Autograd<acme::Shifted> and: {"params"} and: {"constexpr Params<Param> or array"}
namespace acme {
struct Shifted {
  static constexpr std::array in{8};
  static constexpr std::array out{8};
  static constexpr Param params = Param::vector("bias", 8, Init::zeros);
  static std::unique_ptr<LayerObject> make(const AutogradSpec&);
};
}  // namespace acme
struct mine : detail::testing::RecipeOfLayer<Autograd<acme::Shifted>> {};

// Must not compile, backward: this layer has forward() but no backward()
struct Swish {
  static constexpr std::array in{8};
  static constexpr std::array out{8};
  static void forward(auto&) {}
};
struct mine : detail::testing::RecipeOfLayer<Swish> {};

// Must not compile, cross_attention: CrossAttention: the number of heads does not divide the width
constexpr auto in = CrossAttention<8, 3>::in;

// Must not compile, flops: Sinter: a member of a layer is missing, or not what it must be
// and: acme::Swish<8> and: {"flops"} and: {"int64_t flops(context[, other])"}
namespace acme {
template <int W>
struct Swish : Whole<W> {
  static constexpr std::int64_t flops() { return W; }
};
}  // namespace acme
struct mine : detail::testing::RecipeOfLayer<acme::Swish<8>> {};

// Must not compile, no_forward: Sinter: a member of a layer is missing, or not what it must be
// and: acme::Swish<8> and: {"forward"} and: {"static void forward(auto& c)"}
namespace acme {
template <int W>
struct Swish {
  static constexpr std::array in{W};
  static constexpr std::array out{W};
  static void foward(auto&) {}
  static void backward(auto&) {}
};
}  // namespace acme
struct mine : detail::testing::RecipeOfLayer<acme::Swish<8>> {};

// Must not compile, no_out: Sinter: a member of a layer is missing, or not what it must be
// and: acme::Swish<8> and: {"out"} and: {"constexpr std::array of 1-3 int"}
namespace acme {
template <int W>
struct Swish {
  static constexpr std::array in{W};
  static void forward(auto&) {}
  static void backward(auto&) {}
};
}  // namespace acme
struct mine : detail::testing::RecipeOfLayer<acme::Swish<8>> {};

// Must not compile, not_static: Sinter: a member of a layer is missing, or not what it must be
// and: acme::Swish<8> and: {"data"} and: {"none; all members are static"}
namespace acme {
template <int W>
struct Swish : Whole<W> {
  std::array<int, 1> in{W};
};
}  // namespace acme
struct mine : detail::testing::RecipeOfLayer<acme::Swish<8>> {};

// Must not compile, object_and_backward: Sinter: a member of a layer is missing, or not what it must be
// and: acme::Swish<8> and: {"backward"} and: {"none, as object<P>() computes"}
namespace acme {
template <int W>
struct Swish : InObject<W> {
  static constexpr bool unplanned = true;
  static void backward(auto&) {}
};
}  // namespace acme
struct mine : detail::testing::RecipeOfLayer<acme::Swish<8>> {};

// Must not compile, object_and_forward: Sinter: a member of a layer is missing, or not what it must be
// and: acme::Swish<8> and: {"forward"} and: {"none, as object<P>() computes"}
namespace acme {
template <int W>
struct Swish : InObject<W> {
  static constexpr bool unplanned = true;
  static void forward(auto&) {}
};
}  // namespace acme
struct mine : detail::testing::RecipeOfLayer<acme::Swish<8>> {};

// Must not compile, object_planned: Sinter: a member of a layer is missing, or not what it must be
// and: acme::Swish<8> and: {"unplanned"} and: {"true, as it has object<P>()"}
namespace acme {
template <int W>
struct Swish : InObject<W> {};
}  // namespace acme
struct mine : detail::testing::RecipeOfLayer<acme::Swish<8>> {};

// Must not compile (quick), params: Sinter: a member of a layer is missing, or not what it must be
// and: acme::Swish<8> and: {"params"} and: {"constexpr Params<Param> or array"}
namespace acme {
template <int W>
struct Swish : Whole<W> {
  static constexpr Param params = Param::vector("gain", W, Init::ones);
};
}  // namespace acme
struct mine : detail::testing::RecipeOfLayer<acme::Swish<8>> {};

// Must not compile, passes_gradient: Sinter: a member of a layer is missing, or not what it must be
// and: acme::Mean<8> and: {"passes_gradient"} and: {"operands as wide as its result"}
namespace acme {
template <int W>
struct Mean : Whole<W> {
  static constexpr bool pools = true;
  static constexpr bool passes_gradient = true;
};
}  // namespace acme
struct mine : detail::testing::RecipeOfLayer<acme::Mean<8>> {};

// Must not compile, saved: Sinter: a member of a layer is missing, or not what it must be
// and: acme::Swish<8> and: {"saved"} and: {"Saved<Keep, Keep> or array, 1-4"}
namespace acme {
template <int W>
struct Swish : Whole<W> {
  static constexpr Keep saved = Keep::input();
};
}  // namespace acme
struct mine : detail::testing::RecipeOfLayer<acme::Swish<8>> {};

// Must not compile, width_in: Sinter: a member of a layer is missing, or not what it must be
// and: acme::Swish<8> and: {"in"} and: {"constexpr std::array of 1-4 int"}
namespace acme {
template <int W>
struct Swish : Whole<W> {
  static constexpr int in = W;
  static constexpr int out = W;
};
}  // namespace acme
struct mine : detail::testing::RecipeOfLayer<acme::Swish<8>> {};

// Must not compile, window: Attention: the window is negative
constexpr auto in = CausalSelfAttention<8, 2, 0.f, 2, -1>::in;
