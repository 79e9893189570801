// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/token_view.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "sinter/data/windows.hpp"
#include "sinter/error.hpp"

namespace sinter::detail::testing::token_view_tests {

using Tokens = std::vector<std::int32_t>;

/// A foreign store of tokens: 16-bit numbers in two shards, and a fault on demand.
struct TwoShards {
  std::vector<std::uint16_t> first, second;
  mutable int reads_until_fault = -1;
  std::int64_t size() const { return std::int64_t(first.size() + second.size()); }
  void read(std::int64_t begin, std::span<std::int32_t> out) const {
    if (reads_until_fault >= 0 && reads_until_fault-- == 0) throw FileError("a shard is gone");
    for (auto& token : out) {
      token = begin < std::int64_t(first.size()) ? first[begin] : second[begin - first.size()];
      ++begin;
    }
  }
  std::uint64_t hash() const { return 77; }
};
static_assert(TokenStore<TwoShards>);

TEST_CASE("token view: 8, 16 and 32 bits and a store of one's own read the same") {
  const std::vector<unsigned char> bytes{0, 255, 7, 128, 9};
  const std::vector<std::uint16_t> halves{0, 255, 7, 128, 9};
  const Tokens words{0, 255, 7, 128, 9};
  const TwoShards shards{{0, 255}, {7, 128, 9}};
  for (const TokenView view :
       {TokenView(bytes), TokenView(halves), TokenView(words), TokenView(shards)}) {
    CHECK(view.size() == 5);
    Tokens out(3);
    view.read(1, out);
    CHECK(out == Tokens{255, 7, 128});
  }
  CHECK(TokenView(bytes).unit() == "bytes");
  CHECK(TokenView(words).unit() == "tokens");
  auto other = bytes;
  CHECK(TokenView(other).hash() == TokenView(bytes).hash());
  other[4] ^= 1;
  CHECK(TokenView(other).hash() != TokenView(bytes).hash());
  CHECK(TokenView(shards).hash() == 77);
}

TEST_CASE("token view: a store that fails leaves the windows where they were") {
  TwoShards shards{{}, {}};
  for (int i = 0; i < 40; ++i) (i < 13 ? shards.first : shards.second).push_back(std::uint16_t(i));
  ShuffledWindows source{TokenView(shards), {.context = 3, .sequences = 8}, 5};
  HostBatch batch, expected;
  source.next(batch);
  ShuffledWindows undisturbed = source;
  const auto before = source.state();
  shards.reads_until_fault = 11;  // after the epoch's end in this batch
  CHECK_THROWS_AS(source.next(batch), FileError);
  CHECK(source.state() == before);
  for (int i = 0; i < 5; ++i) {
    source.next(batch);
    undisturbed.next(expected);
    CHECK(batch.ids == expected.ids);
    CHECK(source.state() == undisturbed.state());
  }
}

}  // namespace sinter::detail::testing::token_view_tests
