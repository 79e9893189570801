// SPDX-License-Identifier: Apache-2.0
// Texts of generators, and how far their logits are from those of a trainer.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "sinter/generate/generator.hpp"

namespace sinter::detail::testing {

/// A text of tokens below `vocabulary`, equal for an equal seed.
inline std::vector<std::int32_t> random_text(std::size_t length, unsigned seed, int vocabulary) {
  std::mt19937 engine(seed);
  std::vector<std::int32_t> text(length);
  for (std::int32_t& token : text) token = std::int32_t(engine() % unsigned(vocabulary));
  return text;
}

/// How far the logits of a row are from those that a trainer has for its whole text, beside the largest
/// logit. source: what an encoder reads.
inline double error_of_logits(TrainerCore& trainer, GeneratorCore& generator, int row,
                              const std::vector<std::int32_t>& text,
                              const std::vector<std::int32_t>& source = {}) {
  HostBatch batch;
  batch.starts = {0, std::int32_t(text.size())};
  if (!source.empty()) {
    batch.second_starts = {0, int(source.size())};
    batch.ids.push_back(source);
  }
  batch.ids.push_back(text);
  const Prediction whole = trainer.predict(batch);
  double worst = 0, largest = 0;
  for (int k = 0; k < generator.plan().vocabulary; ++k) {
    const double want = whole.values[std::size_t(k)];
    worst = std::max(worst, std::abs(want - generator.logits(row)[std::size_t(k)]));
    largest = std::max(largest, std::abs(want));
  }
  return worst / largest;
}

}  // namespace sinter::detail::testing
