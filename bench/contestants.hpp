// SPDX-License-Identifier: Apache-2.0
// The contestants of bench/step.cpp and bench/busy.cpp that are written in C++: recipes in fp32
// and bf16, their matmuls alone, and LibTorch's autograd.
#pragma once
#include <functional>

#include "baseline/torch_gpt2.hpp"
#include "contest.hpp"
#include "packed_model.hpp"
#include "recipes.hpp"
#include "sinter/kernels/matmul.hpp"
#include "sinter/kernels/matmul_rate.hpp"

namespace sinter::detail::bench {

constexpr double lr = 1e-3, weight_decay = 0.1, beta2 = 0.999, max_norm = 1.0;

template <class Model, Gpt2Options Shape, class Precision>
struct gpt : Recipe<Model, Precision, Tokens<Shape.positions, Shape.vocabulary>,
                    AdamW<{.lr = lr, .weight_decay = weight_decay}>, ClipNorm<{.max = max_norm}>,
                    Batch<{.global = 8, .micro = 8}>> {};
constexpr int sequences = 8;

/// A row of the table.
struct Contest {
  std::string name;
  Gpt2Options shape;
  int steps;    // of a round
  bool packed;  // sequences have 16 to context tokens, and attention sees the whole of them
  double flops_per_token;
  TrainerCore (*trainer)(TrainerSettings);
  TrainerCore (*half_trainer)(TrainerSettings);
};
template <Gpt2Options Shape, class Model = Gpt2<Shape>>
Contest work(std::string name, int steps) {
  using Full = gpt<Model, Shape, Fp32>;
  return {name,
          Shape,
          steps,
          !std::is_same_v<Model, Gpt2<Shape>>,
          double(Plan<Full>::flops_per_token),
          make_trainer<Full>,
          make_trainer<gpt<Model, Shape, Bf16>>};
}
inline constexpr Gpt2Options packed_shape{
    .layers = 4, .heads = 8, .width = 256, .vocabulary = 256, .positions = 256};
inline const std::vector<Contest>& works() {
  static const std::vector<Contest> all{
      work<{.layers = 4, .heads = 4, .width = 64, .vocabulary = 256, .positions = 64}>(
          "GPT 64 wide, 4 heads, 4 layers, 8×64, bytes", 20),
      work<{.layers = 6, .heads = 8, .width = 256, .vocabulary = 256, .positions = 128}>(
          "GPT 256 wide, 8 heads, 6 layers, 8×128, bytes", 3),
      work<{.layers = 6, .heads = 8, .width = 512, .vocabulary = 4096, .positions = 128}>(
          "GPT 512 wide, 8 heads, 6 layers, 8×128, vocabulary 4096", 1),
      work<packed_shape, PackedModel<packed_shape>>(
          "full attention, 256 wide, 8 heads, 4 layers, 8 sequences of 16-256", 3)};
  return all;
}

inline HostBatch batch_of(const Contest& contest, std::uint64_t step) {
  HostBatch batch;
  for (int s = 0; s < sequences; ++s) {
    const std::uint64_t state = kernel::mix(step * 1000 + std::uint64_t(s));
    const int length = contest.packed ? 16 + int((state >> 32) % 241) : contest.shape.positions;
    add_sequence(batch, state, length, contest.shape.vocabulary);
  }
  return batch;
}

inline void contest_with(TrainerCore trainer, const Contest& w) {
  std::uint64_t number = 0;
  serve_rounds(w.steps,
               [&] { return std::get<Applied>(trainer.step(batch_of(w, number++))).loss.mean(); });
}
inline void contest_with_ours(const Contest& w, int threads) {
  contest_with(w.trainer({.seed = 1, .threads = threads}), w);
}
inline void contest_with_half(const Contest& w, int threads) {
  contest_with(w.half_trainer({.seed = 1, .threads = threads}), w);
}
inline void contest_with_libtorch(const Contest& w, int threads) {
  at::set_num_threads(threads);
  TorchGpt2 peer(w.shape, w.trainer({.seed = 1, .threads = 1}), weight_decay);
  std::uint64_t number = 0;
  serve_rounds(w.steps, [&] {
    HostBatch batch = batch_of(w, number++);
    auto tensor = [&](const std::vector<std::int32_t>& ids) {
      return torch::tensor(ids, torch::kInt64).view({-1, w.shape.positions});
    };
    return peer.step(tensor(batch.ids[0]), tensor(batch.ids[1]), lr, beta2, max_norm);
  });
}

/// The matmuls of a step alone, on buffers of the same sizes.
class Matmuls {
  using Floats = std::vector<float>;
  struct Product {
    int in, out;
    Floats x, w, dy, y, dx, dw;
  };
  kernel::Stream stream;
  const int rows;
  std::vector<Product> products;

