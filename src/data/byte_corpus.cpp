// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/byte_corpus.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>

#include "data/refuse_data.hpp"
#include "sinter/error.hpp"
#include "sinter/hardware/available.hpp"

namespace sinter {
using namespace detail;
namespace {

/// Refuses before a large allocation drives the machine out of memory. `known`: what is known of
/// the text, in words; `more` bytes are about to be taken.
void require_memory(const std::string& known, std::int64_t more, std::size_t files) {
  const AvailableMemory available = available_memory();
  if (more > available.bytes)
    throw FileError(fmt::format(
        "The data have {} bytes in {} files, and the text is kept in memory, but {} {} bytes. Name "
        "fewer files.",
        known, files, available.bound, available.bytes));
}

/// Reads the files behind each other into a text, which grows as compressed ones unfold.
class Reading {
  static constexpr std::size_t block = std::size_t(16) << 20;
  std::vector<unsigned char>& text;
  std::size_t files;

 public:
  Reading(std::vector<unsigned char>& t, std::size_t count) : text(t), files(count) {}

  void append(ByteCorpus::File& file) {
    // Whoever may not read it is told so in this room's words.
    if (::faccessat(AT_FDCWD, file.path.c_str(), R_OK, AT_EACCESS) != 0)
      refuse_data(file.path, errno);
    DecompressedFile opened(file.path);
    file.stored = std::int64_t(opened.file().size());
    file.compression = opened.compression();
    if (file.compression == Compression::none) {
      fill(opened, std::size_t(file.stored));
    } else {
      while (fill(opened, block) > 0) {
      }
    }
    file.bytes = std::int64_t(opened.position());
  }

 private:
  /// Reads up to so many bytes more. Returns how many there were.
  std::size_t fill(DecompressedFile& file, std::size_t bytes) {
    const std::size_t begin = text.size();
    const bool moves = begin + bytes > text.capacity();  // what is there is then there twice
    require_memory("more than " + std::to_string(begin),
                   std::int64_t(moves ? begin + bytes : bytes), files);
    text.resize(begin + bytes);
    const std::size_t got = file.read(text.data() + begin, bytes);
    text.resize(begin + got);
    return got;
  }
};

}  // namespace

ByteCorpus::ByteCorpus(const std::vector<std::string>& paths, Unreadable unreadable)
    : found(paths, unreadable) {
  require_memory(std::to_string(found.total_bytes()), found.total_bytes(), found.files().size());
  text.reserve(std::size_t(found.total_bytes()));
  Reading reading(text, found.files().size());
  for (const DataFiles::File& file : found.files())
    reading.append(read_files.emplace_back(File{.path = file.path}));
  if (text.empty()) refuse_empty_data(read_files.front().path, read_files.size());
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
        size, read_files.size(), train, held_out);
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
