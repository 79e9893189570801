// SPDX-License-Identifier: Apache-2.0
// Mutants of four programs on the emulated device; tests/program/mutation.cpp has those of all, on the
// CPU.
#include "program/mutants.hpp"
#include "sinter/memory/checkpoint.hpp"
#include "sinter/memory/offload.hpp"
#include "sinter/parameters/average.hpp"

namespace sinter::detail::testing {
namespace {

using Once = Batch<{.global = 2, .micro = 2}>;
using Twice = Batch<{.global = 2, .micro = 1}>;

TEST_CASE("a wrong program computes something else on the device") {
  CHECK(Mutants(Made<Letters, Gpt2<tiny>, Twice>{}, letters({5, 3})).notices_a_wrong_program());
}

TEST_CASE("mutants on the device are rejected or compute the same bytes") {
  test_mutants<Gpt2<tiny>, Twice>("GPT-2, two micro-batches, on the device", {5, 3});
  test_mutants<Llama<tiny_llama>, Once, Bf16, Average<>, Checkpoint<{.policy = selective}>>(
      "Llama, Bf16, average, selective, on the device", {5, 3});
  test_mutants<Gpt2<tiny>, Once, Bf16, Offload<{.to = OffloadTo::host, .bucket_bytes = 2000}>>(
      "GPT-2, Bf16, Offload, on the device", {5, 3});
  test_mutants<Gpt2<tiny>, Once,
               Offload<{.to = OffloadTo::host, .weights = true, .bucket_bytes = 2000}>>(
      "GPT-2, Offload of weights, on the device", {5, 3});
}

}  // namespace
}  // namespace sinter::detail::testing
