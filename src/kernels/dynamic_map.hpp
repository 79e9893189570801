// SPDX-License-Identifier: Apache-2.0
// The numbers that bytes of 8-bit moments stand for, on all devices.
#pragma once
#include <algorithm>
#include <array>

namespace sinter::kernel {

/// Border i of `parts` from 0.1 to 1, rounded as torch.linspace rounds: once, as a fused product.
inline float border_of_parts(int i, int parts) {
  const double step = (1.0f - 0.1f) / float(parts);
  return float(i < (parts + 1) / 2 ? 0.1f + step * i : 1 - step * (parts - i));
}

/// Seven powers of ten, each cut into twice as many parts as the one below; their middles, 0 and 1.
inline std::array<float, 256> dynamic_map(bool with_sign) {
  constexpr double powers[] = {1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1};
  std::array<float, 256> map{};
  int n = 0;
  map[n++] = 0, map[n++] = 1;
  for (int power = 0; power < 7; ++power) {
    const int parts = (with_sign ? 1 : 2) << power;
    for (int i = 0; i < parts; ++i) {
      const float middle = (border_of_parts(i, parts) + border_of_parts(i + 1, parts)) / 2;
      map[n++] = float(powers[power]) * middle;
      if (with_sign) map[n] = -map[n - 1], ++n;
    }
  }
  std::sort(map.begin(), map.end());
  return map;
}

}  // namespace sinter::kernel
