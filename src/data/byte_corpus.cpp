// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/byte_corpus.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>

#include "data/refuse_data.hpp"
#include "sinter/device/available.hpp"
#include "sinter/error.hpp"

namespace sinter {
namespace {

/// Refuses before a large allocation drives the machine out of memory.
void require_memory(std::int64_t bytes, std::size_t files) {
  const AvailableMemory available = available_memory();
  if (bytes > available.bytes)
    throw FileError(fmt::format(
        "The data have {} bytes in {} files, and the text is kept in memory, but {} {} bytes. Name "
        "fewer files.",
        bytes, files, available.bound, available.bytes));
}

void read_into(const DataFiles::File& file, unsigned char* out) {
  // With O_NONBLOCK, a file that has become a pipe since it was looked at is not waited for.
  const int descriptor = ::open(file.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) refuse_data(file.path, errno);
  std::int64_t done = 0;
  int error = 0;
  while (done < file.bytes) {
    const ssize_t got = ::read(descriptor, out + done, std::size_t(file.bytes - done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) error = errno;
    if (got <= 0) break;
    done += got;
  }
  ::close(descriptor);
  if (error) refuse_data(file.path, error);
  if (done < file.bytes)
    refuse_data(file.path,
                fmt::format("it had {} bytes and ended after {}; it changed while it was read.",
                            file.bytes, done));
}

}  // namespace

ByteCorpus::ByteCorpus(const std::vector<std::string>& paths, Unreadable unreadable)
    : DataFiles(paths, unreadable) {
  require_memory(total_bytes(), files().size());
  text.resize(std::size_t(total_bytes()));
  unsigned char* to = text.data();
  for (const File& file : files()) {
    read_into(file, to);
    to += file.bytes;
  }
}

ByteCorpus::Split ByteCorpus::split(double share, int context) const {
  if (!(share > 0 && share < 1))
    throw ArgumentError(
        fmt::format("The share of the text that is held out for validation is {}; it "
                    "must lie between 0 and 1, both excluded.",
                    share));
  const auto size = std::int64_t(text.size());
  const auto held_out = std::int64_t(std::floor(share * double(size)));
  const std::int64_t train = size - held_out, needed = std::int64_t{context} + 1;
  auto counts = [&] {
    return fmt::format(
        "The data are too short: {} bytes in {} file(s), of which {} train and {} are "
        "held out.",
        size, files().size(), train, held_out);
  };
  if (train < needed)
    throw ArgumentError(
        fmt::format("{} Training needs at least {} bytes, one window of context {}. "
                    "Give more text or choose a smaller context.",
                    counts(), needed, context));
  if (held_out < 2)
    throw ArgumentError(fmt::format("{} Validation needs at least 2 bytes. Give at least {} bytes.",
                                    counts(), std::int64_t(std::ceil(2 / share))));
  return {std::span(text).first(std::size_t(train)), std::span(text).subspan(std::size_t(train))};
}

}  // namespace sinter
