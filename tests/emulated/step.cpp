// SPDX-License-Identifier: Apache-2.0
// A whole optimizer step as one graph, as a machine would make it: two micro-batches of a layer
// norm, the norm, the decision, and an update that a step which is not finite does not get.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

#include "emulated/alike.hpp"
#include "hardware/cuda/queue.hpp"
#include "sinter/hardware/memory.hpp"
#include "sinter/kernels/adamw.hpp"
#include "sinter/kernels/decision.hpp"
#include "sinter/kernels/elementwise.hpp"
#include "sinter/kernels/norm.hpp"
#include "sinter/kernels/normalize.hpp"
#include "support/spans.hpp"

using namespace sinter;
using namespace sinter::detail;
using namespace sinter::kernel;

namespace {

constexpr int rows = 48, width = 96, micro = 2, parameters = 2 * width;
constexpr double loss_scale = 1024, bound = 0.5;

/// What the host knows of a step.
struct Plan {
  double rate;
  int t;  // updates, with this one
};

class Machine {
 public:
  Machine() {
    fill(stream, master, 1.f, parameters);
    for (float* state : {mean, square}) fill(stream, state, 0.f, parameters);
  }

  void load(const std::vector<float>& values) {
    put_values(stream, values, reinterpret_cast<std::byte*>(x), Element::f32, 0);
  }

  void step(const Plan& plan) {
    const Tensor weight(master, 1, width), bias(master + width, 1, width);
    for (int k = 0; k < micro; ++k) {
      const Tensor in(x + k * rows * width, rows, width), out(y, rows, width);
      const Tensor mean_of(means, rows, 1), inverse(inverses, rows, 1);
      normalize_forward(stream, in, weight, bias, out, mean_of, inverse, 1e-5);
      sum(stream, y, rows * width, &decision->loss, k > 0);
      scale(stream, out, float(loss_scale), out);
      normalize_backward(stream, in, weight, mean_of, inverse, out, {}, Tensor(dx, rows, width), {},
                         Tensor(gradient, 1, width, k > 0),
                         Tensor(gradient + width, 1, width, k > 0), scratch);
    }
    clear_on_device(stream, reinterpret_cast<std::byte*>(&decision->squares), sizeof(BinnedSum));
    add_squares(stream, gradient, parameters, &decision->squares);
    decide(stream, {.bound = bound}, loss_scale, decision);
    stream.only_if(&decision->applied, [&] {
      adamw({.weight_decay = 0.1}, testing::span_of<float, float, float, BFloat16>(
                                       stream, master, gradient, {mean, square}, copy, parameters,
                                       {plan.rate, plan.t, decision}));
    });
    copy_on_device(stream, reinterpret_cast<const std::byte*>(master),
                   reinterpret_cast<std::byte*>(kept), parameters * sizeof(float));
  }

  Decision decided() { return *of_host(decision, 1).as<Decision>(); }
  std::vector<float> weights() {
    const OnHost values = of_host(kept, parameters);
    return {values.as<float>(), values.as<float>() + parameters};
  }

  Stream stream{1};

 private:
  template <class T>
  OnHost of_host(T* at, std::int64_t n) {
    return OnHost(stream, reinterpret_cast<std::byte*>(at), n * std::int64_t(sizeof(T)),
                  Access::read);
  }
  template <class T>
  T* take(std::int64_t n) {
    std::byte* at = arena.bytes().data() + used;
    used = (used + n * std::int64_t(sizeof(T)) + 255) / 256 * 256;
    return reinterpret_cast<T*>(at);
  }

  DeviceMemory arena{1 << 20};
  std::int64_t used = 0;

 public:
  float *x = take<float>(micro * rows * width), *y = take<float>(rows * width);
  float *dx = take<float>(rows * width), *means = take<float>(rows), *inverses = take<float>(rows);
  float* scratch = take<float>(normalize_scratch(2, width));
  float *master = take<float>(parameters), *gradient = take<float>(parameters);
  float *mean = take<float>(parameters), *square = take<float>(parameters);
  float* kept = take<float>(parameters);
  BFloat16* copy = take<BFloat16>(parameters);
  Decision* decision = take<Decision>(1);
};

constexpr int steps = 10, infinite = 4;

std::vector<float> batch_of(int step) {
  std::vector<float> x(micro * rows * width);
  unsigned s = unsigned(step) * 7919 + 1;
  for (float& value : x) value = float(int((s = s * 1664525 + 1013904223) >> 20) - 2048) / 512;
  if (step == infinite) x[77] = INFINITY;
  return x;
}

/// Takes all steps, each by run(machine, number, plan), and returns the weights after each.
std::vector<std::vector<float>> train(const std::function<void(Machine&, int, const Plan&)>& run) {
  Machine machine;
  std::vector<std::vector<float>> weights;
  int updates = 0;
  for (int k = 0; k < steps; ++k) {
    machine.load(batch_of(k));
    run(machine, k, {1e-2 / (k + 1), updates + 1});
    const Decision decision = machine.decided();
    CHECK(decision.applied == (k != infinite));
    if (decision.applied) CHECK(decision.scale < 1 / loss_scale);  // it is clipped
    updates += decision.applied;
    weights.push_back(machine.weights());
  }
  return weights;
}

void launch_step(Machine& machine, int, const Plan& plan) { machine.step(plan); }

}  // namespace

TEST_CASE("ten runs of one graph have the bits of direct launches") {
  const auto direct = train(launch_step);
  const auto graph = train([](Machine& machine, int, const Plan& plan) {
    machine.stream.as_graph(alike, [&] { machine.step(plan); });
  });
  CHECK(graph == direct);
  for (int k = 1; k < steps; ++k) {
    CAPTURE(k);
    CHECK((direct[k] == direct[k - 1]) == (k == infinite));
    for (float weight : direct[k]) REQUIRE(std::isfinite(weight));
  }
}

TEST_CASE("a graph that is not told what is new has other bits") {
  const auto direct = train(launch_step);
  const auto stale = train([](Machine& machine, int k, const Plan& plan) {
    static Plan first;
    if (k == 0) first = plan;
    machine.stream.as_graph(alike, [&] { machine.step(first); });
  });
  CHECK(stale[0] == direct[0]);
  CHECK(stale[1] != direct[1]);
}
