// A training step of ours against LibTorch's autograd with the fused optimizer, in one process: the
// same weights, the same tokens, in turns. A row whose losses differ by more than 1e-4 is void.
//   ./sinter bench step [--threads N] [--rounds N] [--json FILE]
#include <chrono>

#include "baseline/torch_gpt2.hpp"
#include "report.hpp"
#include "sinter/sinter.hpp"

using namespace sinter;

namespace {

constexpr double lr = 1e-3, weight_decay = 0.1, beta2 = 0.999, max_norm = 1.0;

template <Gpt2Options Shape, int Context, int Sequences>
struct gpt : Recipe<Gpt2<Shape>, Bytes<{.context = Context}>,
                    AdamW<{.lr = lr, .weight_decay = weight_decay}>, ClipNorm<{.max = max_norm}>,
                    Batch<{.global = Sequences, .micro = Sequences}>> {};

/// Bytes in which there is something to learn.
HostBatch batch_of(int context, int sequences, std::uint64_t step) {
  HostBatch batch;
  batch.ids.resize(2);
  for (int s = 0; s < sequences; ++s) {
    std::uint64_t state = kernel::mix(step * 1000 + std::uint64_t(s));
    int byte = int(state % 256);
    for (int t = 0; t < context; ++t) {
      batch.ids[0].push_back(byte);
      state = kernel::mix(state);
      byte = (byte * 5 + 7 + int(state % 3)) % 256;
      batch.ids[1].push_back(byte);
    }
    batch.starts.push_back((s + 1) * context);
  }
  return batch;
}
torch::Tensor tensor(const std::vector<std::int32_t>& ids, int context) {
  return torch::tensor(ids, torch::kInt64).view({-1, context});
}

double milliseconds(auto&& work) {
  auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

std::string range(const std::vector<double>& a, const std::vector<double>& b) {
  auto [a0, a1] = std::minmax_element(a.begin(), a.end());
  auto [b0, b1] = std::minmax_element(b.begin(), b.end());
  char text[96];
  std::snprintf(text, sizeof text, "%.2f-%.2f, %.2f-%.2f", *a0, *a1, *b0, *b1);
  return text;
}

template <Gpt2Options Shape, int Context, int Sequences>
bench::Row measure(const std::string& name, int threads, int rounds, int steps) {
  Trainer<gpt<Shape, Context, Sequences>> trainer({.seed = 1, .threads = threads});
  bench::TorchGpt2 peer(Shape, trainer, weight_decay);
  std::vector<double> ours, theirs;
  double difference = 0;
  std::uint64_t number = 0;
  for (int round = -1; round < rounds; ++round) {  // the first is not counted
    std::vector<HostBatch> batches;
    std::vector<torch::Tensor> tokens, targets;
    for (int s = 0; s < steps; ++s) {
      batches.push_back(batch_of(Context, Sequences, number++));
      tokens.push_back(tensor(batches.back().ids[0], Context));
      targets.push_back(tensor(batches.back().ids[1], Context));
    }
    double our_loss = 0, peer_loss = 0;
    double a = milliseconds([&] {
      for (const HostBatch& b : batches) our_loss = std::get<Applied>(trainer.step(b)).loss.mean();
    });
    double b = milliseconds([&] {
      for (int s = 0; s < steps; ++s)
        peer_loss = peer.step(tokens[std::size_t(s)], targets[std::size_t(s)], lr, beta2, max_norm);
    });
    difference = std::max(difference, std::abs(our_loss - peer_loss));
    if (round < 0) continue;
    ours.push_back(a / steps);
    theirs.push_back(b / steps);
  }
  return {name,      bench::median(ours), bench::median(theirs), "LibTorch autograd, fused AdamW",
          "ms/step", difference,          difference < 1e-4,     range(ours, theirs)};
}

int number_after(int argc, char** argv, std::string_view flag, int otherwise) {
  for (int i = 1; i + 1 < argc; ++i)
    if (argv[i] == flag) return std::max(1, std::atoi(argv[i + 1]));
  return otherwise;
}

}  // namespace

int main(int argc, char** argv) {
  int threads = number_after(argc, argv, "--threads", int(std::thread::hardware_concurrency()));
  int rounds = number_after(argc, argv, "--rounds", 9);
  at::set_num_threads(threads);
  bench::Report report(argc, argv, threads);
  constexpr Gpt2Options small{
      .layers = 4, .heads = 4, .width = 64, .vocabulary = 256, .positions = 64};
  constexpr Gpt2Options wide{
      .layers = 6, .heads = 8, .width = 256, .vocabulary = 256, .positions = 128};
  report.write(
      {measure<small, 64, 8>("GPT 64 wide, 4 heads, 4 layers, 8×64", threads, rounds, 20),
       measure<wide, 128, 8>("GPT 256 wide, 8 heads, 6 layers, 8×128", threads, rounds, 3)});
}
