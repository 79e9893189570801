#include "cli/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <system_error>

#include "sinter/error.hpp"

namespace sinter::cli {

void print_result(std::string_view text) {
  std::size_t put = std::fwrite(text.data(), 1, text.size(), stdout);
  if (put == text.size() && std::fflush(stdout) == 0) return;
  throw Error("Cannot write to standard output: " + std::generic_category().message(errno) + ".");
}

void note(std::string_view text) { print_if_possible(stderr, fmt::format("{}\n", text)); }

void note_lines(std::string_view text) {
  while (!text.empty()) {
    std::size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) note(fmt::format("note: {}", text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void print_if_possible(std::FILE* to, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), to);
  std::fflush(to);
}

std::string bytes_text(std::int64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  const char* units[]{"KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = double(bytes) / 1024;
  int unit = 0;
  while (value >= 1023.95 && unit < 4) value /= 1024, ++unit;
  return fmt::format("{:.1f} {}", value, units[unit]);
}

std::string metric(double number) {
  const char* units[]{" ", " k", " M", " G", " T", " P"};
  int unit = 0;
  while (std::abs(number) >= 999.5 && unit < 5) number /= 1000, ++unit;
  int decimals = std::abs(number) >= 99.95 ? 0 : std::abs(number) >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f}{}", number, unit == 0 ? std::min(decimals, 1) : decimals,
                     units[unit]);
}

std::string duration_text(double seconds) {
  if (!(seconds < 1e9)) return "?";
  auto s = std::int64_t(std::ceil(seconds));
  if (s < 3600) return fmt::format("{}:{:02}", s / 60, s % 60);
  return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

}  // namespace sinter::cli
