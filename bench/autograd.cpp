// SPDX-License-Identifier: Apache-2.0
// What does a layer cost that LibTorch computes (Autograd), beside the same of Sinter's own layers?
//   ./sinter bench autograd [--threads N] [--rounds N] [--json FILE]
// Six residual blocks, x + down(gelu(up(norm(x)))), on 512 rows: all of them LibTorch's, or every
// second one, so that the two pools of threads take turns. Both learn the same; times are taken in
// turns.
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>

#include <chrono>
#include <random>
#include <sinter/autograd/torch.hpp>
#include <sinter/sinter.hpp>

#include "report.hpp"

using namespace sinter;
using namespace sinter::detail;

namespace {

constexpr int rows = 512, blocks = 6;
constexpr LinearOptions as_torch{.layout = WeightLayout::out_in};

template <int W>
struct OwnBlock {
  static constexpr Value<W> trace(auto& g, Value<W> x) {
    auto wide = g("up", Linear<W, 4 * W, as_torch>{}, g("norm", LayerNorm<W>{}, x));
    return g("add", Add<W>{}, x,
             g("down", Linear<4 * W, W, as_torch>{}, g("act", GeluErf<4 * W>{}, wide)));
  }
};

template <int W>
struct TorchCode {
  static constexpr std::array in{W};
  static constexpr std::array out{W};
  static constexpr std::array params{Param::vector("norm.weight", W, Init::ones),
                                     Param::vector("norm.bias", W, Init::zeros),
                                     Param::matrix("up.weight", 4 * W, W, Init::normal(.02f)),
                                     Param::vector("up.bias", 4 * W, Init::zeros),
                                     Param::matrix("down.weight", W, 4 * W, Init::normal(.02f)),
                                     Param::vector("down.bias", W, Init::zeros)};
  static constexpr bool random = false;
  static autograd::Results forward(const autograd::Inputs& inputs) {
    const std::vector<at::Tensor>& p = inputs.parameters;
    const at::Tensor& x = inputs.x[0];
    const at::Tensor n = at::layer_norm(x, {W}, p[0], p[1]);
    return {x.add(at::linear(at::gelu(at::linear(n, p[2], p[3])), p[4], p[5]))};
  }
  static std::unique_ptr<LayerObject> make(const AutogradSpec& spec) {
    return autograd::of_function(spec, forward);
  }
};
template <int W>
struct TorchBlock {
  static constexpr Value<W> trace(auto& g, Value<W> x) {
    return g("", Autograd<TorchCode<W>>{}, x);
  }
};

template <int W>
struct SquaredError {
  static constexpr Value<1> trace(auto& g, Value<W> x, Value<W> target) {
    return g("loss", MeanSquaredError<W>{}, x, target);
  }
};

/// Blocks number k with k % Every == 0 are LibTorch's; none if it is 0.
template <int W, int Every>
struct Net {
  using slot = sinter::slot::model;
  static constexpr void trace(auto& g) {
    auto x = g.template values<W>();
    auto target = g.template target_values<W>();
    x = block<0>(g, x);
    x = block<1>(g, x);
    x = block<2>(g, x);
    x = block<3>(g, x);
    x = block<4>(g, x);
    x = block<5>(g, x);
    g.result(g.unit("loss", SquaredError<W>{}, x, target));
  }

 private:
  static constexpr const char* names[blocks]{"b0", "b1", "b2", "b3", "b4", "b5"};
  template <int K>
  static constexpr auto block(auto& g, Value<W> x) {
    if constexpr (Every > 0 && K % std::max(Every, 1) == 0) {
      return g.unit(names[K], TorchBlock<W>{}, x);
    } else {
      return g.unit(names[K], OwnBlock<W>{}, x);
    }
  }
};
template <int W, int Every>
struct recipe : Recipe<Net<W, Every>, AdamW<>, Batch<{.global = rows, .micro = rows}>> {};

HostBatch batch_of(int width) {
  std::mt19937 engine(1);
  std::normal_distribution<float> normal;
  HostBatch batch;
  for (int r = 1; r <= rows; ++r) batch.starts.push_back(r);
  for (int input = 0; input < 2; ++input) {
    batch.values.emplace_back(std::size_t(rows) * std::size_t(width));
    for (float& v : batch.values.back()) v = normal(engine);
  }
  return batch;
}

double milliseconds(const auto& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

template <int W>
std::vector<bench::Row> compare(int threads, int rounds) {
  const TrainerSettings settings{.seed = 1, .threads = threads};
  Trainer<recipe<W, 0>> own(settings);
  Trainer<recipe<W, 1>> all(settings);
  Trainer<recipe<W, 2>> half(settings);
  const std::array<TrainerCore*, 3> trainers{&own, &all, &half};
  const HostBatch batch = batch_of(W);
  std::array<std::vector<double>, 3> times;
  std::array<double, 3> losses{};
  for (int round = -3; round < rounds; ++round)
    for (std::size_t k = 0; k < trainers.size(); ++k) {
      Outcome outcome;
      const double ms = milliseconds([&] { outcome = trainers[k]->step(batch); });
      losses[k] = std::get<Applied>(outcome).loss.mean();
      if (round >= 0) times[k].push_back(ms);
    }
  const std::string width = ", " + std::to_string(W) + " wide";
  auto row = [&](const char* name, std::size_t k) {
    const double apart = std::abs(losses[k] - losses[0]);
    return bench::Row{
        name + width, bench::median(times[k]), bench::median(times[0]), "own layers", "ms/step",
        apart,        apart < 1e-3 * losses[0]};
  };
  return {row("all blocks LibTorch's", 1), row("every second block", 2)};
}

int run_bench(int argc, char** argv) {
  bench::CommandLine line("What layers cost that LibTorch computes.");
  int rounds = 30;
  line.add_count("--rounds", rounds, "Turns that each contestant takes");
  line.read(argc, argv);
  bench::Report report(line);
  report.print(compare<64>(line.threads, rounds));
  report.print(compare<256>(line.threads, rounds));
  return report.write();
}

}  // namespace

int main(int argc, char** argv) { return bench::main_of(argc, argv, run_bench); }
