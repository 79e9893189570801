// SPDX-License-Identifier: Apache-2.0
#include "comm/shared_memory/lookout.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

namespace sinter::detail::shared_memory {
namespace {

/// True if proc(5) reports the process as stopped.
bool is_stopped(int process) {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/%d/stat", process);
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  std::array<char, 512> text{};
  const ssize_t size = ::read(file, text.data(), text.size());
  ::close(file);
  const std::string_view all(text.data(), size > 0 ? std::size_t(size) : 0);
  const std::size_t state = all.rfind(") ");  // behind the name, which may have brackets
  return state != std::string_view::npos && all.substr(state).starts_with(") T");
}

}  // namespace

Lookout::Times Lookout::look(int rank, int process, std::chrono::steady_clock::time_point since) {
  const bool stopped = is_stopped(process);
  const auto now = std::chrono::steady_clock::now();
  const std::scoped_lock lock(mutex_);
  Seen& seen = seen_[std::size_t(rank)];
  const bool anew = now - seen.last > std::chrono::seconds(1);
  if (anew) seen.first = now;
  if (anew || !stopped) seen.runs = now;
  seen.last = now;
  return {now - std::max(since, seen.first), now - seen.runs};
}

}  // namespace sinter::detail::shared_memory
