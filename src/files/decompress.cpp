// SPDX-License-Identifier: Apache-2.0
#include "sinter/files/decompress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "files/decoder.hpp"

namespace sinter::detail {
namespace {

constexpr std::size_t piece = std::size_t(1) << 18;  // that is read from the disk at once

}  // namespace

struct DecompressedFile::State {
  InputFile file;
  Compression compression = Compression::none;
  std::unique_ptr<Decoder> decoder;     // none for uncompressed data
  std::vector<unsigned char> buffer;    // what was read from the disk last
  std::span<const unsigned char> rest;  // what of it is still to be decoded
  std::uint64_t read = 0;               // from the disk
  std::uint64_t position = 0;           // in the content
  bool whole = false;                   // what has been decoded

  State(std::filesystem::path path, Links links) : file(std::move(path), links) {
    refill(6);
    compression = compression_of(rest);
    if (compression == Compression::none)
      require_plain_name();
    else
      decoder = decoder_of(compression);
  }

  /// Reads the next bytes of the file into the empty buffer.
  void refill(std::size_t most) {
    const auto bytes = std::size_t(std::min<std::uint64_t>(most, file.size() - read));
    buffer.resize(bytes);
    file.read_at(read, buffer.data(), bytes);
    read += bytes;
    rest = buffer;
  }

  /// Refuses the beginning of a compressed file that is all that is left of it.
  void require_plain_name() const {
    const std::string suffix = file.path().extension().string();
    if (suffix != ".gz" && suffix != ".xz" && suffix != ".zst") return;
    throw FileError(fmt::format(
        "Cannot read {}: its name ends in {}, but {} Get the file again, or rename it if it is not "
        "compressed.",
        shown(), suffix,
        file.size() == 0 ? "it is empty." : "it does not begin like such a file."));
  }

  std::size_t read_plain(unsigned char* into, std::size_t bytes) const {
    bytes = std::size_t(std::min<std::uint64_t>(bytes, file.size() - position));
    file.read_at(position, into, bytes);
    return bytes;
  }

  std::size_t decode(std::span<unsigned char> out) {
    const std::size_t wanted = out.size();
    while (!out.empty()) {
      if (rest.empty() && read < file.size()) refill(piece);
      const bool last = read == file.size();
      const std::size_t before = out.size() + rest.size();
      try {
        whole = decoder->decode(rest, out, last);
      } catch (const DamagedData& damage) {
        refuse(damage.what, wanted - out.size());
      }
      if (out.size() + rest.size() < before || (rest.empty() && !last)) continue;
      if (!whole) refuse("it ends in the middle: it has been cut short", wanted - out.size());
      break;
    }
    return wanted - out.size();
  }

  std::string shown() const { return printable(file.path().string(), 4096); }

  [[noreturn]] void refuse(const std::string& what, std::size_t decoded) const {
    throw FileError(fmt::format(
        "Cannot read {}, which is {} data: at byte {} of {} (byte {} of the content), "
        "{}. Get the file again, or compress it anew.",
        shown(), name_of(compression), read - rest.size(), file.size(), position + decoded, what));
  }
};

DecompressedFile::DecompressedFile(std::filesystem::path path, Links links)
    : state(std::make_unique<State>(std::move(path), links)) {}
DecompressedFile::DecompressedFile(DecompressedFile&&) noexcept = default;
DecompressedFile::~DecompressedFile() = default;

const InputFile& DecompressedFile::file() const { return state->file; }
Compression DecompressedFile::compression() const { return state->compression; }
std::uint64_t DecompressedFile::position() const { return state->position; }

std::size_t DecompressedFile::read(void* into, std::size_t bytes) {
  auto* to = static_cast<unsigned char*>(into);
  const std::size_t got =
      state->decoder ? state->decode({to, bytes}) : state->read_plain(to, bytes);
  state->position += got;
  return got;
}

std::string read_decompressed(const std::filesystem::path& path, std::uint64_t limit) {
  DecompressedFile file(path);
  std::string content;
  for (;;) {
    const std::size_t size = content.size();
    content.resize(size + std::min<std::uint64_t>(piece, limit - size + 1));
    const std::size_t got = file.read(content.data() + size, content.size() - size);
    content.resize(size + got);
    if (got == 0) return content;
    if (content.size() > limit)
      throw FileError(
          fmt::format("{} has more than {} bytes{}; at most that many were expected. Is it the "
                      "right file?",
                      printable(path.string(), 4096), limit,
                      file.compression() == Compression::none ? "" : ", decompressed"));
  }
}

}  // namespace sinter::detail
