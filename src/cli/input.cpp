// SPDX-License-Identifier: Apache-2.0
#include "cli/input.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "cli/signals.hpp"
#include "files/system.hpp"

namespace sinter::detail::cli {

Input::Input(const std::string& path)
    : name_(path == "-" ? "standard input" : printable(path, 4096)),
      file_(path == "-" ? Descriptor(::dup(STDIN_FILENO)) : open_path(path, O_RDONLY, "open")) {
  struct stat found{};
  if (::fstat(file_.get(), &found) != 0) throw_file_error("look at", name_, errno);
  if (S_ISDIR(found.st_mode)) throw_file_error("read", name_, EISDIR);
}

std::size_t Input::read(char* into, std::size_t bytes) const {
  const int before = stop_signals();
  for (;;) {
    const ssize_t got = ::read(file_.get(), into, bytes);
    if (got >= 0) return std::size_t(got);
    if (errno != EINTR) throw_file_error("read", name_, errno);
    if (stop_signals() != before)
      throw Error(fmt::format("A signal came while {} had nothing to read.", name_));
  }
}

std::string read_input(const std::string& path) {
  const Input input(path);
  std::string content;
  for (;;) {
    const std::size_t size = content.size();
    content.resize(size + (std::size_t(1) << 16));
    const std::size_t got = input.read(content.data() + size, content.size() - size);
    content.resize(size + got);
    if (got == 0) return content;
  }
}

}  // namespace sinter::detail::cli
