// SPDX-License-Identifier: Apache-2.0
#include "sinter/device/cuda.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/recipe/plan.hpp"
#include "sinter/trainer/trainer.hpp"
#include "support/recipe_of_layer.hpp"
#include "support/unplanned_layer.hpp"
using namespace sinter;

// Must not compile (quick), element_access: Sinter: a layer reads or writes single elements, and the recipe's device is not the host
namespace acme {
template <int W>
struct Doubled {
  static constexpr std::array in{W};
  static constexpr std::array out{W};
  static void forward(auto& c) {
    auto x = c.x(), y = c.y();
    for (int r = 0; r < x.rows; ++r)
      for (int k = 0; k < W; ++k) y.put(r, k, 2 * x(r, k));
  }
  static void backward(auto& c) {
    auto dy = c.dy(), dx = c.dx();
    for (int r = 0; r < dy.rows; ++r)
      for (int k = 0; k < W; ++k) dx.put(r, k, 2 * dy(r, k));
  }
};
}  // namespace acme
struct mine : Recipe<detail::testing::ModelOfLayer<acme::Doubled<8>>, Cuda<>> {};

// Must not compile, for_cuda_alone: Sinter: a recipe for CUDA is compiled without it.
// and: ./sinter build --cuda
struct mine : Recipe<Mlp<>, Cuda<>> {};
auto view() { return detail::view_of<mine>(); }

// Must not compile, for_the_cpu_alone: Sinter: a recipe for the CPU is compiled for CUDA.
// and: leave the device out of the recipe
// Compiled with: -DSINTER_CUDA=1
struct mine : Recipe<Mlp<>, Cpu> {};
auto view() { return detail::view_of<mine>(); }

// Must not compile, no_kernels: Sinter: this policy is not all that its slot asks for
struct Abacus {
  using slot = sinter::slot::device;
  struct Options {};
  static constexpr Options options{};
  static constexpr bool on_host = true;  // and no open()
};
struct mine : Recipe<Mlp<>, Abacus> {};

// Must not compile, unplanned: Cuda: a layer of this model computes in an object of its own
struct mine : Recipe<detail::testing::ModelOfLayer<detail::testing::Square<8>>, Cuda<>> {};
