// SPDX-License-Identifier: Apache-2.0
// How a case of bench/seeds.cpp runs in a process of its own, and the same in Hugging Face's Trainer.
#pragma once
#include "contest.hpp"
#include "seeds_cases.hpp"
#include "transformers_job.hpp"

namespace sinter::detail::bench::seeds {

/// Random tokens of a step, and classes.
inline HostBatch batch_of(const Case& one, std::uint64_t step) {
  return bench::batch_of(step, one.sequences, one.plan->context, one.plan->vocabulary,
                         reduced.labels);
}

/// The contestant: rounds of so many steps each.
inline void contest(const Case& one, int steps, int threads) {
  TrainerCore trainer(one.view(), {.seed = 1, .threads = std::max(threads, one.ranks)});
  std::uint64_t number = 0;
  serve_rounds(steps, [&] {
    const double loss = std::get<Applied>(trainer.step(batch_of(one, number++))).loss.mean();
    if (number == 1) std::printf("FACT first_loss %.9g\n", loss);
    return loss;
  });
}

/// Writes what peers/seeds.py reads to do the same, for its first step and as many `rounds`.
inline void write_job(const Case& one, int steps, int rounds, int threads,
                      const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  TrainerCore(one.view(), {.seed = 1, .threads = 1}).export_to(folder / "weights");
  std::vector<HostBatch> batches;
  for (int b = 0; b < 1 + rounds * steps; ++b) batches.push_back(batch_of(one, std::uint64_t(b)));
  constexpr const char* optimizers[]{"adamw_torch_fused", "adamw_bnb_8bit", "adafactor"};
  bench::write_job(folder, {0, pooled(0)}, batches,
                   {{"class", "BertForSequenceClassification"},
                    {"micro", one.plan->micro},
                    {"checkpointing", one.work->recomputes},
                    {"half", one.work->half},
                    {"optimizer", optimizers[int(one.work->state)]},
                    {"lr", lr},
                    {"max_norm", max_norm},
                    {"steps", steps},
                    {"threads", threads}});
}

}  // namespace sinter::detail::bench::seeds
