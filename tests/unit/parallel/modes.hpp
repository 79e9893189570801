// SPDX-License-Identifier: Apache-2.0
// Every parallel mode against one process, and modes against each other whose sums are in the same order: a
// table for each precision. Dropout, clipping, accumulation, ragged batches, fewer sequences than ranks.
#pragma once
#include <cstdio>
#include <memory>

#include "sinter/parallel/single.hpp"
#include "sinter/parallel/split_batch.hpp"
#include "unit/parallel/zero_recipes.hpp"

namespace sinter::detail::testing {

/// Among them batches that leave ranks without a sequence.
inline HostBatch batch_of_modes(int step) {
  if (step % 4 != 3) return batch_of(step);
  return token_batch(step % 8 == 3 ? std::vector{4, 12, 7} : std::vector{9}, vocabulary,
                     std::uint64_t(step) + 1, .2);
}

/// The steps of one process in 8 micro-batches, and how much two orders of a sum may differ.
template <class Precision>
class OneProcess {
  static constexpr int steps = 20;
  struct Step {
    NamedNumbers weights, gradients;  // weights before it; gradients only if it is applied
    double loss;
    std::map<std::string, double> terms;
  };
  std::vector<Step> taken;
  double last = 0;

  static double evaluated(TrainerCore& trainer) { return trainer.evaluate(batch_of_modes(1)).sum; }
  static double loss_of(const Outcome& outcome) {
    return std::visit([](const auto& o) { return o.loss.sum; }, outcome);
  }

  /// Σ|t| of the terms t of which a gradient is the sum, in a batch. It is not less than the sum of the
  /// largest numbers of each sequence's gradient, weighted by its predictions, which is taken for it.
  static std::map<std::string, double> terms_of(TrainerCore& exact, const NamedNumbers& weights,
                                                const HostBatch& batch) {
    std::map<std::string, double> terms;
    std::int64_t count = 0;
    for (int s = 0; s < batch.sequences(); ++s) {
      const HostBatch one = part(batch, s, s + 1);
      if (std::ranges::count(one.ids[1], -1) == one.rows()) continue;
      set_parameters(exact, weights);
      const auto alone = std::get<Applied>(exact.step(one));
      count += alone.loss.count;
      for (const auto& [name, gradient] : gradients_of(exact)) {
        const auto [least, most] = std::ranges::minmax(gradient);
        terms[name] += std::max(-least, most) * double(alone.loss.count);
      }
    }
    for (auto& [name, sum] : terms) sum /= double(count);
    return terms;
  }

 public:
  template <class Parallel>
  using R = Tiny<Parallel, Decaying, Precision, Clipped>;

  OneProcess() {
    Trainer<R<Single>> trainer({.seed = 3, .threads = 1});
    Trainer<Small<8, Decaying, Fp64, Clipped>> exact({.seed = 3, .threads = 1});
    for (int s = 0; s < steps; ++s) {
      Step& step = taken.emplace_back();
      const HostBatch batch = batch_of_modes(s);
      step.weights = parameters_of(trainer);
      step.terms = terms_of(exact, step.weights, batch);
      const Outcome outcome = trainer.step(batch);
      step.loss = loss_of(outcome);
      if (std::holds_alternative<Applied>(outcome)) step.gradients = gradients_of(trainer);
    }
    last = evaluated(trainer);
  }

  /// A gradient is a sum of so many terms, and of what each was rounded before: in whatever order,
  /// |error| ≤ (rows + k) u Σ|t|. `more` u is for what a mode rounds besides.
  static double bound(int rows, double more) {
    const double u = std::is_same_v<typename Precision::gradient, double> ? 0x1p-53 : 0x1p-24;
    return (rows + 100) * u + more;
  }

