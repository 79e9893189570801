// SPDX-License-Identifier: Apache-2.0
#include "hardware/cpu/processor.hpp"

#include <hwy/targets.h>

#include <fstream>
#include <string_view>
#include <utility>

#include "sinter/device/cpu.hpp"
#include "sinter/hardware/device.hpp"

namespace sinter::detail {
namespace {

std::string model_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    std::size_t begin = line.find(": ");
    if (begin != line.npos) return line.substr(begin + 2);
  }
  return "unknown processor";
}

/// The best instruction set, in words that people know instead of Highway's.
std::string instruction_set() {
  std::int64_t all = hwy::SupportedTargets();
  std::string name = hwy::TargetName(all & -all);  // the lowest bit is the best
  constexpr std::pair<std::string_view, std::string_view> known[]{
      {"AVX3_ZEN4", "AVX-512"}, {"AVX3_DL", "AVX-512"}, {"AVX3", "AVX-512"}, {"SSE4", "SSE 4.2"}};
  for (auto [theirs, ours] : known)
    if (name == theirs) return std::string(ours);
  return name;
}

}  // namespace

std::string processor_text() { return model_name() + ", " + instruction_set(); }

void open_cpu() {}

std::string device_text(int threads) {
  return processor_text() + ", " + std::to_string(threads) + " threads";
}

std::string device_use() { return ""; }

}  // namespace sinter::detail
