// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/output.hpp"
#include "sinter/hardware/device.hpp"

namespace sinter::detail::cli {
namespace {

std::size_t columns_of(std::FILE* terminal) {
  winsize size{};
  return ioctl(fileno(terminal), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

Progress::Progress(std::FILE* to, Scale scale)
    : to(to), scale(scale), live(to && isatty(fileno(to))) {}

/// Ends the line, so that later text, such as an error, begins on a new one.
Progress::~Progress() {
  if (drawn) print_if_possible(to, "\n");
}

void Progress::step(const StepRecord& record) {
  if (!to) return;
  tokens += record.tokens_per_s * record.step_ms / 1000;
  ms += record.step_ms;
  step_ms = step_ms == 0 ? record.step_ms : 0.9 * step_ms + 0.1 * record.step_ms;
  bool stays = record.validation_loss || record.step == scale.steps;
  bool first = shown == Clock::time_point{};
  auto interval = live ? std::chrono::milliseconds(100) : std::chrono::milliseconds(5000);
  if (!stays && !first && Clock::now() - shown < interval) return;
  bool passing = live && !stays;  // it is cut to the terminal's width, so it should be short
  show(text_of(record, passing && columns_of(to) < 100), !passing);
  shown = Clock::now();
  tokens = ms = 0;
}

std::string Progress::text_of(const StepRecord& r, bool narrow) const {
  double rate = ms > 0 ? tokens / ms * 1000 : 0;
  std::string flops = metric(scale.flops_per_token * rate) + "FLOP/s";
  std::string steps = std::to_string(scale.steps);
  std::string left = duration_text(double(scale.steps - r.step) * step_ms / 1000) + " left";
  const std::string use = device_use();
  if (!use.empty()) left += (narrow ? " " : "  ") + use;
  if (narrow)
    return fmt::format("step {:>{}}/{} loss {:.3f} norm {:.2g} lr {:.1e} {}tok/s {} {}", r.step,
                       steps.size(), steps, r.loss, r.gradient_norm, r.learning_rate, metric(rate),
                       flops, left);
  std::string text = fmt::format(
      "step {:>{}}/{}  loss {:.4f}  norm {:.3g}  lr {:.2e}  {} tok/s  {}  {}", r.step, steps.size(),
      steps, r.loss, r.gradient_norm, r.learning_rate, thousands(std::int64_t(rate)), flops, left);
  if (r.validation_loss) text += fmt::format("  validation loss {:.4f}", *r.validation_loss);
  return text;
}

void Progress::line(const std::string& text) {
  if (to) show(text, true);
}

void Progress::warn(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = std::min(text.find('\n', at), text.size());
    line("warning: " + text.substr(at, end - at));
    at = end + 1;
  }
}

void Progress::show(const std::string& text, bool stays) {
  std::string line = text;
  if (live && !stays) line.resize(std::min(line.size(), columns_of(to) - 1));
  print_if_possible(to, (drawn ? "\r\033[K" : "") + line + (stays ? "\n" : ""));
  drawn = !stays;
}

}  // namespace sinter::detail::cli
