// SPDX-License-Identifier: Apache-2.0
// Compressed files. The last four bytes of an input choose the compression, and which byte of the
// compressed rest is changed; what comes back is the rest itself, or an error. The input itself is
// read as a file, too.
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include "fuzz/support.hpp"
#include "sinter/files/decompress.hpp"

using namespace sinter;
using namespace sinter::detail;

namespace {

std::string gzip(const std::string& text) {
  z_stream stream{};
  fuzz::ensure(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK,
               "gzip");
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(text.data()));
  stream.avail_in = unsigned(text.size());
  stream.next_out = reinterpret_cast<unsigned char*>(out.data());
  stream.avail_out = unsigned(out.size());
  fuzz::ensure(deflate(&stream, Z_FINISH) == Z_STREAM_END, "gzip ends");
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string xz(const std::string& text) {
  std::string out(lzma_stream_buffer_bound(text.size()), '\0');
  std::size_t size = 0;
  fuzz::ensure(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, nullptr,
                                       reinterpret_cast<const unsigned char*>(text.data()),
                                       text.size(), reinterpret_cast<unsigned char*>(out.data()),
                                       &size, out.size()) == LZMA_OK,
               "xz");
  out.resize(size);
  return out;
}

std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  const std::size_t size =
      ZSTD_compress2(context, out.data(), out.size(), text.data(), text.size());
  ZSTD_freeCCtx(context);
  fuzz::ensure(!ZSTD_isError(size), "zstd");
  out.resize(size);
  return out;
}

/// Whether the content of a file with these bytes is to be had; checks that it is `text` then.
void read(const std::string& bytes, const std::string* text) {
  static const fuzz::TemporaryFolder folder;
  const fuzz::fs::path file = fuzz::put(folder / "file", bytes);
  try {
    const std::string content = read_decompressed(file, 1 << 22);
    fuzz::ensure(!text || content == *text || content == bytes, "damage is found");
  } catch (const FileError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input = fuzz::text_of(data, size);
  read(input, nullptr);
  if (size < 4) return 0;
  const std::uint8_t* control = data + size - 4;
  const std::string text = input.substr(0, size - 4);
  std::string bytes = control[0] % 3 == 0   ? gzip(text)
                      : control[0] % 3 == 1 ? xz(text)
                                            : zstd(text);
  const std::size_t at = (control[1] + 256u * control[2]) % bytes.size();
  if (control[3] == 0) {
    bytes.resize(at);
  } else {
    bytes[at] = char(std::uint8_t(bytes[at]) ^ control[3]);
  }
  read(bytes, &text);
  return 0;
}