  /// Takes each step from the same weights as the one process.
  /// returns   the largest difference of a gradient, divided by its bound
  double compare(TrainerCore& mode, double more) const {
    double worst = 0;
    for (int s = 0; s < steps; ++s) {
      CAPTURE(s);
      const Step& want = taken[std::size_t(s)];
      const HostBatch batch = batch_of_modes(s);
      set_parameters(mode, want.weights);
      const Outcome outcome = mode.step(batch);
      REQUIRE(std::holds_alternative<Applied>(outcome) == !want.gradients.empty());
      CHECK(relative_difference(loss_of(outcome), want.loss) <= bound(0, 0));
      if (want.gradients.empty()) continue;
      for (const auto& [name, gradient] : want.gradients) {
        const Numbers got = mode.gradient(name);
        REQUIRE(got.size() == gradient.size());
        const double most = bound(batch.rows(), more) * want.terms.at(name);
        for (std::size_t k = 0; k < gradient.size(); ++k) {
          const double part = std::abs(got[k] - gradient[k]) / most;
          worst = std::isfinite(part) ? std::max(worst, part) : INFINITY;
        }
      }
    }
    return worst;
  }

  /// The relative difference of the loss after all steps.
  double difference(TrainerCore& mode) const { return relative_difference(evaluated(mode), last); }
};

/// The table of a precision.
template <class Precision>
class ModesTable {
  using Process = OneProcess<Precision>;
  const char* precision;
  Process process;

 public:
  explicit ModesTable(const char* p) : precision(p) {
    std::printf("%-10s %-5s %-9s %-23s %-22s %s\n", "mode", "ranks", "precision",
                "gradients, from one", "loss after 20", "bits of");
    std::printf("%-26s %-23s %-22s\n", "", "process, of the bound", "steps, relative");
  }

  template <class Parallel>
  static std::unique_ptr<TrainerCore> trainer(int ranks) {
    const auto view = Trainer<typename Process::template R<Parallel>>::options();
    for (Option& option : view->options)
      if (option.dotted() == "parallel.ranks") *std::get<int*>(option.value) = ranks;
    return std::make_unique<TrainerCore>(view, TrainerSettings{.seed = 3, .threads = ranks});
  }

  /// Compares a mode with the one process, and with another mode that must have the same bits.
  template <class Parallel, class Same = Parallel>
  void row(const std::string& mode, int ranks, const char* same = "", double more = 0) const {
    CAPTURE(mode);
    CAPTURE(ranks);
    const double part = process.compare(*trainer<Parallel>(ranks), more);
    CHECK(part < 1);
    const auto got = trainer<Parallel>(ranks);
    if constexpr (std::is_same_v<Parallel, Same>) {
      take_steps(*got, 0, 20, batch_of_modes);
    } else {
      check_same(*trainer<Same>(ranks), *got, batch_of_modes);
    }
    const double apart = process.difference(*got);
    if (std::is_same_v<Precision, Fp64>) CHECK(apart < 1e-9);
    std::printf("%-10s %-5d %-9s %-23.2g %-22.2g %s\n", mode.c_str(), ranks, precision, part, apart,
                same);
  }

  /// All modes that the precision can have.
  void rows() const {
    const auto on = [&]<int Ranks>(std::integral_constant<int, Ranks>) {
      using All = Whole<2>;  // both are told the number of ranks
      row<All>("Ddp", Ranks);
      row<SplitBatch<>, All>("SplitBatch", Ranks, "Ddp");
      row<Split<Ranks, 1>, All>("Zero 1", Ranks, "Ddp");
      row<Split<Ranks, 2>>("Zero 2", Ranks);
      row<Split<Ranks, 3>, Split<Ranks, 2>>("Zero 3", Ranks, "Zero 2");
      if constexpr (std::is_same_v<typename Precision::gradient, float>) {
        using Compressed = Ddp<{.bucket_bytes = 10'000, .compression = GradientCompression::bf16}>;
        // Each rank's sum is rounded to 8 digits, and so is the sum of these.
        row<Compressed>("Ddp, bf16", Ranks, "", 2 * 0x1p-8);
      }
    };
    on(std::integral_constant<int, 2>{});
    on(std::integral_constant<int, 4>{});
  }
};

}  // namespace sinter::detail::testing
