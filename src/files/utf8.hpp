// SPDX-License-Identifier: Apache-2.0
// Well-formed UTF-8 (Unicode, table 3-7).
#pragma once
#include <cstddef>
#include <string_view>

namespace sinter::detail {

/// The number of bytes of the character that a text begins with; 0 if it is not well-formed, or the
/// text is empty.
inline std::size_t well_formed(std::string_view text) {
  auto byte = [&](std::size_t k) {
    return k < text.size() ? static_cast<unsigned char>(text[k]) : 0u;
  };
  if (text.empty()) return 0;
  unsigned lead = byte(0), second = byte(1);
  std::size_t size = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  unsigned low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  unsigned high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  bool good = size > 0 && lead <= 0xf4 && (size < 2 || (second >= low && second <= high));
  for (std::size_t k = 2; good && k < size; ++k) good = (byte(k) & 0xc0) == 0x80;
  return good ? size : 0;
}

}  // namespace sinter::detail
