// SPDX-License-Identifier: Apache-2.0
#include "hardware/large_pages.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "sinter/hardware/memory.hpp"

using namespace sinter::detail;

namespace {

constexpr std::int64_t mib = std::int64_t(1) << 20;

/// What Linux says of the pages at an address: the line VmFlags of its mapping; empty if unknown.
std::string flags_of(const std::byte* at) {
  std::ifstream file("/proc/self/smaps");
  bool here = false;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::uintptr_t first = 0, last = 0;
    char dash = 0;
    if (words >> std::hex >> first >> dash >> last && dash == '-') {
      const auto address = reinterpret_cast<std::uintptr_t>(at);
      here = first <= address && address < last;
    }
    if (here && line.starts_with("VmFlags:")) return line + ' ';
  }
  return {};
}

bool system_has_large_pages() {
  return std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled").good();
}

}  // namespace

TEST_CASE("an arena in large pages is the arena, and all zeros") {
  for (const std::int64_t whole : {std::int64_t(0), std::int64_t(1), 5 * mib, 8 * mib, 99 * mib}) {
    const DeviceMemory memory(8 * mib);
    const auto arena = in_large_pages(memory.bytes(), whole);
    CHECK(arena.data() == memory.bytes().data());
    CHECK(arena.size() == memory.bytes().size());
    CHECK(std::ranges::all_of(arena, [](std::byte b) { return b == std::byte(0); }));
  }
}

TEST_CASE("only what is used as a whole gets large pages") {
  const DeviceMemory memory(64 * mib);
  const auto arena = in_large_pages(memory.bytes(), 32 * mib);
  const std::string front = flags_of(arena.data()), behind = flags_of(arena.data() + 48 * mib);
  if (front.empty() || !system_has_large_pages()) return;  // a system that does not say it
  CHECK(front.find(" hg ") != std::string::npos);
  CHECK(behind.find(" hg ") == std::string::npos);
}
