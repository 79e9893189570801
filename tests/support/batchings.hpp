// SPDX-License-Identifier: Apache-2.0
// All ways in which examples become batches.
#pragma once
#include <vector>

#include "sinter/batching/dynamic_batch.hpp"
#include "sinter/batching/length_grouped.hpp"
#include "sinter/batching/packed.hpp"
#include "sinter/batching/padded.hpp"

namespace sinter::testing {

/// All batchings, for batches of at most so many examples.
inline std::vector<Batching> all_batchings(int sequences) {
  std::vector<Batching> all{
      Packed::batching(sequences), Padded::batching(sequences), LengthGrouped::batching(sequences),
      DynamicBatch<>::batching({.mode = DynamicMode::batchsort, .tokens = 700}, sequences),
      DynamicBatch<>::batching({.mode = DynamicMode::batchsort, .tokens = 1}, sequences)};
  for (std::size_t k : {1, 2, 3}) all.emplace_back(Batching(all[k])).padded_together = 5;
  return all;
}

}  // namespace sinter::testing
