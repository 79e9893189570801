// SPDX-License-Identifier: Apache-2.0
// A library that plays libnvidia-ml.so.1: it knows one card, which does not tell its temperature.
#include <string_view>

namespace {
struct Memory {
  unsigned long long total, free, used;
};
struct Utilization {
  unsigned gpu, memory;
};
int card;
}  // namespace

extern "C" {

int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, void** handle) {
  if (std::string_view(bus_id) != "0000:17:00.0") return 6;  // not found
  *handle = &card;
  return 0;
}
int nvmlDeviceGetMemoryInfo(void*, Memory* memory) {
  *memory = {80ull << 30, 60ull << 30, 20ull << 30};
  return 0;
}
int nvmlDeviceGetUtilizationRates(void*, Utilization* rates) {
  *rates = {97, 40};
  return 0;
}
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  *milliwatts = 512600;
  return 0;
}
int nvmlDeviceGetTemperature(void*, int, unsigned*) { return 3; }  // not supported
}
