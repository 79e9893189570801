// SPDX-License-Identifier: Apache-2.0
// The hashes of this room, and how they are written.
#pragma once
#include <fmt/format.h>

#include <string>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace sinter::detail {

inline std::string hexadecimal(XXH128_hash_t hash) {
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace sinter::detail
