// SPDX-License-Identifier: Apache-2.0
// What the processes of ranks map and touch of memory, by what the system says of them, against the formulae of
// docs/ranks.md. What LibTorch takes where it multiplies is beside them.
#include <sstream>

#include "sinter/kernels/matmul.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/optimizer/adamw.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/parallel/split_batch.hpp"
#include "sinter/parallel/zero.hpp"
#include "sinter/trainer/trainer.hpp"
#include "support/batches.hpp"
#include "support/process_memory.hpp"
#include "support/rank_processes.hpp"
#include "support/recipes.hpp"

namespace sinter::detail::testing {
namespace {

constexpr int width = 1024, matrices = 8, ranks = 4;
/// Matrices of 4 MiB.
template <class Parallel>
struct Mode : Made<Mlp<{.in = 8, .hidden = width, .out = 1, .layers = matrices + 2}>, UpTo<1>,
                   AdamW<>, Batch<{.global = 8, .micro = 2}>, Parallel> {};
using Whole = Mode<Ddp<{.bucket_bytes = 1, .ranks = ranks}>>;
template <int Stage>
using Split = Mode<Zero<{.stage = Stage, .bucket_bytes = 1, .ranks = ranks}>>;

/// Multiplies as the model does, so that what LibTorch takes where it multiplies is taken. (Nothing is allocated
/// here: the allocator keeps more of what is freed after it has freed as much once.)
void multiply_once() {
  kernel::Stream stream(1);
  static float rows[8 * width], matrix[width * width], result[8 * width], gradient[width * width];
  const kernel::Tensor<const float> x(rows, 8, width), w(matrix, width, width);
  kernel::matmul(stream, x, w, kernel::Tensor(result, 8, width));
  kernel::matmul(stream, x, transposed(w), kernel::Tensor(result, 8, width));
  kernel::matmul(stream, transposed(x), x, kernel::Tensor(gradient, width, width));
}

/// Bytes that training takes in each process, of each parameter.
template <class R>
std::vector<Bytes> taken() {
  RankProcesses processes(ranks, [](const World& world, const RankProcesses::Say&) {
    const HostBatch batch = regression_batch(std::vector(8, 1), 8, 1, 1);
    multiply_once();
    const Bytes before = bytes_now();
    Trainer<R> trainer({.seed = 1, .threads = 1, .world = world});
    for (int step = 0; step < 2; ++step) (void)trainer.step(batch);
    const Bytes after = bytes_now();
    const double parameters = double(Plan<R>::parameters);
    std::ostringstream text;
    text << (after.mapped - before.mapped) / parameters << " "
         << (after.touched - before.touched) / parameters;
    return text.str();
  });
  std::vector<Bytes> all;
  for (const std::string& said : processes.results()) {
    std::istringstream text(said);
    all.emplace_back();
    REQUIRE_MESSAGE((text >> all.back().mapped >> all.back().touched), said);
  }
  return all;
}

// A large page that is used in part is taken as a whole.
constexpr double large_page = double(2 << 20) / (matrices * width * width);
// Activations, and what the allocator keeps; and the stack of the thread that transfers run on.
constexpr double other_touched = .1 + large_page, stack = 1.1;

/// Checks the bytes of a parameter against a formula. `whole`: of what comes and goes, for which there may be room
/// among the activations.
void check(const std::string& name, const Bytes& rank, double formula, double whole = 0) {
  MESSAGE(name << ": " << rank.touched << " bytes a parameter are touched, " << rank.mapped
               << " are mapped, the formula is " << formula << " + " << whole);
  CHECK(rank.touched > formula);
  CHECK(rank.touched < formula + whole + other_touched);
  CHECK(rank.mapped > formula);
  CHECK(rank.mapped < formula + whole + other_touched + stack);
}
template <class R>
void check_all(const std::string& name, double formula, double whole = 0) {
  for (const Bytes& rank : taken<R>()) check(name, rank, formula, whole);
}

TEST_CASE("the memory of each process is that of the formulae") {
  constexpr double n = ranks, matrix = 4. / matrices;
  check_all<Whole>("Ddp", 16);
  check_all<Split<1>>("Zero, stage 1", 8 + 8 / n);
  check_all<Split<2>>("Zero, stage 2", 4 + 12 / n, 2 * matrix);
  // Weights and gradients of two units each, and what it costs to have places for all of them in one arena.
  check_all<Split<3>>("Zero, stage 3", 16 / n, (2 + 2 + 1) * matrix);
}

TEST_CASE("with SplitBatch the root alone has state") {
  const std::vector<Bytes> all = taken<Mode<SplitBatch<{.ranks = ranks}>>>();
  for (int r = 0; r < ranks; ++r) {
    const Bytes& rank = all[std::size_t(r)];
    MESSAGE("SplitBatch, rank " << r << ": " << rank.touched << " bytes a parameter are touched");
    const double formula = r == 0 ? 16 : 8;
    CHECK(rank.touched > formula);
    CHECK(rank.touched < formula + other_touched);
  }
}

}  // namespace
}  // namespace sinter::detail::testing
