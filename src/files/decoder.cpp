// SPDX-License-Identifier: Apache-2.0
#include "files/decoder.hpp"

#include <fmt/format.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <new>

namespace sinter::detail {
namespace {

using In = std::span<const unsigned char>;
using Out = std::span<unsigned char>;

/// zlib counts what it is given in 32 bits.
constexpr std::size_t largest_piece = std::size_t(1) << 30;

class Gzip final : public Decoder {
  z_stream stream{};
  bool between = false;  // members

 public:
  Gzip() {
    constexpr int gzip_alone = 15 + 16;
    if (inflateInit2(&stream, gzip_alone) != Z_OK) throw std::bad_alloc();
  }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;
  ~Gzip() override { inflateEnd(&stream); }

  bool decode(In& in, Out& out, bool) override {
    // Tapes and disks fill up a last block with zeros, which gzip passes over, too.
    while (between && !in.empty() && in[0] == 0) in = in.subspan(1);
    if (in.empty()) return between;
    if (between) inflateReset(&stream);
    const auto taken = unsigned(std::min(in.size(), largest_piece)),
               room = unsigned(std::min(out.size(), largest_piece));
    stream.next_in = const_cast<unsigned char*>(in.data());
    stream.avail_in = taken;
    stream.next_out = out.data();
    stream.avail_out = room;
    const int answer = inflate(&stream, Z_NO_FLUSH);
    in = in.subspan(taken - stream.avail_in);
    out = out.subspan(room - stream.avail_out);
    if (answer == Z_MEM_ERROR) throw std::bad_alloc();
    if (answer != Z_OK && answer != Z_STREAM_END && answer != Z_BUF_ERROR)
      throw DamagedData{stream.msg ? stream.msg : "it asks for a dictionary"};
    between = answer == Z_STREAM_END;
    return between;
  }
};

class Xz final : public Decoder {
  lzma_stream stream = LZMA_STREAM_INIT;
  bool whole = false;
  static constexpr std::uint64_t max_memory = std::uint64_t(160) << 20;

 public:
  Xz() {
    if (lzma_stream_decoder(&stream, max_memory, LZMA_CONCATENATED) != LZMA_OK)
      throw std::bad_alloc();
  }
  Xz(const Xz&) = delete;
  Xz& operator=(const Xz&) = delete;
  ~Xz() override { lzma_end(&stream); }

  bool decode(In& in, Out& out, bool last) override {
    if (whole) return true;
    stream.next_in = in.data();
    stream.avail_in = in.size();
    stream.next_out = out.data();
    stream.avail_out = out.size();
    const lzma_ret answer = lzma_code(&stream, last ? LZMA_FINISH : LZMA_RUN);
    in = in.last(stream.avail_in);
    out = out.last(stream.avail_out);
    if (answer == LZMA_MEM_ERROR) throw std::bad_alloc();
    if (answer != LZMA_OK && answer != LZMA_STREAM_END && answer != LZMA_BUF_ERROR)
      throw DamagedData{words(answer)};
    whole = answer == LZMA_STREAM_END;
    return whole;
  }

 private:
  std::string words(lzma_ret answer) const {
    switch (answer) {
      case LZMA_MEMLIMIT_ERROR:
        return fmt::format(
            "decompressing it takes {} MiB, and {} MiB are allowed, which is enough for `xz -9`",
            lzma_memusage(&stream) >> 20, max_memory >> 20);
      case LZMA_OPTIONS_ERROR:
        return "it has options that are not known";
      case LZMA_FORMAT_ERROR:
        return "no xz stream begins here";
      default:
        return "the data are not what their checks say";
    }
  }
};

class Zstd final : public Decoder {
  std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> stream{ZSTD_createDStream(),
                                                                       ZSTD_freeDStream};
  bool between = false;  // frames

 public:
  Zstd() {
    if (!stream) throw std::bad_alloc();
  }

  bool decode(In& in, Out& out, bool) override {
    if (in.empty() && between) return true;
    ZSTD_inBuffer given{in.data(), in.size(), 0};
    ZSTD_outBuffer made{out.data(), out.size(), 0};
    const std::size_t answer = ZSTD_decompressStream(stream.get(), &made, &given);
    in = in.subspan(given.pos);
    out = out.subspan(made.pos);
    if (ZSTD_isError(answer)) throw DamagedData{ZSTD_getErrorName(answer)};
    between = answer == 0;
    return between;
  }
};

bool begins(In data, std::initializer_list<unsigned char> with) {
  return data.size() >= with.size() && std::equal(with.begin(), with.end(), data.begin());
}

}  // namespace

Compression compression_of(In first) {
  if (begins(first, {0x1f, 0x8b, 0x08})) return Compression::gzip;
  if (begins(first, {0xfd, '7', 'z', 'X', 'Z', 0})) return Compression::xz;
  if (begins(first, {0x28, 0xb5, 0x2f, 0xfd})) return Compression::zstd;
  // A frame to skip, with which pzstd begins.
  if (first.size() >= 4 && begins(first.subspan(1), {0x2a, 0x4d, 0x18}) && first[0] >> 4 == 5)
    return Compression::zstd;
  return Compression::none;
}

std::string_view name_of(Compression compression) {
  constexpr std::array<std::string_view, 4> names{"", "gzip", "xz", "zstd"};
  return names[std::size_t(compression)];
}

std::unique_ptr<Decoder> decoder_of(Compression compression) {
  if (compression == Compression::gzip) return std::make_unique<Gzip>();
  if (compression == Compression::xz) return std::make_unique<Xz>();
  return std::make_unique<Zstd>();
}

}  // namespace sinter::detail
