// SPDX-License-Identifier: Apache-2.0
// How fast do two GPUs train together?
//   ./sinter topology --compare     runs it as the cards are linked, and with peer-to-peer off
//   bench_gpu_ddp [STEPS]
// GPT-2 124M, Bf16, 4 sequences of 1,024 tokens on each card; a process for each.
#include <unistd.h>

#include <sys/wait.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include <sinter/sinter.hpp>

namespace {

using namespace sinter;
using namespace sinter::detail;
using Clock = std::chrono::steady_clock;

constexpr int cards = 2, context = 1024, warm_up = 5;

struct gpt2_on_two : Recipe<Gpt2<{.layers = 12, .heads = 12, .width = 768}>, Tokens<>, Bf16,
                            AdamW<{.lr = 6e-4, .weight_decay = 0.1}>, ClipNorm<{.max = 1.0}>,
                            Ddp<{.ranks = cards}>, Batch<{.global = 4 * cards, .micro = 4}>> {};

HostBatch random_batch(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  HostBatch batch;
  batch.ids.resize(2);
  for (int s = 1; s <= 4 * cards; ++s) {
    batch.starts.push_back(s * context);
    for (auto& ids : batch.ids)
      for (int k = 0; k < context; ++k) ids.push_back(std::int32_t(random() % 50'257));
  }
  return batch;
}

void train(int rank, const std::string& id, int steps) {
  setenv("CUDA_VISIBLE_DEVICES", std::to_string(rank).c_str(), 1);
  open_card(0);
  Trainer<gpt2_on_two> trainer({.world = {rank, cards, id}});
  double loss = 0;
  Clock::time_point begin;
  for (int s = 0; s < warm_up + steps; ++s) {
    if (s == warm_up) begin = Clock::now();
    loss = std::get<Applied>(trainer.step(random_batch(std::uint64_t(s) + 1))).loss.mean();
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count() / steps;
  if (rank == 0)
    std::printf("%s\n%d steps: %.2f ms each, %.0f tokens/s, last loss %.3f\n",
                device_text(0).c_str(), steps, 1e3 * seconds, 4 * cards * context / seconds, loss);
}

}  // namespace

int main(int argc, char** argv) {
  const int steps = argc == 2 ? std::atoi(argv[1]) : argc == 1 ? 50 : 0;
  if (steps < 1) {
    std::fprintf(stderr, "usage: %s [STEPS]\n", argv[0]);
    return 2;
  }
  const std::string id = shared_memory_world_id();
  const pid_t other = fork();  // before CUDA, which does not outlive it
  const int rank = other == 0 ? 1 : 0;
  int failed = 0;
  try {
    train(rank, id, steps);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank %d: %s\n", rank, error.what());
    failed = 1;
  }
  if (rank == 1) return failed;
  int status = 0;
  waitpid(other, &status, 0);
  return failed || status != 0;
}
