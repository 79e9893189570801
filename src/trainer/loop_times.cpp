// SPDX-License-Identifier: Apache-2.0
#include "sinter/trainer/loop_times.hpp"

#include <fmt/format.h>

namespace sinter {
using namespace detail;

double LoopTimes::milliseconds(LoopStage stage) const {
  return std::chrono::duration<double, std::milli>(spent[std::size_t(stage)]).count();
}

bool LoopTimes::too_much(LoopStage stage, double& warned) const {
  double share = milliseconds(stage) / ms;
  if (share <= 2 * warned) return false;
  warned = share;
  return true;
}

std::string LoopTimes::lap(double step_ms) {
  if (++steps > 0) ms += step_ms;
  if (steps > 0 && (ms < min_ms || steps < min_steps)) return "";
  auto cost = [&](LoopStage stage) {
    double part = milliseconds(stage);
    return fmt::format("took {:.1f}% of the time of the last {} steps ({:.2f} of {:.2f} ms a step)",
                       100 * part / ms, steps, part / steps, ms / steps);
  };
  std::string text;
  if (steps > 0 && too_much(LoopStage::read, warned_read))
    text += "waiting for data " + cost(LoopStage::read) +
            ". The source is slower than the step: keep the data on a faster disk or in memory, "
            "or do less work for each batch.";
  if (steps > 0 && too_much(LoopStage::record, warned_record))
    text += (text.empty() ? "" : "\n") + ("logging " + cost(LoopStage::record)) +
            ". Keep the run's folder on a faster disk, show less progress (--quiet), or take fewer "
            "and larger steps (batch.global).";
  spent = {};
  ms = 0;
  steps = 0;
  return text;
}

}  // namespace sinter
