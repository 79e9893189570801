// SPDX-License-Identifier: Apache-2.0
// A complete optimizer: options, state, arithmetic in any precision, on all threads of the step.
#include <cmath>
#include <cstdio>
#include <sinter/sinter.hpp>

namespace acme {
using namespace sinter;

struct AdagradOptions {
  double lr = 1e-2, eps = 1e-10, weight_decay = 0;
  SINTER_FIELDS((lr).at_least(0).adjustable(), (eps).above(0).adjustable(),
                (weight_decay).at_least(0).adjustable())
};

/// Adagrad (Duchi et al. 2011): each parameter's rate falls with the sum of its squared gradients.
/// Weight decay is decoupled. The state is one number per parameter.
template <AdagradOptions O = {}>
struct Adagrad {
  using slot = slot::optimizer;
  using Options = AdagradOptions;
  static constexpr Options options = O;
  static constexpr std::array regions{Region{"sum"}};

  static constexpr double learning_rate(const Options& o) { return o.lr; }

  // s: see ParameterSpan in sinter/optimizer/optimizer.hpp. Its element types are those of the recipe's
  // precision.
  static void update(const Options& o, const auto& s) {
    // Parts have a fixed size, so the work of a part does not depend on the number of threads.
    constexpr std::int64_t chunk = 4096;
    const double decay = s.decayed ? 1 - s.learning_rate * o.weight_decay : 1;
    s.stream.parallel(int((s.size + chunk - 1) / chunk), [&](int part) {
      const std::int64_t begin = part * chunk, end = std::min(begin + chunk, s.size);
      for (std::int64_t k = begin; k < end; ++k) {
        const double gradient = std::clamp(s.decision->scale * double(s.gradient[k]),
                                           -s.decision->limit, s.decision->limit);
        const double sum = double(s.state[0][k]) + gradient * gradient;
        const double weight =
            decay * double(s.master[k]) - s.learning_rate * gradient / (std::sqrt(sum) + o.eps);
        store(s.state[0][k], sum);
        store(s.master[k], weight);
      }
    });
  }

 private:
  template <class T>
  static void store(T& to, double value) {
    to = T(value);
  }
};

}  // namespace acme

template <class Precision>
struct line : sinter::Recipe<sinter::Mlp<{.in = 1, .hidden = 16, .out = 1}>, Precision,
                             acme::Adagrad<{.lr = 0.05}>, sinter::NoClip,
                             sinter::Batch<{.global = 8, .micro = 4}>> {};

int main() {
  sinter::HostBatch batch;
  batch.values = {{0, 1, 2, 3, 4, 5, 6, 7}, {1, 2, 3, 4, 5, 6, 7, 8}};
  batch.starts = {0, 1, 2, 3, 4, 5, 6, 7, 8};

  // The first step moves each parameter by the rate, against its gradient.
  sinter::Trainer<line<sinter::Fp64>> exact;
  const double before = exact.parameter("output.bias")[0];
  std::get<sinter::Applied>(exact.step(batch));  // it throws if the step was skipped
  const double moved = before - exact.parameter("output.bias")[0];
  const double sign = exact.gradient("output.bias")[0] > 0 ? 1 : -1;
  if (std::abs(moved - 0.05 * sign) > 1e-9) return std::puts("The formula is another."), 1;

  // Training reduces the loss, bit-identically on one thread and on three.
  sinter::Trainer<line<sinter::Fp32>> one({.threads = 1}), three({.threads = 3});
  const double first = one.evaluate(batch).mean();
  for (int step = 0; step < 300; ++step)
    for (auto* trainer : {&one, &three}) std::get<sinter::Applied>(trainer->step(batch));
  const double last = one.evaluate(batch).mean();
  std::printf("loss %.4f, then %.4f\n", first, last);
  return last < first / 10 && last == three.evaluate(batch).mean() ? 0 : 1;
}
