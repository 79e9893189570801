// SPDX-License-Identifier: Apache-2.0
// A policy of your own, in a slot of its own: an exponential moving average of the weights. It adds
// a kind of instruction with its own function and its own state in the arena.
#include <cmath>
#include <cstdio>
#include <sinter/sinter.hpp>

namespace acme {
using namespace sinter;

struct averaging {  // the slot
  static constexpr std::string_view name = "averaging";
};
struct AverageOptions {
  double decay = 0.999;
  SINTER_FIELDS((decay).at_least(0).below(1).adjustable())
};

/// What the instruction touches. Placement, verification and execution are derived from it.
template <class Policy>
constexpr void touch_average(const Model& model, const Instruction& i, TouchList& out) {
  touches::each(model, i, Use::read, Space::master, out);
  for (int r = 0; r < int(model.regions.size()); ++r)
    if (model.regions[r].owner == &tag_of<Policy>)
      touches::each(model, i, Use::modify, region(r), out);
}

/// Runs the instruction: one flat pass over all parameters. P is the recipe's precision, which
/// chooses the types of master weights and of state.
template <class Policy, class P>
void run_average(Machine& machine, const Bound&) {
  double updates = double(machine.updates() + 1);
  double decay = std::min(machine.options<Policy>().decay, updates / (updates + 9));
  const Model& model = machine.model();
  for (int r = 0; r < int(model.regions.size()); ++r) {
    if (model.regions[r].owner != &tag_of<Policy>) continue;
    auto weights = machine.flat<typename P::master>(Space::master);
    auto average = machine.flat<StateOf<P>>(region(r));
    for (int k = 0; k < model.elements(); ++k)
      average[k] = StateOf<P>(decay * double(average[k]) + (1 - decay) * double(weights[k]));
  }
}

template <class Policy, class P>
inline constexpr Kind average_kind{.name = "average",
                                   .touch = touch_average<Policy>,
                                   .run = run_average<Policy, P>,
                                   .role = Role::follow,
                                   .if_applied = true};  // not run in a skipped step

/// Keeps an exponential moving average of the weights (Polyak and Juditsky 1992).
template <AverageOptions O = {}>
struct Average {
  using slot = averaging;
  using Options = AverageOptions;
  static constexpr Options options = O;
  static constexpr std::array regions{Region{"average"}};

  // R is the recipe. A rewrite that does not need it need not be a template.
  template <class R>
  static constexpr Program rewrite(const Model& model, Program program) {
    using P = typename R::precision;
    program.push_back({&average_kind<Average, P>, 0, short(model.order.size())});
    return program;
  }
};

}  // namespace acme

struct averaged
    : sinter::Recipe<sinter::Mlp<{.in = 1, .hidden = 16, .out = 1}>, acme::Average<{.decay = 0.9}>,
                     sinter::Batch<{.global = 8, .micro = 8}>> {};

static_assert(sinter::ready<averaged>());  // the verifier accepts the new instruction
static_assert(sinter::Plan<averaged>::memory.policies > 0);

// The policy's types follow from the recipe, here all double precision.
struct exact
    : sinter::Recipe<sinter::Mlp<{.in = 1, .hidden = 16, .out = 1}>, sinter::Fp64,
                     acme::Average<{.decay = 0.9}>, sinter::Batch<{.global = 8, .micro = 8}>> {};

template <class R>
bool average_follows() {
  sinter::HostBatch batch;
  batch.values = {{0, 1, 2, 3, 4, 5, 6, 7}, {1, 2, 3, 4, 5, 6, 7, 8}};
  batch.starts = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  sinter::Trainer<R> trainer;
  for (int step = 0; step < 200; ++step)
    std::get<sinter::Applied>(trainer.step(batch));  // it throws if the step was skipped
  double weight = trainer.parameter("output.bias")[0];
  double average = trainer.state("average", "output.bias")[0];
  std::printf("output.bias %.4f, its average %.4f\n", weight, average);
  return std::abs(weight - average) < 0.1;
}

int main() { return average_follows<averaged>() && average_follows<exact>() ? 0 : 1; }
