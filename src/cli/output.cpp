// SPDX-License-Identifier: Apache-2.0
#include "cli/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cmath>
#include <system_error>

#include "cli/signals.hpp"
#include "sinter/error.hpp"

namespace sinter::detail::cli {
namespace {

bool has_room(int descriptor, int wait_ms) {
  pollfd poll{descriptor, POLLOUT, 0};
  return ::poll(&poll, 1, wait_ms) > 0;  // errors count as room: the write reports them
}

mode_t type_of(int descriptor) {
  struct stat status{};
  return ::fstat(descriptor, &status) == 0 ? status.st_mode & S_IFMT : 0;
}

/// Returns a descriptor for the same pipe or terminal whose writes do not block, or -1. (A change
/// to the given one would affect all processes that share it, such as a shell.)
int open_again(int descriptor) {
  const mode_t type = type_of(descriptor);
  if (type != S_IFIFO && type != S_IFCHR) return -1;
  return ::open(fmt::format("/proc/self/fd/{}", descriptor).c_str(),
                O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/// Writes a part that fits into a pipe's buffer as a whole. Returns true if it was written.
bool write_at_once(int descriptor, std::string_view part) {
  static const int again[]{open_again(STDOUT_FILENO), open_again(STDERR_FILENO)};
  const int own = descriptor == STDOUT_FILENO   ? again[0]
                  : descriptor == STDERR_FILENO ? again[1]
                                                : -1;
  if (own >= 0) return ::write(own, part.data(), part.size()) == ssize_t(part.size());
  if (type_of(descriptor) == S_IFSOCK)
    return ::send(descriptor, part.data(), part.size(), MSG_DONTWAIT | MSG_NOSIGNAL) ==
           ssize_t(part.size());
  return has_room(descriptor, 0) &&
         ::write(descriptor, part.data(), part.size()) == ssize_t(part.size());
}

}  // namespace

void prepare_standard_streams() {
  for (int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    int opened = ::open("/dev/null", O_RDONLY);
    if (opened < 0) opened = ::open("/", O_PATH);  // there is no /dev
  }
  for (int of_writes : {SIGXFSZ, SIGPIPE}) ::signal(of_writes, SIG_IGN);
}

void print_result(std::string_view text) {
  const int before = stop_signals();
  while (!text.empty()) {
    if (!has_room(STDOUT_FILENO, 100)) {
      if (stop_signals() != before && !has_room(STDOUT_FILENO, 0))
        throw Error("A signal came while standard output waited for its reader.");
      continue;
    }
    const ssize_t put =
        ::write(STDOUT_FILENO, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
    if (put < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (put <= 0)
      throw Error("Cannot write to standard output: " +
                  std::generic_category().message(put < 0 ? errno : ENOSPC) + ".");
    text.remove_prefix(std::size_t(put));
  }
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
  while (!text.empty()) {
    std::string_view part = text.substr(0, PIPE_BUF);
    if (part.size() < text.size() && part.find('\n') != part.npos)
      part = part.substr(0, part.rfind('\n') + 1);
    if (!write_at_once(fileno(to), part)) return;
    text.remove_prefix(part.size());
  }
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

std::string bar_text(std::int64_t done, std::int64_t all, int width) {
  const double share = all > 0 ? std::clamp(double(done) / double(all), 0., 1.) : 1;
  std::string bar(std::size_t(share * width), '=');
  if (int(bar.size()) < width) bar += '>';
  return fmt::format("[{:<{}}] {:>3}%", bar, width, int(100 * share));
}

std::string duration_text(double seconds) {
  if (!(seconds < 1e9)) return "?";
  auto s = std::int64_t(std::ceil(seconds));
  if (s < 3600) return fmt::format("{}:{:02}", s / 60, s % 60);
  return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

}  // namespace sinter::detail::cli
