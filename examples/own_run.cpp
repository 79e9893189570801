// SPDX-License-Identifier: Apache-2.0
// A run of your own: a model that predicts, a data source, and the loop with a folder, which logs,
// saves, and resumes where it was stopped.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <sinter/sinter.hpp>

namespace acme {
using namespace sinter;

struct Features {
  static constexpr Value<32> trace(auto& g, Value<2> x) {
    return g("act", GeluTanh<32>{}, g("", Linear<2, 32>{}, x));
  }
};
struct Score {
  static constexpr Value<1> trace(auto& g, Value<32> x) { return g("", Linear<32, 1>{}, x); }
};
struct ScoreLoss {
  static constexpr Value<1> trace(auto& g, Value<32> x, Value<1> target) {
    return g("loss", MeanSquaredError<1>{}, g("", Linear<32, 1>{}, x), target);
  }
};

/// A model that learns a number from two others. trace() ends in the loss; predict() is for inputs
/// without targets. Its units have the same names and so share their parameters.
struct Scorer {
  using slot = sinter::slot::model;
  static constexpr void trace(auto& g) {
    auto x = g.unit("features", Features{}, g.template values<2>());
    g.result(g.unit("score", ScoreLoss{}, x, g.template target_values<1>()));
  }
  static constexpr void predict(auto& g) {
    auto x = g.unit("features", Features{}, g.template values<2>());
    g.result(g.unit("score", Score{}, x));
  }
};

/// Points of the plane and their product. Item k depends only on k, so nothing is stored.
class Products {
 public:
  explicit Products(int rows) : rows(rows) {
    now.order = "products";
    now.data_hash = 1;  // the formula's version
  }
  void next(HostBatch& batch) {
    batch.values.resize(2);
    batch.clear();
    for (int r = 0; r < rows; ++r, ++now.items) {
      const double a = std::sin(double(now.items)), b = std::cos(1.7 * double(now.items));
      batch.values[0].insert(batch.values[0].end(), {float(a), float(b)});
      batch.values[1].push_back(float(a * b));
      batch.starts.push_back(batch.starts.back() + 1);
    }
    now.position = now.items;
  }
  SamplerState state() const { return now; }
  void restore(const SamplerState& saved) {
    require_same_data(saved, now);
    now = saved;
  }

 private:
  int rows;
  SamplerState now;
};

}  // namespace acme

struct scorer : sinter::Recipe<acme::Scorer, sinter::AdamW<{.lr = 1e-2}>,
                               sinter::Batch<{.global = 32, .micro = 32}>> {};

/// Trains up to step `steps`, from the folder's newest checkpoint if there is one. Returns the score
/// of (0.5, 0.5).
float train(const std::filesystem::path& folder, std::int64_t steps) {
  using sinter::RunFolder;
  RunFolder run(folder, RunFolder::Mode::either);  // holds the folder's lock
  sinter::Trainer<scorer> trainer;
  sinter::Loop loop(trainer, acme::Products(32), {}, &run);
  loop.run({.steps = steps, .save_every = 100});
  std::printf("step %lld, loss %.6f\n", static_cast<long long>(trainer.steps()),
              loop.state().last.loss);
  sinter::HostBatch question;  // without targets
  question.starts = {0, 1};
  question.values = {{0.5f, 0.5f}};
  return trainer.predict(question).values[0];
}

int main() {
  char name[] = "/tmp/sinter_own_run_XXXXXX";
  const std::filesystem::path folder = mkdtemp(name);
  train(folder / "stopped", 250);
  const float resumed = train(folder / "stopped", 600);
  const float whole = train(folder / "whole", 600);
  const bool logged = std::filesystem::exists(folder / "stopped/metrics.jsonl");
  std::filesystem::remove_all(folder);
  std::printf("0.5 × 0.5 = %.3f\n", whole);
  // The stopped and resumed run is bit-identical to the other.
  return logged && resumed == whole && std::abs(whole - 0.25f) < 0.05f ? 0 : 1;
}
