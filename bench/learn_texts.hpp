// SPDX-License-Identifier: Apache-2.0
// What the models of bench/learn.cpp read: pieces of a text, whose tokens are bytes.
#pragma once
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "sinter/data/host_batch.hpp"
#include "sinter/error.hpp"

namespace sinter::detail::bench::learn {

constexpr int sequences = 16;               // of a batch
constexpr int shortest = 16, longest = 64;  // bytes of a piece
constexpr int held_out_batches = 16;
/// Ids beside those of bytes.
constexpr int mask = 256, first = 256, end = 257, pad = 258;

/// Draws pieces of a text. Equal seeds draw equal ones.
class Pieces {
  std::string_view text;
  std::mt19937_64 random;

 public:
  Pieces(std::string_view text_, std::uint64_t seed) : text(text_), random(seed) {}

  int below(int bound) { return int(random() % std::uint64_t(bound)); }
  /// A number of bytes.
  int length() { return shortest + below(longest - shortest + 1); }
  /// So many bytes from a random place, one after the other.
  std::vector<std::int32_t> bytes(int count) {
    const int at = below(int(text.size()) - count + 1);
    std::vector<std::int32_t> ids;
    for (const char c : text.substr(std::size_t(at), std::size_t(count)))
      ids.push_back(static_cast<unsigned char>(c));
    return ids;
  }
};

/// Adds a piece of which each byte is predicted from those before it.
inline void add_next_bytes(HostBatch& batch, Pieces& pieces) {
  const auto ids = pieces.bytes(pieces.length() + 1);
  batch.ids.resize(2);
  batch.ids[0].insert(batch.ids[0].end(), ids.begin(), ids.end() - 1);
  batch.ids[1].insert(batch.ids[1].end(), ids.begin() + 1, ids.end());
  batch.starts.push_back(std::int32_t(batch.ids[0].size()));
}

/// Adds a piece of which some bytes are predicted: 15 %, of which 80 % are shown as a mask, 10 % as
/// another byte and 10 % as they are.
inline void add_hidden_bytes(HostBatch& batch, Pieces& pieces) {
  batch.ids.resize(2);
  for (const std::int32_t byte : pieces.bytes(pieces.length())) {
    const bool predicted = pieces.below(100) < 15;
    const int way = pieces.below(10), other = pieces.below(256);
    batch.ids[0].push_back(!predicted || way == 9 ? byte : way == 8 ? other : mask);
    batch.ids[1].push_back(predicted ? byte : -1);
  }
  batch.starts.push_back(std::int32_t(batch.ids[0].size()));
}

/// Adds a piece that is read, and one behind it that is written.
inline void add_reply(HostBatch& batch, Pieces& pieces) {
  const int read = pieces.length(), written = pieces.length();
  const auto ids = pieces.bytes(read + written);
  const auto reply = ids.begin() + read;
  batch.ids.resize(3);
  batch.ids[0].insert(batch.ids[0].end(), ids.begin(), reply);
  batch.ids[1].push_back(first);
  batch.ids[1].insert(batch.ids[1].end(), reply, ids.end());
  batch.ids[2].insert(batch.ids[2].end(), reply, ids.end());
  batch.ids[2].push_back(end);
  if (batch.second_starts.empty()) batch.second_starts.push_back(0);
  batch.second_starts.push_back(std::int32_t(batch.ids[0].size()));
  batch.starts.push_back(std::int32_t(batch.ids[1].size()));
}

using Add = void (*)(HostBatch&, Pieces&);

/// A text whose last tenth is held out.
struct Text {
  std::string training, held_out;

  /// throws    Error if it is too short
  explicit Text(const std::string& whole) {
    constexpr std::size_t least = 20 * (longest + 1);
    if (whole.size() < least)
      throw Error("The text has " + std::to_string(whole.size()) + " bytes, and needs " +
                  std::to_string(least) +
                  ", of which the last tenth is held out. Name a longer "
                  "one: --data FILE.");
    held_out = whole.substr(whole.size() - whole.size() / 10);
    training = whole.substr(0, whole.size() - held_out.size());
  }
};

/// The batches of a run: those of its steps, in an order of the run's own, and those held out, which
/// all runs share.
inline std::vector<HostBatch> batches_of(const Text& text, Add add, int steps, int run) {
  Pieces training(text.training, std::uint64_t(run)), held_out(text.held_out, 0);
  std::vector<HostBatch> batches(std::size_t(steps + held_out_batches));
  for (std::size_t b = 0; b < batches.size(); ++b)
    for (int s = 0; s < sequences; ++s)
      add(batches[b], b < std::size_t(steps) ? training : held_out);
  return batches;
}

}  // namespace sinter::detail::bench::learn
