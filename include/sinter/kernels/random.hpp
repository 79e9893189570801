// SPDX-License-Identifier: Apache-2.0
// Random numbers as pure functions of a key and an index.
#pragma once
#include <cstdint>

#include "sinter/hardware/stream.hpp"

namespace sinter::kernel {

/// The difference of successive states of SplitMix64 (Steele, Lea & Flood 2014).
inline constexpr std::uint64_t mix_step = 0x9e3779b97f4a7c15;

/// SplitMix64's finaliser: a bijection of 64 bits in which every bit depends on every bit. 0 is
/// mapped to 0.
constexpr std::uint64_t mix_bits(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// SplitMix64: a bijection whose output looks random. Chaining it makes keys, such as
/// mix(mix(mix(seed) + step) + layer).
constexpr std::uint64_t mix(std::uint64_t z) { return mix_bits(z + mix_step); }

/// data[i] = a number drawn from the normal distribution, a pure function of key and i (Box &
/// Muller 1958, computed in double and then rounded to T; |value - mean| < 9 deviations).
template <class T>
void fill_normal(T* data, std::int64_t n, double mean, double deviation, std::uint64_t key);

/// fill_normal() with all threads of the stream, which gives the same values.
template <class T>
void fill_normal(Stream& stream, T* data, std::int64_t n, double mean, double deviation,
                 std::uint64_t key);

}  // namespace sinter::kernel
