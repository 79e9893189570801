// SPDX-License-Identifier: Apache-2.0
#include "cli/standard_input.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "cli/input.hpp"
#include "cli/output.hpp"
#include "files/system.hpp"
#include "sinter/data/unit.hpp"
#include "sinter/hardware/available.hpp"

namespace sinter::detail::cli {
namespace {

/// Standard input as a file that no folder has.
class KeptInput {
  Descriptor file{::memfd_create("standard input", MFD_CLOEXEC)};
  std::int64_t size = 0;

 public:
  KeptInput() {
    if (file.get() < 0) throw_file_error("keep", "standard input", errno);
    const Input input("-");
    std::vector<char> block(std::size_t(1) << 20);
    while (const std::size_t got = input.read(block.data(), block.size())) {
      if (const AvailableMemory memory = available_memory(); std::int64_t(got) > memory.bytes)
        throw FileError(fmt::format(
            "Standard input has more than {} bytes, and is kept in memory, but {} {} bytes. Write "
            "it to a file, and name that.",
            size, memory.bound, memory.bytes));
      append(block.data(), got);
    }
    if (size == 0)
      throw FileError("Standard input is empty, and --data - reads it. Does what fills it fail?");
  }

  std::string path() const { return fmt::format("/proc/self/fd/{}", file.get()); }
  std::int64_t bytes() const { return size; }

 private:
  void append(const char* from, std::size_t bytes) {
    for (std::size_t done = 0; done < bytes;) {
      const ssize_t put = ::write(file.get(), from + done, bytes - done);
      if (put < 0 && errno != EINTR) throw_file_error("keep", "standard input", errno);
      done += std::size_t(std::max<ssize_t>(put, 0));
    }
    size += std::int64_t(bytes);
  }
};

}  // namespace

std::vector<std::string> data_paths(const Arguments& a) {
  if (std::ranges::count(a.data, "-") == 0) return a.data;
  if (a.data.size() > 1)
    throw UsageError(
        "--data - is standard input, which stands alone. Leave the other paths out, or name a file "
        "that is called so as ./-.");
  if (a.world.ranks > 1)
    throw UsageError(
        "--data - is standard input, which one process reads, and the ranks are several processes. "
        "Write it to a file that all of them see, and name that.");
  if (::isatty(STDIN_FILENO))
    throw UsageError(fmt::format(
        "--data - reads standard input, which is a terminal. Give it the data, as in {}.",
        a.resume ? "'cat FILE | BINARY train --resume …': a resumed run needs the same again"
                 : "'cat FILE | BINARY …'"));
  static const KeptInput kept = [&a] {
    KeptInput input;
    if (!a.quiet)
      note_lines(fmt::format("standard input was read whole: {}, which messages call {}.\n",
                             DataUnit{"byte", "bytes"}.count(input.bytes()), input.path()));
    return input;
  }();
  return {kept.path()};
}

}  // namespace sinter::detail::cli
