// SPDX-License-Identifier: Apache-2.0
// Facts about the plan of GPT-2 124M, and of its deeper kin, as values that the compiler computes.
#include "sinter/data/bytes.hpp"
#include "sinter/layer/cross_attention.hpp"
#include "sinter/memory/checkpoint.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/model/llama.hpp"
#include "sinter/optimizer/muon.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/parameters/freeze.hpp"
#include "sinter/precision/bf16.hpp"
#include "sinter/recipe/plan.hpp"

using namespace sinter;
using namespace sinter::detail;

template <class... Policies>
struct Gpt2Small
    : Recipe<Gpt2<>, Bytes<{.context = 1024}>, Batch<{.global = 512, .micro = 8}>, Policies...> {};
using Full = Checkpoint<{.policy = full}>;
using Selective = Checkpoint<{.policy = selective}>;
using plan = Plan<Gpt2Small<>>;
static_assert(ready<Gpt2Small<>>());

// ---- sizes
// More parameters than an int counts: Llama 2 7B, in fp32 with AdamW.
struct Llama7B : Recipe<Llama<>, Bytes<{.context = 128}>, Batch<{.global = 1, .micro = 1}>> {};
static_assert(Plan<Llama7B>::parameters == 6'738'415'616);
static_assert(Plan<Llama7B>::bytes > 16 * Plan<Llama7B>::parameters);

constexpr std::int64_t width = 768, heads = 12, layers = 12, vocabulary = 50257, context = 1024;
constexpr std::int64_t in_matmuls = layers * 12 * width * width + vocabulary * width;
constexpr std::int64_t biases_and_norms = layers * (9 + 4) * width + 2 * width;
static_assert(plan::parameters == in_matmuls + context * width + biases_and_norms);
static_assert(plan::parameters == 124'439'808);
static_assert(plan::flops_per_token == 6 * in_matmuls + 6 * layers * width * context);
// A frozen block has no gradient of its weights; one that nothing trained feeds has forward alone.
static_assert(Plan<Gpt2Small<Freeze<"h.0">>>::flops_per_token ==
              plan::flops_per_token - 2 * 12 * width * width);
static_assert(Plan<Gpt2Small<Freeze<"wte", "wpe", "h.0">>>::flops_per_token ==
              plan::flops_per_token - 4 * 12 * width * width - 4 * width * context -
                  2 * vocabulary * width);
static_assert(CausalSelfAttention<width, heads>::flops(context) == 2 * width * context);
static_assert(SelfAttention<width, heads>::flops(context) == 4 * width * context);
// Rows that see others see those others' context. In half precision their gradients are summed
// beside them.
using Across = CrossAttention<width, heads>;
static_assert(Across::flops(1, context) == SelfAttention<width, heads>::flops(context));
static_assert(Across::scratch<Bf16>(1, context) == 2 * context * width);
static_assert(Across::scratch<Fp32>(1, context) == 0);
// In a window of a quarter of the context, a row sees 7/16 as much as without.
template <int Window>
using Windowed = CausalSelfAttention<width, heads, 0.f, heads, Window>;
static_assert(Windowed<context / 4>::flops(context) == 2 * width * context * 7 / 16);
static_assert(Windowed<context>::flops(context) == 2 * width * context);
static_assert(Windowed<2 * context>::flops(context) == 2 * width * context);

// ---- two axes, with 16 and 48 rows in a sequence: a token of axis 0 stands for three of axis 1
/// Takes rows of both axes. What it says is large enough for each part to be seen in a sum.
struct Mix {
  static constexpr std::array in{8, 4};
  static constexpr std::array out{8};
  static constexpr std::int64_t flops(std::int64_t rows, std::int64_t other) {
    return 1'000'000 * rows + 10'000'000'000 * other;
  }
  template <class P>
  static constexpr std::int64_t scratch(std::int64_t rows, std::int64_t other) {
    return 16 * rows + 16'000 * other;
  }
  static void forward(auto&) {}
  static void backward(auto&) {}
};
struct LookUp {
  static constexpr Value<8> trace(auto& g, Ids ids) { return g("", Embedding<10, 8>{}, ids); }
};
struct Narrowed {
  static constexpr Value<4> trace(auto& g, Value<8> x) { return g("", Linear<8, 4>{}, x); }
};
template <class L>
struct MixedModel {
  static constexpr Value<8> trace(auto& g, Value<8> x, Value<4> y) { return g("", L{}, x, y); }
};
struct HeadLoss {
  static constexpr Value<1> trace(auto& g, Value<8> x, Ids targets) {
    return g("", LinearCrossEntropy<10, 8>{}, x, targets);
  }
};
/// The rows of axis `From` see those of axis 1.
template <int From, class L = Mix>
struct TwoAxes {
  using slot = slot::model;
  static constexpr void trace(auto& g) {
    auto source = g.tokens(1), ids = g.tokens(0), targets = g.targets(From);
    auto y = g.unit("narrowed", Narrowed{}, g.unit("source", LookUp{}, source));
    auto x = g.unit("look", LookUp{}, From == 0 ? ids : source);
    g.result(g.unit("head", HeadLoss{}, g.unit("joined", MixedModel<L>{}, x, y), targets));
  }
};
struct Contexts {
  using slot = slot::data;
  static constexpr int context = 16, second_context = 48, vocabulary = 10;
};
template <class Model>
struct OnTwoAxes : Recipe<Model, Contexts, Batch<{.global = 4, .micro = 2}>> {};
using two_axes = Plan<OnTwoAxes<TwoAxes<0>>>;
static_assert(two_axes::flops_per_token ==
              3 * 3 * (2 * 8 * 4) + 3 * (2 * 10 * 8) + 3 * (16 * 1'000'000 + 48 * 10'000'000'000));
static_assert(two_axes::model.plan(3).phase[int(Phase::forward)].workspace ==
              4 * 16 * (2 * 16 + 1'000 * 2 * 48));
static_assert(two_axes::model.plan(3).phase[int(Phase::backward)].workspace ==
              4 * 16 * (2 * 16 + 1'000 * 2 * 48));
// A layer that states one number has that of its own axis.
struct MixByRows : Mix {
  static constexpr std::int64_t flops(std::int64_t rows) { return 1'000'000 * rows; }
  static constexpr std::int64_t scratch(std::int64_t rows) { return 16 * rows; }
};
using by_rows = Plan<OnTwoAxes<TwoAxes<0, MixByRows>>>;
static_assert(by_rows::flops_per_token ==
              3 * 3 * (2 * 8 * 4) + 3 * (2 * 10 * 8) + 3 * 16 * 1'000'000);
static_assert(by_rows::model.plan(3).phase[int(Phase::forward)].workspace == 4 * 16 * 2 * 16);
using on_axis_1 = Plan<OnTwoAxes<TwoAxes<1, MixByRows>>>;
static_assert(on_axis_1::flops_per_token ==
              3 * (3 * (2 * 8 * 4) + 3 * (2 * 10 * 8) + 3 * 48 * 1'000'000));
static_assert(on_axis_1::model.plan(3).phase[int(Phase::forward)].workspace == 4 * 16 * 2 * 48);

static_assert(plan::memory.parameters == 4 * plan::parameters);
static_assert(plan::memory.gradients == 4 * plan::parameters);
static_assert(plan::memory.optimizer == 8 * plan::parameters);
static_assert(plan::memory.weights == 0 && plan::memory.policies == 0);
static_assert(plan::memory.total == plan::memory.parameters + plan::memory.gradients +
                                        plan::memory.optimizer + plan::memory.activations +
                                        plan::memory.workspace);
static_assert(plan::bytes == plan::memory.total);
static_assert(plan::bytes < std::int64_t(80) << 30, "fits in 80 GiB");
static_assert(plan::training.persistent % 64 == 0 && plan::training.workspace % 64 == 0);

// ---- what a block keeps, in numbers for each row: 15 widths of fp32, and statistics of its own
constexpr std::int64_t rows = 8 * context;
template <class... Policies>
constexpr std::int64_t saved_of_block = Plan<Gpt2Small<Policies...>>::model.plan(1).saved_bytes;
static_assert(saved_of_block<> == rows * 4 * (15 * width + 2 * 2 + heads));
static_assert(saved_of_block<Selective> == rows * 4 * (9 * width + heads));
static_assert(saved_of_block<Full> == saved_of_block<>);
// The residual join at a block's end moves no gradient: what reads it next reads where it lies. That
// of the first block's input lies outside, and the embedding of positions has it as it is.
template <class P>
constexpr int gradients_put_by_sums(int unit) {
  const auto& model = P::model;
  const Touches& backward = model.plan(unit).phase[int(Phase::backward)];
  int put = 0;
  for (int c = backward.first_call; c < backward.first_call + backward.calls; ++c) {
    const LayerCall& call = model.layer_calls[c];
    const Node& node = model.nodes[model.block(unit).first_node + call.node];
    if (!call.backward || !node.layer->passes_gradient) continue;
    for (const Operand& dx : call.dx) put += dx.where != Operand::nowhere;
  }
  return put;
}
static_assert(gradients_put_by_sums<plan>(0) == 0 && gradients_put_by_sums<plan>(1) == 0);
// Of all units that are recomputed, one saved block exists at a time.
static_assert(Plan<Gpt2Small<Full>>::bytes < plan::bytes - (layers - 2) * saved_of_block<>);
static_assert(Plan<Gpt2Small<Full>>::bytes < Plan<Gpt2Small<Selective>>::bytes);
static_assert(Plan<Gpt2Small<Selective>>::bytes < plan::bytes);
static_assert(plan::evaluation_peak < Plan<Gpt2Small<Full>>::training.peak);

// ---- Muon: of hidden matrices one number each, and room for the largest of them, c_fc, twice, and
// for its smaller side's square twice
using muon = Plan<Gpt2Small<Muon<>>>;
constexpr std::int64_t in_hidden = layers * 12 * width * width;
static_assert(muon::memory.optimizer == 8 * (plan::parameters - in_hidden) + 4 * in_hidden);
template <class P>
constexpr std::int64_t update_workspace = [] {
  for (const Instruction& i : P::program)
    if (i.kind->role == Role::update) return i.kind->workspace(P::model, i);
  return std::int64_t(-1);
}();
static_assert(update_workspace<muon> == 4 * (2 * 4 * width * width + 2 * width * width));
static_assert(update_workspace<muon> == 23'592'960);
static_assert(muon::memory.workspace == plan::memory.workspace, "layers need more");

// ---- instructions
template <class R>
constexpr int count(const Kind& kind) {
  return int(std::ranges::count(Plan<R>::program, &kind, &Instruction::kind));
}
constexpr int units = 14;
static_assert(plan::model.count() == units && plan::model.blocks.size() == 3);
static_assert(count<Gpt2Small<>>(forward) == units, "micro-batches are a loop");
static_assert(count<Gpt2Small<>>(backward) == units && count<Gpt2Small<>>(load) == 1);
static_assert(count<Gpt2Small<>>(recompute) == 0);
static_assert(count<Gpt2Small<Full>>(recompute) == layers, "not of the last unit, nor of look-ups");
static_assert(count<Gpt2Small<Selective>>(recompute) == 0, "chosen inside the units");
using SelectiveThird = Gpt2Small<Checkpoint<{.policy = selective, .every = 3}>>;
static_assert(ready<SelectiveThird>());
// Copies 0, 3, 6 and 9 of the block (units 1, 4, 7 and 10) are selective, the others whole.
static_assert([] {
  for (int layer = 0; layer < layers; ++layer)
    if (Plan<SelectiveThird>::model.plan(1 + layer).saved_bytes !=
        (layer % 3 == 0 ? saved_of_block<Selective> : saved_of_block<>))
      return false;
  return true;
}());
static_assert(count<SelectiveThird>(recompute) == 0);
static_assert(Plan<SelectiveThird>::bytes > Plan<Gpt2Small<Selective>>::bytes &&
              Plan<SelectiveThird>::bytes < plan::bytes);
using Third = Gpt2Small<Checkpoint<{.every = 3}>>;
static_assert(count<Third>(recompute) == layers / 3);
static_assert(Plan<Third>::bytes > Plan<Gpt2Small<Full>>::bytes &&
              Plan<Third>::bytes < plan::bytes);

using Reduced = Gpt2Small<Ddp<>, Full>;
constexpr auto is_reduce = [](const Instruction& i) { return i.kind->role == Role::reduce; };
constexpr int buckets = int(std::ranges::count_if(Plan<Reduced>::program, is_reduce));
static_assert(ready<Reduced>());
// 28.4 MB of gradients in a block; the tied table becomes final last, with the positions.
static_assert(buckets == layers + 1);
static_assert(count<Reduced>(await_reduce_kind<float>) == buckets);
static_assert(
    [] {
      int reduced = 0;
      for (const Instruction& i : Plan<Reduced>::program) {
        if (!is_reduce(i)) continue;
        if (i.when != When::last || i.what != reduced) return false;
        reduced += i.count;
      }
      return reduced == int(Plan<Reduced>::model.order.size());
    }(),
    "in the last micro-batch, each group once, in the order in which gradients become final");

// ---- the flat buffers: decayed and undecayed apart, each in that order, without holes or overlap
static_assert([] {
  const Model& model = plan::model;
  int decayed = 0, undecayed = model.decayed;
  for (short g : model.order) {
    if (model.offsets[g].decayed != decayed || model.offsets[g].undecayed != undecayed)
      return false;
    decayed += model.block(g).decayed;
    undecayed += model.block(g).undecayed;
  }
  return decayed == model.decayed && undecayed == model.elements();
}());

// ---- a unit is planned once, however often it repeats
template <int Layers, class... Policies>
struct Deep : Recipe<Gpt2<{.layers = Layers}>, Bytes<{.context = 1024}>,
                     Batch<{.global = 512, .micro = 8}>, Policies...> {};
using deep = Plan<Deep<96, Full, Ddp<>>>;
static_assert(ready<Deep<96, Full, Ddp<>>>(), "within the compiler's default limits");
static_assert(deep::model.blocks.size() == 3 && deep::model.count() == 98);
static_assert(deep::model.nodes.size() == plan::model.nodes.size());
static_assert(deep::model.layer_calls.size() == plan::model.layer_calls.size());
static_assert(deep::parameters - plan::parameters == 84 * (12 * width * width + 13 * width));
// With units recomputed, a deeper model costs its states and the values between its units.
static_assert(deep::memory.activations - Plan<Reduced>::memory.activations ==
              84 * rows * width * 4);

// ---- evaluation takes as many sequences at once as fit into the arena that training needs
template <class P>
constexpr std::int64_t evaluation_of(int sequences) {
  return detail::evaluation_bytes(P::model, P::view.micro, sequences, P::view.forward_program);
}
template <class P>
constexpr bool is_most =
    P::evaluation.peak <= P::bytes && P::evaluation.peak == evaluation_of<P>(P::evaluation_micro) &&
    (P::evaluation_micro == detail::evaluation_bound(8, context) ||
     evaluation_of<P>(P::evaluation_micro + 1) > P::bytes);
static_assert(evaluation_of<plan>(8) == plan::evaluation_peak);
static_assert(plan::evaluation_micro == 2 * 8 && is_most<plan>, "more would fit");
static_assert(is_most<Plan<Gpt2Small<Full>>> && is_most<Plan<Gpt2Small<Selective>>>);
static_assert(Plan<Gpt2Small<Full>>::evaluation_micro > 8);
static_assert(is_most<deep> && deep::evaluation_micro > 8);
static_assert(detail::evaluation_bound(1, 16) == 128 && detail::evaluation_bound(64, 1024) == 128);
static_assert(detail::evaluation_bound(1 << 20, 1 << 10) == (1 << 21) - 1, "rows are ints");
