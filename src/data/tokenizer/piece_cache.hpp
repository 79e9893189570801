// SPDX-License-Identifier: Apache-2.0
// Remembers the tokens of pieces, most of which are words that come again.
#pragma once
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace sinter::detail {

/// A piece of up to 15 bytes as two numbers, the last byte of which is its length.
struct ShortPiece {
  std::uint64_t low = 0, high = 0;

  static constexpr std::size_t max_bytes = 15;

  ShortPiece() = default;
  ShortPiece(std::uint64_t low_, std::uint64_t high_) : low(low_), high(high_) {}

  /// `readable` bytes from `at` on belong to the text; reading 16 of them at once is fast.
  ShortPiece(const char* at, std::size_t bytes, std::size_t readable) {
    char copy[16]{};
    if (readable < sizeof copy) {
      std::memcpy(copy, at, bytes);
      at = copy;
    }
    std::memcpy(&low, at, 8);
    std::memcpy(&high, at + 8, 8);
    low &= mask_of(bytes);
    high = (high & (bytes > 8 ? mask_of(bytes - 8) : 0)) | std::uint64_t(bytes) << 56;
  }
  bool operator==(const ShortPiece&) const = default;
  std::uint64_t hash() const {
    const auto product =
        static_cast<unsigned __int128>(low ^ 0x9e3779b97f4a7c15u) * (high ^ 0xd6e8feb86659fd93u);
    return std::uint64_t(product) ^ std::uint64_t(product >> 64);
  }

 private:
  static std::uint64_t mask_of(std::size_t bytes) {
    return bytes >= 8 ? ~std::uint64_t(0) : (std::uint64_t(1) << 8 * bytes) - 1;
  }
};

/// A table in which a new piece takes the place of one that was there: of short ones, of the older of
/// two, which lie in one line of the processor's cache.
class PieceCache {
 public:
  static constexpr std::size_t short_tokens = 3, long_tokens = 15, long_bytes = 64;
  struct Short {
    std::uint64_t low = 0, high = 0;  // no piece is empty
    std::array<std::int32_t, short_tokens> tokens{};
    std::uint32_t count = 0;
    bool holds(const ShortPiece& piece) const { return low == piece.low && high == piece.high; }
  };
  struct Long {
    std::uint8_t bytes = 0, count = 0;
    std::array<char, long_bytes> text{};
    std::array<std::int32_t, long_tokens> tokens{};
    bool holds(std::string_view piece) const {
      return std::string_view(text.data(), bytes) == piece;
    }
  };

 private:
  struct alignas(64) TwoShort {
    Short newer, older;
  };
  std::vector<TwoShort> shorts{std::size_t(1) << 16};
  std::vector<Long> longs{std::size_t(1) << 12};

 public:
  /// Begins to fetch what find() looks at.
  void prefetch(const ShortPiece& piece) const { __builtin_prefetch(&both(piece)); }
  /// nullptr if the piece is not there.
  const Short* find(const ShortPiece& piece) const {
    const TwoShort& two = both(piece);
    if (two.newer.holds(piece)) return &two.newer;
    return two.older.holds(piece) ? &two.older : nullptr;
  }
  void insert(const Short& fresh) {
    TwoShort& two = shorts[index(ShortPiece(fresh.low, fresh.high))];
    two.older = two.newer;
    two.newer = fresh;
  }
  Long& at(std::string_view piece) {
    return longs[std::hash<std::string_view>()(piece) & (longs.size() - 1)];
  }

 private:
  std::size_t index(const ShortPiece& piece) const { return piece.hash() & (shorts.size() - 1); }
  const TwoShort& both(const ShortPiece& piece) const { return shorts[index(piece)]; }
};

}  // namespace sinter::detail
