// SPDX-License-Identifier: Apache-2.0
#include "data/archives.hpp"

#include <algorithm>
#include <iterator>

#include "data/refuse_data.hpp"

namespace sinter::detail {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view unpack = "Unpack it, and name the files that are text.";
constexpr std::string_view compress =
    "Decompress it, or compress it by gzip, xz or zstd, which are read.";

/// What a file of a kind has at a place.
struct Signature {
  std::size_t at;
  std::string_view bytes;
  ArchiveKind kind;
};

constexpr ArchiveKind zip{"a zip archive (.zip, .npz, .docx, .jar)", unpack};
constexpr ArchiveKind bzip2{"compressed by bzip2 (.bz2)", compress};

constexpr Signature signatures[] = {
    {0, "PK\x03\x04"sv, zip},
    {0, "PK\x05\x06"sv, zip},
    {0, "PK\x07\x08"sv, zip},
    {257, "ustar"sv, {"a tar archive", unpack}},
    {0, "7z\xbc\xaf\x27\x1c"sv, {"a 7z archive", unpack}},
    {0, "Rar!\x1a\x07"sv, {"a RAR archive", unpack}},
    {0, "!<arch>\n"sv, {"an ar archive (.a, .deb)", unpack}},
    {0, "MSCF\0\0\0\0"sv, {"a cabinet archive (.cab)", unpack}},
    {0, "\xed\xab\xee\xdb"sv, {"an RPM package", unpack}},
    {4, "1AY&SY"sv, bzip2},
    {4, "\x17\x72\x45\x38\x50\x90"sv, bzip2},  // of an empty file
    {0, "\x04\x22\x4d\x18"sv, {"compressed by lz4", compress}},
    {0, "LZIP\x01"sv, {"compressed by lzip", compress}},
    {0, "\x89LZO\0\r\n\x1a\n"sv, {"compressed by lzop", compress}},
    {0, "\x1f\x9d"sv, {"compressed by compress (.Z)", compress}},
    {0, "\x5d\0\0"sv, {"compressed as .lzma", compress}},
    {0, "\xff\x06\0\0sNaPpY"sv, {"compressed by snappy", compress}},
};

}  // namespace

const ArchiveKind* archive_kind(std::string_view begin) {
  const auto* found = std::ranges::find_if(signatures, [&](const Signature& one) {
    return begin.size() > one.at && begin.substr(one.at).starts_with(one.bytes);
  });
  return found == std::end(signatures) ? nullptr : &found->kind;
}

void refuse_archive(const std::string& path, std::string_view begin, std::string_view more) {
  if (const ArchiveKind* kind = archive_kind(begin))
    refuse_data(
        path,
        std::string("it is ").append(kind->name).append(". ").append(kind->advice).append(more));
}

}  // namespace sinter::detail
