// SPDX-License-Identifier: Apache-2.0
// Ranks whose parts of a batch differ, down to none, have as many micro-batches, and the step is that of one
// rank.
#include "sinter/parallel/ddp.hpp"
#include "sinter/parallel/split_batch.hpp"
#include "sinter/precision/fp64.hpp"
#include "support/trainers.hpp"
#include "unit/proof/telling.hpp"

namespace sinter::detail::testing::uneven_tests {

static_assert(has_thread_ranks);
const TrainerSettings settings{.seed = 3, .threads = 1};
constexpr int most = 12;

template <class Model, int Micro, class Precision, class... Policies>
using Split = Made<Letters, Model, Precision, Batch<{.global = most, .micro = Micro}>, Policies...>;

HostBatch sequences(int count) {
  std::vector<int> lengths;
  for (int s = 0; s < count; ++s) lengths.push_back(4 + s % 3);
  return letters(lengths, count);
}

template <class Alone, class Ranked>
void check_gradients(int count, double bound) {
  Trainer<Alone> alone(settings);
  Trainer<Ranked> ranked(settings);
  const Applied want = applied(alone, sequences(count)), got = applied(ranked, sequences(count));
  CHECK(relative_difference(got.loss.sum, want.loss.sum) <= bound);
  CHECK(relative_difference(got.gradient_norm, want.gradient_norm) <= bound);
  for (const auto& [name, gradient] : gradients_of(alone)) {
    CAPTURE(name);
    CHECK(relative_difference(ranked.gradient(name), gradient) <= bound);
  }
}

/// A sum waits for all ranks in each micro-batch: with other numbers of these it would hang, or add up what
/// does not belong together.
template <int Ranks, int Micro>
void check_in_the_loop() {
  using Alone = Split<Gpt2<tiny>, Micro, Fp64>;
  using Ranked = Split<Gpt2<tiny>, Micro, Fp64, Ddp<{.bucket_bytes = 500, .ranks = Ranks}>>;
  using Told = Split<Gpt2<tiny>, Micro, Fp32, Ddp<{.bucket_bytes = 500, .ranks = Ranks}>,
                     Telling<Wrong::nothing>>;
  static_assert(ready<Ranked>() && ready<Told>());
  Trainer<Told> telling(settings);
  for (int count = 1; count <= 2 * Ranks + 1; ++count) {
    CAPTURE(Ranks);
    CAPTURE(Micro);
    CAPTURE(count);
    check_gradients<Alone, Ranked>(count,
                                   count == 1 ? 0 : 1e-13);  // one is summed with zeros alone
    told = told_wrongly = 0;
    applied(telling, sequences(count));
    const int largest = (count + Ranks - 1) / Ranks, iterations = (largest + Micro - 1) / Micro;
    CHECK(told == Ranks * iterations);
    CHECK(told_wrongly == 0);
  }
}
TEST_CASE("a sum in the loop is right with parts of any size") {
  check_in_the_loop<2, 1>();
  check_in_the_loop<2, 2>();
  check_in_the_loop<3, 2>();
  check_in_the_loop<4, 1>();
}

TEST_CASE("ranks without sequences leave gradients right, on models of all kinds") {
  for (int count : {1, 2}) {
    CAPTURE(count);
    const double bound = count == 1 ? 0 : 1e-13;
    check_gradients<Split<Fused, 1, Fp64>, Split<Fused, 1, Fp64, Ddp<{.ranks = 4}>>>(count, bound);
    check_gradients<Split<Gated, 1, Fp64>, Split<Gated, 1, Fp64, Ddp<{.ranks = 4}>>>(count, bound);
    check_gradients<Split<Llama<tiny_llama>, 1, Fp64>,
                    Split<Llama<tiny_llama>, 1, Fp64, Ddp<{.ranks = 4}>>>(count, bound);
  }
}

TEST_CASE("gradients of uneven ranks are right if the loop ends with a backward") {
  for (int count = 1; count <= 6; ++count) {
    CAPTURE(count);
    check_gradients<Split<Gpt2<tiny>, 1, Fp64>,
                    Split<Gpt2<tiny>, 1, Fp64, SplitBatch<{.ranks = 4}>>>(count,
                                                                          count == 1 ? 0 : 1e-13);
  }
}

}  // namespace sinter::detail::testing::uneven_tests
