// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cli/output.hpp"
#include "sinter/hardware/device.hpp"

namespace sinter::detail::cli {
namespace {

std::size_t columns_of(std::FILE* terminal) {
  winsize size{};
  return ioctl(fileno(terminal), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/// True for warnings that may come again and again: LoopTimes', as shares of the time grow, and those of
/// batches in which nothing is to be predicted.
bool comes_again(std::string_view warning) {
  return warning.starts_with("waiting for data ") || warning.starts_with("logging ") ||
         (warning.starts_with("step ") && warning.find("nothing to predict") != warning.npos);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

}  // namespace

Progress::Progress(std::FILE* to, Scale scale)
    : to(to), scale(scale), live(to && isatty(fileno(to))) {}

/// Ends the line, so that later text, such as an error, begins on a new one.
Progress::~Progress() {
  if (drawn) print_if_possible(to, "\n");
}

void Progress::step(const StepRecord& record, std::int64_t best_step) {
  if (!to) return;
  count(record);
  bool stays = record.validation_loss || record.step == scale.steps;
  bool first = shown == Clock::time_point{};
  auto interval = live ? std::chrono::milliseconds(100) : std::chrono::milliseconds(5000);
  if (!stays && !first && Clock::now() - shown < interval) return;
  bool passing = live && !stays;
  show(passing ? live_text(record, columns_of(to) < 130) : text_of(record, best_step), !passing);
  shown = Clock::now();
  tokens = ms = 0;
}

/// Counts a step for the rates since the last line, and for those of the run.
void Progress::count(const StepRecord& record) {
  constexpr std::size_t enough = 1 << 16;  // a median of as many is exact to a digit that counts
  const double its_tokens = record.tokens_per_s * record.step_ms / 1000;
  tokens += its_tokens, speed.tokens += its_tokens;
  ms += record.step_ms, speed.ms += record.step_ms;
  step_ms = step_ms == 0 ? record.step_ms : 0.9 * step_ms + 0.1 * record.step_ms;
  if (speed.steps++ % speed.stride == 0) speed.rates.push_back(float(record.tokens_per_s));
  if (speed.rates.size() < enough) return;
  for (std::size_t k = 0; k < enough / 2; ++k) speed.rates[k] = speed.rates[2 * k];
  speed.rates.resize(enough / 2);
  speed.stride *= 2;
}

std::string Progress::left_text(const StepRecord& r) const {
  return duration_text(double(scale.steps - r.step) * step_ms / 1000) + " left";
}

/// The line of a terminal. What does not fit into its width is cut off.
std::string Progress::live_text(const StepRecord& r, bool narrow) const {
  const double rate = ms > 0 ? tokens / ms * 1000 : 0;
  const std::string steps = std::to_string(scale.steps);
  std::string text =
      fmt::format("{} step {:>{}}/{} loss {:.3f}", bar_text(r.step, scale.steps, narrow ? 10 : 20),
                  r.step, steps.size(), steps, r.loss);
  if (!narrow) text += fmt::format(" norm {:.2g}", r.gradient_norm);
  text += fmt::format(" lr {:.1e} {}tok/s", r.learning_rate, metric(rate));
  if (!narrow) text += fmt::format(" {}FLOP/s", metric(scale.flops_per_token * rate));
  text += " " + left_text(r);
  if (const std::string use = device_use(); !use.empty()) text += " " + use;
  return text;
}

std::string Progress::text_of(const StepRecord& r, std::int64_t best_step) const {
  const double rate = ms > 0 ? tokens / ms * 1000 : 0;
  const std::string flops = metric(scale.flops_per_token * rate) + "FLOP/s";
  const std::string steps = std::to_string(scale.steps);
  std::string left = left_text(r);
  if (const std::string use = device_use(); !use.empty()) left += "  " + use;
  std::string text = fmt::format(
      "step {:>{}}/{}  loss {:.4f}  norm {:.3g}  lr {:.2e}  {} tok/s  {}  {}", r.step, steps.size(),
      steps, r.loss, r.gradient_norm, r.learning_rate, thousands(std::int64_t(rate)), flops, left);
  if (r.validation_loss) text += fmt::format("  validation loss {:.4f}", *r.validation_loss);
  for (const MetricValue& metric : r.metrics)
    text += fmt::format("  {} {:.4f}", metric.name, metric.value);
  if (r.validation_loss && best_step > 0)
    text += best_step == r.step ? ", the best so far" : fmt::format(", best at step {}", best_step);
  return text;
}

void Progress::line(const std::string& text) {
  if (to) show(text, true);
}

void Progress::warn(const std::string& text) {
  for (const std::string& one : lines_of(text))
    comes_again(one) ? warn_once(one) : line("warning: " + one);
}

void Progress::warn_once(const std::string& text) {
  for (const std::string& one : lines_of(text)) {
    std::string kind = one;
    std::erase_if(kind, [](char letter) { return letter >= '0' && letter <= '9'; });
    const auto [found, is_new] = warned.try_emplace(std::move(kind), Kind{one});
    if (is_new)
      line("warning: " + one);
    else
      ++found->second.more;
  }
}

void Progress::end() {
  for (const auto& [kind, warning] : std::exchange(warned, {}))
    if (warning.more > 0)
      line(fmt::format("warning: {} more time{}: {}", thousands(warning.more),
                       warning.more == 1 ? "" : "s", warning.first));
  if (speed.ms <= 0 || speed.steps < 2) return;
  const auto middle = speed.rates.begin() + std::ptrdiff_t(speed.rates.size() / 2);
  std::ranges::nth_element(speed.rates, middle);
  line(fmt::format("Speed: mean {} tok/s over {} steps, median {} tok/s of a step.",
                   thousands(std::int64_t(speed.tokens / speed.ms * 1000)), thousands(speed.steps),
                   thousands(std::int64_t(*middle))));
}

void Progress::show(const std::string& text, bool stays) {
  std::string line = text;
  if (live && !stays) line.resize(std::min(line.size(), columns_of(to) - 1));
  print_if_possible(to, (drawn ? "\r\033[K" : "") + line + (stays ? "\n" : ""));
  drawn = !stays;
}

}  // namespace sinter::detail::cli
