// SPDX-License-Identifier: Apache-2.0
// Float16's own arithmetic, in scalars and in vectors; the kernels: kernels_narrow.cpp.
#include "sinter/kernels/elementwise.hpp"

#include "unit/kernels/narrow.hpp"

namespace kernel = sinter::kernel;
using namespace sinter::detail::testing;
using kernel::Stream;
using sinter::Float16;

namespace {

constexpr int halves = 1 << 16;

std::vector<Float16> all_halves() {
  std::vector<Float16> all(halves);
  for (int bits = 0; bits < halves; ++bits) all[bits].bits = std::uint16_t(bits);
  return all;
}

/// The number by its definition: (1 + fraction / 1024) 2^(exponent - 15), or fraction 2^-24.
double value_of(int bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent == 31) return fraction ? NAN : bits & 0x8000 ? -INFINITY : INFINITY;
  const double size =
      exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24);
  return bits & 0x8000 ? -size : size;
}

TEST_CASE("every half is the number that it stands for, and comes back") {
  for (int bits = 0; bits < halves; ++bits) {
    Float16 x;
    x.bits = std::uint16_t(bits);
    const double want = value_of(bits);
    if (std::isnan(want)) {
      REQUIRE(std::isnan(float(x)));
      REQUIRE(Float16(float(x)).bits == (bits | 0x200));  // quiet, with its payload
    } else {
      REQUIRE(double(float(x)) == want);
      REQUIRE(std::signbit(float(x)) == std::signbit(want));
      REQUIRE(Float16(float(x)).bits == bits);
    }
  }
}

TEST_CASE("floats are rounded to the nearest half, ties to even, at every border of two") {
  for (int bits = 0; bits < 0x7c00; ++bits) {
    // Above the largest half the next one would be 65536, were there one.
    const double low = value_of(bits), high = bits == 0x7bff ? 65536 : value_of(bits + 1);
    const auto border = float((low + high) / 2);
    REQUIRE(double(border) == (low + high) / 2);
    for (float sign : {1.f, -1.f}) {
      const int s = sign < 0 ? 0x8000 : 0;
      REQUIRE(Float16(sign * std::nextafter(border, 0.f)).bits == (s | bits));
      REQUIRE(Float16(sign * std::nextafter(border, INFINITY)).bits == (s | (bits + 1)));
      REQUIRE(Float16(sign * border).bits == (s | (bits % 2 ? bits + 1 : bits)));
    }
  }
  static_assert(Float16(65504.f).bits == 0x7bff && Float16(65520.f).bits == 0x7c00);
  static_assert(Float16(0x1p-24f).bits == 1 && Float16(0x1p-25f).bits == 0);
  static_assert(float(Float16(1.f / 3)) == 0x1.554p-2f);
  CHECK(Float16(std::numeric_limits<float>::max()).bits == 0x7c00);
  CHECK(Float16(std::numeric_limits<float>::denorm_min()).bits == 0);
  CHECK(Float16(std::bit_cast<float>(0x7f800001u)).bits == 0x7e00);  // the payload is all below
}

TEST_CASE("vectors convert as scalars do") {
  const std::vector<Float16> all = all_halves();
  const Floats all_wide = wide(all);
  // Every sign, exponent and upper fraction, with what decides on rounding below; all borders, too.
  Floats dense;
  for (std::uint32_t upper = 0; upper < 1u << 20; ++upper)
    for (std::uint32_t lower : {0x000u, 0x001u, 0x800u, 0xfffu})
      dense.push_back(std::bit_cast<float>(upper << 12 | lower));
  std::mt19937 engine(1);
  for (int i = 0; i < 100003; ++i) dense.push_back(std::bit_cast<float>(std::uint32_t(engine())));
  const std::vector<Float16> dense_narrow = narrow<Float16>(dense);
  on_every_instruction_set([&] {
    for (std::int64_t skipped : {0, 1, 5}) {  // so that single elements meet other numbers
      Stream stream(2);
      Floats got(halves - skipped);
      kernel::cast(stream, all.data() + skipped, got.data(), halves - skipped);
      CHECK(same_bits(got, Floats(all_wide.begin() + skipped, all_wide.end())));
      const auto n = std::int64_t(dense.size()) - skipped;
      std::vector<Float16> rounded(n);
      kernel::cast(stream, dense.data() + skipped, rounded.data(), n);
      CHECK(same_bits(rounded, {dense_narrow.begin() + skipped, dense_narrow.end()}));
    }
    Stream stream(1);
    bool same = true;  // one by one: the single elements after whole vectors
    for (int bits = 0; bits < halves; bits += 7) {
      float one = 0;
      Float16 back{};
      kernel::cast(stream, &all[bits], &one, 1);
      kernel::cast(stream, &one, &back, 1);
      same =
          same && std::bit_cast<std::uint32_t>(one) == std::bit_cast<std::uint32_t>(all_wide[bits]);
      same = same && back.bits == Float16(all_wide[bits]).bits;
    }
    CHECK(same);
  });
}

}  // namespace
