// SPDX-License-Identifier: Apache-2.0
// All ways in which examples become batches, and random examples for them.
#pragma once
#include <random>
#include <string>
#include <vector>

#include "sinter/batching/dynamic_batch.hpp"
#include "sinter/batching/length_grouped.hpp"
#include "sinter/batching/packed.hpp"
#include "sinter/batching/padded.hpp"
#include "sinter/data/example_source.hpp"

namespace sinter::detail::testing {

/// All batchings, for batches of at most so many examples.
inline std::vector<Batching> all_batchings(int sequences) {
  std::vector<Batching> all{
      Packed::batching(sequences), Padded::batching(sequences), LengthGrouped::batching(sequences),
      DynamicBatch<>::batching({.mode = DynamicMode::batchsort, .tokens = 700}, sequences),
      DynamicBatch<>::batching({.mode = DynamicMode::batchsort, .tokens = 1}, sequences)};
  for (std::size_t k : {1, 2, 3}) all.emplace_back(Batching(all[k])).padded_together = 5;
  return all;
}

/// Batches of at most so many of all examples of a set.
inline ExampleBatches source_of(const ExampleList& set, const Batching& batching, int sequences,
                                int least = 1) {
  return {set,
          {0, set.size()},
          {.sequences = sequences, .least = least, .seed = 1, .batching = batching}};
}

/// Adds dialogues of up to six turns of random letters to a set that takes dialogues.
template <class Set>
Set with_random_dialogues(Set set, std::uint64_t seed, int count) {
  std::mt19937_64 random(seed);
  for (int d = 0; d < count; ++d) {
    std::vector<std::string> turns;
    for (std::uint64_t left = 1 + random() % 6; left > 0; --left) {
      std::string& turn = turns.emplace_back();
      for (std::uint64_t letters = random() % 30; letters > 0; --letters)
        turn += char('a' + random() % 26);
    }
    set.add_dialogue(turns);
  }
  return set;
}

}  // namespace sinter::detail::testing
