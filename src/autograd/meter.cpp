// SPDX-License-Identifier: Apache-2.0
#include "autograd/meter.hpp"

#include <c10/core/Allocator.h>

#include <atomic>
#include <memory>

#include "hardware/unplanned.hpp"

namespace sinter::autograd {
using namespace sinter::detail;
namespace {

std::atomic<std::int64_t> first_step{0};

/// Counts each allocation of LibTorch on the thread that has it installed.
class Listener final : public c10::MemoryReportingInfoBase {
  void reportMemoryUsage(void*, std::int64_t bytes, std::size_t, std::size_t,
                         c10::Device) override {
    count_unplanned(bytes);
  }
  bool memoryProfilingEnabled() const override { return true; }
};

bool is_in_first_step(const Now& now) {
  if (!now.training) return false;
  std::int64_t none = 0;  // steps are counted from 1
  return first_step.compare_exchange_strong(none, now.step) || none == now.step;
}

}  // namespace

Meter::Meter(const Call& call) {
  if (is_in_first_step(*call.now))
    counts.emplace(c10::DebugInfoKind::PROFILER_STATE, std::make_shared<Listener>());
}

}  // namespace sinter::autograd
