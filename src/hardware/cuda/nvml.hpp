// SPDX-License-Identifier: Apache-2.0
// What a card is doing, by NVIDIA's management library, which comes with the driver.
#pragma once
#include <string>

namespace sinter::detail {

/// The library, opened when the binary runs. If it is missing, or does not know the card, texts are
/// empty.
class Nvml {
 public:
  /// bus_id: of the card, as CUDA names it; its number may differ between CUDA and the library.
  explicit Nvml(const std::string& bus_id, const char* library = "libnvidia-ml.so.1");
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  /// Returns "41.2/79.6 GiB 98 % 612 W 64 °C": memory in use by all processes, share of the time in
  /// which a kernel runs, power and temperature, without those that the card does not report.
  std::string use() const;

 private:
  void* library_ = nullptr;
  void* card_ = nullptr;
};

}  // namespace sinter::detail
