// SPDX-License-Identifier: Apache-2.0
// The programs of ranks that own parameters, with each instruction changed (mutants.hpp).
#include "program/mutants.hpp"
#include "sinter/memory/offload.hpp"
#include "sinter/optimizer/adafactor.hpp"
#include "sinter/optimizer/muon.hpp"
#include "sinter/parallel/zero.hpp"
#include "sinter/parameters/average.hpp"

namespace sinter::detail::testing {
namespace {

using TwoEach = Batch<{.global = 4, .micro = 1}>;  // two micro-batches on each of two ranks
template <int Stage>
using Owners = Zero<{.stage = Stage, .bucket_bytes = 500, .ranks = 2}>;

TEST_CASE("mutants of programs of ranks that own parameters are rejected or harmless") {
  test_mutants<Gpt2<tiny>, TwoEach, Owners<1>, Muon<>>("GPT-2, Zero, Muon, two micro-batches",
                                                       {5, 3, 6, 2});
  test_mutants<Gpt2<tiny>, TwoEach, Owners<2>, Muon<>, Bf16, Average<>>(
      "GPT-2, Zero 2, Muon, Bf16, cast, average", {5, 3, 6, 2});
  test_mutants<Gpt2<tiny>, TwoEach, Owners<3>, Adafactor<>, Bf16, Offload<{.bucket_bytes = 1}>>(
      "GPT-2, Zero 3, Adafactor, Bf16, Offload", {5, 3, 6, 2});
}

}  // namespace
}  // namespace sinter::detail::testing
