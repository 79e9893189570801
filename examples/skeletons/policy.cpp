// SPDX-License-Identifier: Apache-2.0
// A policy to copy: an optimizer. docs/add_a_policy.md explains each member, and what policies of
// other slots have instead. This file compiles, runs and checks its own arithmetic.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sinter/sinter.hpp>

namespace acme {
using namespace sinter;

// Options are a structural aggregate, so they can be part of a type: Signum<{.lr = 1e-3}>. Each has
// a default. SINTER_FIELDS names them for flags, `describe` and checkpoints, gives each its range,
// and marks those that are flags of the binary (--optimizer.lr 3e-4). An option that changes code
// or memory must not be a flag.
struct SignumOptions {
  double lr = 1e-3, momentum = 0.9, weight_decay = 0;
  SINTER_FIELDS((lr).at_least(0).adjustable(), (momentum).at_least(0).below(1).adjustable(),
                (weight_decay).at_least(0).adjustable())
};

// A rule of recipes that use the policy: a condition on the recipe R, and a message that says what is
// wrong, why, and how to fix it. Users see no other error.
SINTER_RULE(SignumMastersAreFloat, (std::is_same_v<typename R::precision::master, float>),
            "Signum: the master weights of this recipe are not fp32. Why: each step moves a weight "
            "by exactly the learning rate, which is lost in the rounding of a narrower type. Fix: "
            "choose Fp32, Tf32, Bf16, or Fp16 with masters.");

/// Signum (Bernstein et al. 2018): each parameter moves by the learning rate, along the sign of an
/// average of gradients. Decay is decoupled; biases and norms do not decay. The state is one number
/// per parameter.
template <SignumOptions O = {}>
struct Signum {
  // The slot that the policy fills. At most one policy of a recipe fills a slot.
  using slot = slot::optimizer;

  using Options = SignumOptions;
  static constexpr Options options = O;

  using rules = RuleList<SignumMastersAreFloat>;

  // State that is kept between steps. It is planned in the arena, saved in checkpoints, and reset
  // with fresh weights. Without a type or shape it is one number per parameter.
  static constexpr std::array regions{Region{"momentum_buffer"}};

  // The members that the optimizer's concept requires (sinter/policy/concepts.hpp). s is a ParameterSpan:
  // a flat part of all parameters, which are treated alike.
  static constexpr double learning_rate(const Options& o) { return o.lr; }
  static void update(const Options& o, const auto& s) {
    const double decay = s.decayed ? s.learning_rate * o.weight_decay : 0;
    for (std::int64_t k = 0; k < s.size; ++k) {
      const double gradient = std::clamp(s.decision->scale * double(s.gradient[k]),
                                         -s.decision->limit, s.decision->limit);
      const double average = o.momentum * s.state[0][k] + (1 - o.momentum) * gradient;
      const double sign = double(average > 0) - double(average < 0);
      s.state[0][k] = float(average);
      s.master[k] = float(s.master[k] - s.learning_rate * sign - decay * s.master[k]);
    }
  }
};

}  // namespace acme

struct line : sinter::Recipe<sinter::Mlp<{.in = 1, .hidden = 16, .out = 1}>,
                             acme::Signum<{.lr = 2e-3, .momentum = 0.5}>,
                             sinter::Batch<{.global = 8, .micro = 4}>> {};

static_assert(sinter::ready<line>());  // rules hold, and the verifier accepts the program

int main() {
  sinter::HostBatch batch;
  batch.values = {{0, 1, 2, 3, 4, 5, 6, 7}, {1, 2, 3, 4, 5, 6, 7, 8}};
  batch.starts = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  sinter::Trainer<line> trainer;
  const double first = trainer.evaluate(batch).mean();
  double before = trainer.parameter("output.bias")[0];
  std::get<sinter::Applied>(trainer.step(batch));  // it throws if the step was skipped
  const double moved = std::abs(trainer.parameter("output.bias")[0] - before);
  for (int step = 0; step < 300; ++step) std::get<sinter::Applied>(trainer.step(batch));
  const double last = trainer.evaluate(batch).mean();
  std::printf("a step moves the bias by %.4f; loss %.4f, then %.4f\n", moved, first, last);
  return std::abs(moved - 2e-3) < 1e-6 && last < first / 10 ? 0 : 1;
}
