// SPDX-License-Identifier: Apache-2.0
#include "hardware/cuda/nvml.hpp"

#include <dlfcn.h>

#include <cstdio>

namespace sinter::detail {
namespace {

// From nvml.h, version 2 of its interface; each function returns 0 on success.
struct MemoryInfo {
  unsigned long long total, free, used;
};
struct Utilization {
  unsigned gpu, memory;
};
constexpr int gpu_temperature = 0;

/// Calls a function of the library. Returns true if it exists and succeeds.
template <class... A>
bool call(void* library, const char* name, A... arguments) {
  if (!library) return false;
  const auto function = reinterpret_cast<int (*)(A...)>(dlsym(library, name));
  return function && function(arguments...) == 0;
}

template <class... A>
void append(std::string& text, const char* format, A... values) {
  char part[64];
  std::snprintf(part, sizeof part, format, values...);
  text += (text.empty() ? "" : " ") + std::string(part);
}

}  // namespace

Nvml::Nvml(const std::string& bus_id, const char* library)
    : library_(dlopen(library, RTLD_NOW | RTLD_LOCAL)) {
  if (!call(library_, "nvmlInit_v2") ||
      !call(library_, "nvmlDeviceGetHandleByPciBusId_v2", bus_id.c_str(), &card_))
    card_ = nullptr;
}

Nvml::~Nvml() {
  call(library_, "nvmlShutdown");
  if (library_) dlclose(library_);
}

std::string Nvml::use() const {
  std::string text;
  if (!card_) return text;
  constexpr double gibibyte = 1 << 30;
  MemoryInfo memory{};
  Utilization utilization{};
  unsigned milliwatts = 0, celsius = 0;
  if (call(library_, "nvmlDeviceGetMemoryInfo", card_, &memory))
    append(text, "%.1f/%.1f GiB", double(memory.used) / gibibyte, double(memory.total) / gibibyte);
  if (call(library_, "nvmlDeviceGetUtilizationRates", card_, &utilization))
    append(text, "%u %%", utilization.gpu);
  if (call(library_, "nvmlDeviceGetPowerUsage", card_, &milliwatts))
    append(text, "%.0f W", milliwatts / 1000.0);
  if (call(library_, "nvmlDeviceGetTemperature", card_, gpu_temperature, &celsius))
    append(text, "%u °C", celsius);
  return text;
}

}  // namespace sinter::detail
