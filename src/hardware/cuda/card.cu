// SPDX-License-Identifier: Apache-2.0
// The card on which a thread computes, and its properties.
#include <cstdio>
#include <memory>

#include "hardware/cuda/errors.hpp"
#include "hardware/cuda/nvml.hpp"
#include "sinter/hardware/available.hpp"
#include "sinter/hardware/card.hpp"
#include "sinter/hardware/device.hpp"

namespace sinter::detail {
namespace {

__global__ void any_kernel() {}

/// "13.0", of 13000.
std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

constexpr const char* or_on_cpu = " Or build the recipe for the CPU: without --cuda.";

[[noreturn]] void refuse(const std::string& what) {
  throw Error("this binary computes on an NVIDIA GPU, and " + what + or_on_cpu);
}

void require_driver() {
  int driver = 0, runtime = 0;
  cudaRuntimeGetVersion(&runtime);
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0)
    refuse("there is no driver for one here (libcuda.so.1). Install NVIDIA's driver, for CUDA " +
           version_text(runtime) + " or newer.");
  // A driver of the same major version will do.
  if (driver / 1000 < runtime / 1000)
    refuse("the driver here is for CUDA " + version_text(driver) + ", too old for this binary's " +
           version_text(runtime) + ". Install a newer driver.");
}

int count_cards() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaErrorNoDevice || (error == cudaSuccess && count == 0))
    refuse(
        "its driver finds no card. nvidia-smi lists those that there are; "
        "CUDA_VISIBLE_DEVICES may hide them.");
  kernel::check(error);
  return count;
}

void require_card(int number) {
  require_driver();
  const int count = count_cards();
  if (number >= count)
    refuse("device.card is " + std::to_string(number) + ", where there are " +
           std::to_string(count) + ", counted from 0. Choose one of them.");
  const cudaError_t error = cudaSetDevice(number);
  if (error == cudaErrorDevicesUnavailable)
    refuse(
        "card " + std::to_string(number) +
        " is taken: another process has it, and its compute mode lets only one compute. Wait for "
        "that one, or choose another card (device.card).");
  kernel::check(error);
  cudaFuncAttributes attributes;
  const cudaError_t fits = cudaFuncGetAttributes(&attributes, any_kernel);
  if (fits == cudaErrorNoKernelImageForDevice || fits == cudaErrorInvalidDeviceFunction) {
    cudaDeviceProp card;
    kernel::check(cudaGetDeviceProperties(&card, number));
    const std::string has = std::to_string(card.major) + "." + std::to_string(card.minor);
    refuse("has no kernels for card " + std::to_string(number) + ", a " + card.name +
           " of compute capability " + has + ". Build it with -DCMAKE_CUDA_ARCHITECTURES=" +
           std::to_string(card.major * 10 + card.minor) + " (docs/gpu.md).");
  }
  kernel::check(fits);
}

std::string number_text(const char* format, double value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

}  // namespace

void open_card(int number) {
  thread_local int opened = -1;
  if (opened == number) return;
  require_card(number);
  opened = number;
}

AvailableMemory available_device_memory() {
  std::size_t left = 0, all = 0;
  kernel::check(cudaMemGetInfo(&left, &all));
  return {std::int64_t(left), "the card's free memory is"};
}

std::string device_text(int) {
  int number = 0, kilohertz = 0, driver = 0;
  std::size_t left = 0, all = 0;
  cudaDeviceProp card;
  kernel::check(cudaGetDevice(&number));
  kernel::check(cudaGetDeviceProperties(&card, number));
  kernel::check(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, number));
  kernel::check(cudaDriverGetVersion(&driver));
  kernel::check(cudaMemGetInfo(&left, &all));
  return std::string(card.name) + " (card " + std::to_string(number) + "), compute capability " +
         std::to_string(card.major) + "." + std::to_string(card.minor) + ", up to " +
         number_text("%.2f GHz", kilohertz / 1e6) + ", " +
         number_text("%.1f GiB", double(all) / (1 << 30)) + ", of which " +
         number_text("%.1f", double(all - left) / (1 << 30)) +
         " are in use by now (CUDA's context, this binary, other processes), driver for CUDA " +
         version_text(driver);
}

std::string device_use() {
  thread_local int number = -1;
  thread_local std::unique_ptr<Nvml> library;
  int now = 0;
  char bus_id[32];
  if (cudaGetDevice(&now) != cudaSuccess) return "";
  if (now != number) {
    if (cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, now) != cudaSuccess) return "";
    library = std::make_unique<Nvml>(bus_id);
    number = now;
  }
  return library->use();
}

}  // namespace sinter::detail
