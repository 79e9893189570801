// SPDX-License-Identifier: Apache-2.0
// A data source that turns text into tokens when a batch is made, as a loader without token files.
#pragma once
#include <algorithm>
#include <string_view>
#include <vector>

#include "sinter/data/permutation.hpp"
#include "sinter/data/source.hpp"
#include "sinter/data/tokenizer/tokenizer.hpp"

namespace sinter::detail::bench {

/// Cuts a text behind newlines into pieces of at least so many bytes; the rest is left out.
inline std::vector<std::string_view> pieces_of(std::string_view text, std::size_t bytes) {
  std::vector<std::string_view> pieces;
  while (text.size() > bytes) {
    const std::size_t end = text.find('\n', bytes - 1);
    if (end == text.npos) break;
    pieces.push_back(text.substr(0, end + 1));
    text.remove_prefix(end + 1);
  }
  return pieces;
}

/// Each item is a piece, of which the first context + 1 tokens are taken. An epoch is all pieces in
/// an order of its own.
class TokenizedText {
  const std::vector<std::string_view>* pieces;
  const Tokenizer* tokenizer;
  std::size_t context, sequences;
  SamplerState now{.order = "shuffled pieces"};
  BatchDraw drawn;

 public:
  TokenizedText(const std::vector<std::string_view>& p, const Tokenizer& t, int context_,
                int sequences_)
      : pieces(&p),
        tokenizer(&t),
        context(std::size_t(context_)),
        sequences(std::size_t(sequences_)) {}

  bool next(HostBatch& batch) {
    draw(drawn);
    fill(drawn, batch);
    return true;
  }
  bool draw(BatchDraw& draw) {
    draw.items.clear();
    while (draw.items.size() < sequences) {
      const Permutation order(pieces->size(), Permutation::epoch_key(now.seed, now.epoch));
      draw.items.push_back(std::int64_t(order(now.position)));
      ++now.items;
      if (++now.position < pieces->size()) continue;
      now.position = 0;
      ++now.epoch;
    }
    return true;
  }
  void fill(const BatchDraw& draw, HostBatch& batch) const {
    batch.ids.resize(2);
    batch.clear();
    for (std::int64_t item : draw.items) {
      const std::vector<std::int32_t> ids = tokenizer->encode((*pieces)[std::size_t(item)]);
      const auto rows = std::ptrdiff_t(std::min(ids.size() - 1, context));
      batch.ids[0].insert(batch.ids[0].end(), ids.begin(), ids.begin() + rows);
      batch.ids[1].insert(batch.ids[1].end(), ids.begin() + 1, ids.begin() + rows + 1);
      batch.starts.push_back(std::int32_t(batch.ids[0].size()));
    }
  }
  SamplerState state() const { return now; }
  void restore(const SamplerState& state) { now = state; }
};

}  // namespace sinter::detail::bench