  void add(int in, int out) {
    Floats x(std::size_t(rows * in), .01f), w(std::size_t(in * out), .02f);
    Floats y(std::size_t(rows * out), .03f);
    products.push_back({in, out, x, w, y, y, x, w});
  }
  static kernel::Tensor<float> tensor(Floats& values, int r, int c) {
    return {values.data(), r, c};
  }

 public:
  Matmuls(const Gpt2Options& shape, int threads)
      : stream(threads), rows(sequences * shape.positions) {
    for (int l = 0, w = shape.width; l < shape.layers; ++l)
      add(w, 3 * w), add(w, w), add(w, 4 * w), add(4 * w, w);
    add(shape.width, shape.vocabulary);
  }
  void run() {
    for (Product& p : products)
      kernel::matmul(stream, tensor(p.x, rows, p.in), tensor(p.w, p.in, p.out),
                     tensor(p.y, rows, p.out));
    for (std::size_t k = products.size(); k-- > 0;) {
      Product& p = products[k];
      auto dy = tensor(p.dy, rows, p.out);
      kernel::matmul(stream, dy, transposed(tensor(p.w, p.in, p.out)), tensor(p.dx, rows, p.in));
      kernel::matmul(stream, transposed(tensor(p.x, rows, p.in)), dy, tensor(p.dw, p.in, p.out));
    }
  }
};
inline void contest_with_matmuls(const Contest& w, int threads) {
  Matmuls matmuls(w.shape, threads);
  serve_rounds(w.steps, [&] { return matmuls.run(), 0.; });
}

/// Writes what peers in Python read, for their first step and as many `rounds`, into a folder that
/// it makes.
inline void write_job(const Contest& w, const Settings& settings,
                      const std::filesystem::path& folder, int rounds) {
  std::filesystem::create_directories(folder);
  w.trainer({.seed = 1, .threads = 1}).export_to(folder / "weights");
  nlohmann::json job{
      {"layers", w.shape.layers}, {"heads", w.shape.heads},       {"width", w.shape.width},
      {"sequences", sequences},   {"context", w.shape.positions}, {"lr", lr},
      {"beta2", beta2},           {"weight_decay", weight_decay}, {"max_norm", max_norm},
      {"steps", w.steps},         {"threads", settings.threads},  {"packed", w.packed}};
  std::ofstream(folder / "job.json") << job;
  std::ofstream ids(folder / "ids.bin", std::ios::binary),
      targets(folder / "targets.bin", std::ios::binary),
      lengths(folder / "lengths.bin", std::ios::binary);
  for (int b = 0; b < 1 + rounds * w.steps; ++b) {
    HostBatch batch = batch_of(w, std::uint64_t(b));
    append(ids, batch.ids[0]);
    append(targets, batch.ids[1]);
    append(lengths, lengths_of(batch.starts));
  }
}

/// Runs the contestant that the command line names: --contestant WORD NUMBER THREADS.
inline void contest(std::string_view word, const Contest& w, int threads) {
  const std::map<std::string_view, void (*)(const Contest&, int)> all{
      {"fp32", contest_with_ours},
      {"bf16", contest_with_half},
      {"matmuls", contest_with_matmuls},
      {"libtorch", contest_with_libtorch}};
  all.at(word)(w, threads);
}
/// main() of a bench of these contestants: runs one of them, or the bench.
inline int main_of_contest(int argc, char** argv, int (*run_bench)(int, char**)) {
  if (argc != 5 || std::string_view(argv[1]) != "--contestant")
    return main_of(argc, argv, run_bench);
  return main_of(argc, argv, [](int, char** words) {
    obey_avx2();
    contest(words[2], works().at(std::stoul(words[3])), std::stoi(words[4]));
    return 0;
  });
}

}  // namespace sinter::detail::bench
