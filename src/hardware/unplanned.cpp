// SPDX-License-Identifier: Apache-2.0
#include "hardware/unplanned.hpp"

#include <atomic>

#include "sinter/hardware/unplanned.hpp"

namespace sinter::detail {
namespace {
std::atomic<std::int64_t> held{0}, most{0};
}

void count_unplanned(std::int64_t bytes) {
  const std::int64_t now = held.fetch_add(bytes) + bytes;
  for (std::int64_t seen = most.load(); now > seen && !most.compare_exchange_weak(seen, now);) {
  }
}

std::int64_t unplanned_bytes() { return most.load(); }

}  // namespace sinter::detail
