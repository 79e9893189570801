// SPDX-License-Identifier: Apache-2.0
// A recipe whose layer LibTorch computes, checked and planned without LibTorch's headers: the code of
// the layer is in another file.
#include "sinter/layer/autograd.hpp"
#include "sinter/layer/loss.hpp"
#include "sinter/memory/checkpoint.hpp"
#include "sinter/precision/bf16.hpp"
#include "sinter/recipe/plan.hpp"
#include "sinter/recipe/recipe.hpp"

using namespace sinter;
using namespace sinter::detail;

/// A batch norm behind a convolution: six parameters, more than an aggregate may have.
struct Convolution {
  static constexpr std::array in{64};
  static constexpr std::array out{16};
  static constexpr std::array params{Param::tensor("conv.weight", {8, 1, 3, 3}, Init::normal(.1f)),
                                     Param::vector("conv.bias", 8, Init::zeros),
                                     Param::vector("norm.weight", 8, Init::ones),
                                     Param::vector("norm.bias", 8, Init::zeros),
                                     Param::matrix("fc.weight", 16, 512, Init::normal(.02f)),
                                     Param::vector("fc.bias", 16, Init::zeros),
                                     Param::running("norm.running_mean", {8}, Init::zeros),
                                     Param::running("norm.running_var", {8}, Init::ones),
                                     Param::running("norm.num_batches_tracked", Init::zeros)};
  static std::unique_ptr<LayerObject> make(const AutogradSpec&);
  static constexpr std::int64_t flops(std::int64_t) { return 2 * (64 * 72 + 16 * 512); }
};
static_assert(Convolution::params[0].rows == 8 && Convolution::params[0].columns == 9);

struct Body {
  static constexpr Value<16> trace(auto& g, Value<64> x) {
    return g("", Autograd<Convolution>{}, x);
  }
};
struct Classes {
  static constexpr Value<1> trace(auto& g, Value<16> x, Ids classes) {
    return g("loss", CrossEntropy<16>{}, x, classes);
  }
};
struct Images {
  using slot = sinter::slot::model;
  static constexpr void trace(auto& g) {
    auto x = g.template values<64>();
    auto classes = g.targets();
    g.result(g.unit("loss", Classes{}, g.unit("body", Body{}, x), classes));
  }
};
struct images : Recipe<Images> {};
static_assert(ready<images>());

constexpr int trained = 72 + 8 + 8 + 8 + 16 * 512 + 16;
static_assert(Plan<images>::parameters == trained);
static_assert(Plan<images>::flops_per_token == 2 * 2 * (64 * 72 + 16 * 512));

// Running values are at the end of the master weights; a step has a second copy of them.
constexpr const Model& model = Plan<images>::model;
static_assert(model.running == 3 * parameter_alignment);
static_assert(model.master_elements() == model.elements() + model.running);
static_assert(model.offsets[0].running == model.elements());
static_assert(Plan<images>::memory.running == aligned(model.running * 4));
static_assert(model.unplanned() && model.plan(0).unplanned && !model.plan(1).unplanned);

constexpr int count(std::span<const Instruction> program, const Kind* kind) {
  int found = 0;
  for (const Instruction& i : program) found += i.kind == kind;
  return found;
}
static_assert(count(Plan<images>::program, &copy_running) == 1);
static_assert(count(Plan<images>::program, &keep_running) == 1);

// What forward leaves outside of the arena is made again as what it leaves inside.
struct recomputed : Recipe<Images, Checkpoint<>, Bf16> {};
static_assert(ready<recomputed>());
static_assert(count(Plan<images>::program, &recompute) == 0);
static_assert(count(Plan<recomputed>::program, &recompute) == 1);

// A program that leaves out what keeps running values, or that keeps them too early, is rejected.
constexpr bool sound(auto change) {
  Program program(Plan<images>::program.begin(), Plan<images>::program.end());
  change(program);
  return verify(model, program, {true, false}).fine();
}
constexpr int place(const Program& program, const Kind* kind) {
  for (int t = 0; t < int(program.size()); ++t)
    if (program[std::size_t(t)].kind == kind) return t;
  return -1;
}
static_assert(sound([](Program&) {}));
static_assert(!sound([](Program& p) { p.erase(p.begin() + place(p, &copy_running)); }));
static_assert(!sound([](Program& p) { p.erase(p.begin() + place(p, &keep_running)); }));
static_assert(!sound([](Program& p) {
  const int at = place(p, &keep_running);
  std::swap(p[std::size_t(at)], p[std::size_t(at - 1)]);  // before the norm
}));
static_assert(!sound([](Program& p) {
  const int at = place(p, &copy_running);
  std::swap(p[std::size_t(at)], p[std::size_t(at + 1)]);  // in the loop
}));
