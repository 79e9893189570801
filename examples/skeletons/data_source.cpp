// SPDX-License-Identifier: Apache-2.0
// A data source to copy: an endless sequence of rows made by a formula. docs/add_a_data_source.md
// explains each member. This file compiles, runs, and checks that restore() continues as if the
// source had never stopped.
#include <cmath>
#include <cstdio>
#include <random>
#include <sinter/sinter.hpp>

namespace acme {
using namespace sinter;

/// Rows x, sin(x) + noise, with x in [-3, 3): values[0] has one number per row, values[1] its
/// target. Every row is a sequence of its own.
class NoisySine {
 public:
  /// rows: rows of a batch, at least 1.
  NoisySine(int rows, std::uint64_t seed) : rows(rows) {
    // What a checkpoint stores about the source: everything that decides which items come in which
    // order. `order` names the way of drawing, `data_hash` the content. An endless formula has no
    // size, and its content is only the formula's version.
    now.order = "noisy sine";
    now.seed = seed;
    now.data_hash = 1;
  }

  /// Overwrites the batch and reuses its memory. A source that ends returns false at its end, and
  /// leaves an empty batch.
  void next(HostBatch& batch) {
    draw(drawn);
    fill(drawn, batch);
  }

  /// The first half of next() (optional, together with fill()): chooses the items of the batch, and
  /// moves on. Returns false at the end.
  bool draw(BatchDraw& draw) {
    draw.items.clear();
    for (int r = 0; r < rows; ++r) draw.items.push_back(std::int64_t(now.items++));
    now.position = now.items;
    return true;
  }

  /// The second half, called by several threads at once: makes the rows of the part that is needed.
  void fill(const BatchDraw& draw, HostBatch& batch) const {
    batch.ids.clear();
    batch.values.resize(2);
    batch.clear();
    batch.part = draw.part;
    const int sequences = int(draw.items.size());
    for (int s = 0; s < sequences; ++s) batch.starts.push_back(s + 1);
    for (int s = draw.part.begin(sequences); s < draw.part.end(sequences); ++s)
      append(batch, std::uint64_t(draw.items[std::size_t(s)]));
  }

  /// The source's position: after the batch that next() gave last.
  SamplerState state() const { return now; }

  /// Moves to a saved position. Throws, with the difference, if the state is of other data.
  void restore(const SamplerState& saved) {
    require_same_data(saved, now);
    now = saved;
  }

 private:
  /// An item depends only on its number and the seed, so nothing is replayed after a restore.
  void append(HostBatch& batch, std::uint64_t item) const {
    std::mt19937_64 engine(now.seed * 1'000'003 + item);  // the same numbers on every machine
    auto uniform = [&] { return double(engine() >> 11) * 0x1p-53; };
    const double x = 6 * uniform() - 3, noise = 0.1 * (uniform() - 0.5);
    batch.values[0].push_back(float(x));
    batch.values[1].push_back(float(std::sin(x) + noise));
  }

  int rows;
  SamplerState now;
  BatchDraw drawn;  // used by next()
};

// DataSource: all members that the loop needs; the compiler names a missing one. DividedSource:
// what lets several threads make batches, and processes make only their part.
static_assert(DataSource<NoisySine> && DividedSource<NoisySine>);

}  // namespace acme

struct curve
    : sinter::Recipe<sinter::Mlp<{.in = 1, .hidden = 32, .out = 1, .layers = 3}>,
                     sinter::AdamW<{.lr = 3e-3}>, sinter::Batch<{.global = 64, .micro = 64}>> {};

int main() {
  // The contract on which resuming relies.
  acme::NoisySine source(64, 7), again(64, 7);
  sinter::HostBatch batch, same;
  for (int i = 0; i < 5; ++i) source.next(batch);
  const sinter::SamplerState stands = source.state();
  source.next(batch);
  again.restore(stands);
  again.next(same);
  if (batch.values != same.values || source.state() != again.state())
    return std::puts("restore() does not continue where state() was taken."), 1;

  // The loop reads ahead in its own thread.
  sinter::Trainer<curve> trainer;
  sinter::Loop loop(trainer, acme::NoisySine(64, 7));
  loop.run({.steps = 600});
  const double loss = loop.state().last.loss;
  std::printf("loss %.4f after %lld steps\n", loss, static_cast<long long>(trainer.steps()));
  return loss < 0.02 ? 0 : 1;
}
