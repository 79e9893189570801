// SPDX-License-Identifier: Apache-2.0
#include "files/zip.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>
#include <string_view>

namespace sinter::detail {
namespace {

// PKWARE's APPNOTE.TXT names these records and says where their fields are.
constexpr std::string_view member_mark = "PK\x03\x04", directory_mark = "PK\x01\x02",
                           end_mark = "PK\x05\x06", end64_mark = "PK\x06\x06",
                           locator64_mark = "PK\x06\x07";
constexpr std::uint64_t member_bytes = 30, entry_bytes = 46, end_bytes = 22, end64_bytes = 56,
                        locator64_bytes = 20, longest_comment = 65535;
constexpr std::uint64_t largest_directory = std::uint64_t(1) << 28;
constexpr const char* again = ". Get the file again";

/// A little-endian number of `bytes` bytes at a place of a record.
std::uint64_t number_at(std::string_view record, std::size_t at, int bytes) {
  std::uint64_t number = 0;
  for (int k = bytes; k-- > 0;)
    number = number << 8 | static_cast<unsigned char>(record[at + std::size_t(k)]);
  return number;
}

/// throws    ZipProblem if the file does not have these bytes
std::string bytes_at(const InputFile& file, std::uint64_t at, std::uint64_t bytes) {
  if (at > file.size() || bytes > file.size() - at)
    throw ZipProblem{fmt::format("its directory points to byte {}, and it has {}{}", at + bytes,
                                 file.size(), again)};
  std::string text(std::size_t(bytes), '\0');
  file.read_at(at, text.data(), text.size());
  return text;
}

/// Where the directory is.
struct Directory {
  std::uint64_t begin, bytes, entries;
};

/// What the record of zip64 says, if one stands before the record of the end.
void widen(const InputFile& file, std::uint64_t end, Directory& directory) {
  if (end < locator64_bytes) return;
  const std::string locator = bytes_at(file, end - locator64_bytes, locator64_bytes);
  if (!locator.starts_with(locator64_mark)) return;
  const std::string record = bytes_at(file, number_at(locator, 8, 8), end64_bytes);
  if (!record.starts_with(end64_mark))
    throw ZipProblem{fmt::format("its zip64 record is not where it says{}", again)};
  directory = {number_at(record, 48, 8), number_at(record, 40, 8), number_at(record, 32, 8)};
}

Directory directory_of(const InputFile& file) {
  const std::uint64_t tail = std::min(file.size(), end_bytes + longest_comment);
  const std::string last = bytes_at(file, file.size() - tail, tail);
  const std::size_t found = last.rfind(end_mark);
  if (found == last.npos || last.size() - found < end_bytes)
    throw ZipProblem{
        fmt::format("it is a zip archive without a directory at its end: it has been "
                    "cut short{}",
                    again)};
  const std::string_view record = std::string_view(last).substr(found);
  if (number_at(record, 4, 2) != 0 && number_at(record, 4, 2) != 0xffff)
    throw ZipProblem{"it is a zip archive of several disks. Write it as one file"};
  Directory directory{number_at(record, 16, 4), number_at(record, 12, 4), number_at(record, 10, 2)};
  widen(file, file.size() - tail + found, directory);
  if (directory.bytes > largest_directory)
    throw ZipProblem{fmt::format("its directory has {} bytes, and at most {} are read",
                                 directory.bytes, largest_directory)};
  return directory;
}

/// Takes the numbers of zip64 for those that have no room in an entry.
void widen(ZipMember& member, std::string_view extra) {
  constexpr std::uint64_t no_room = 0xffffffff;
  while (extra.size() >= 4) {
    const std::uint64_t kind = number_at(extra, 0, 2),
                        bytes = std::min<std::uint64_t>(number_at(extra, 2, 2), extra.size() - 4);
    std::string_view numbers = extra.substr(4, bytes);
    extra.remove_prefix(4 + bytes);
    if (kind != 1) continue;
    for (std::uint64_t* number : {&member.bytes, &member.stored, &member.header}) {
      if (*number != no_room) continue;
      if (numbers.size() < 8)
        throw ZipProblem{fmt::format("its zip64 field is too short{}", again)};
      *number = number_at(numbers, 0, 8);
      numbers.remove_prefix(8);
    }
  }
}

}  // namespace

std::vector<ZipMember> zip_members(const InputFile& file) {
  const Directory directory = directory_of(file);
  const std::string text = bytes_at(file, directory.begin, directory.bytes);
  std::string_view rest = text;
  std::vector<ZipMember> members;
  for (std::uint64_t k = 0; k < directory.entries; ++k) {
    if (rest.size() < entry_bytes || !rest.starts_with(directory_mark))
      throw ZipProblem{fmt::format("entry {} of its directory is damaged{}", k, again)};
    const std::uint64_t name = number_at(rest, 28, 2), extra = number_at(rest, 30, 2),
                        comment = number_at(rest, 32, 2);
    if (rest.size() - entry_bytes < name + extra + comment)
      throw ZipProblem{fmt::format("entry {} of its directory is damaged{}", k, again)};
    ZipMember member{.name = std::string(rest.substr(entry_bytes, name)),
                     .bytes = number_at(rest, 24, 4),
                     .stored = number_at(rest, 20, 4),
                     .header = number_at(rest, 42, 4),
                     .crc = std::uint32_t(number_at(rest, 16, 4)),
                     .method = std::uint16_t(number_at(rest, 10, 2)),
                     .flags = std::uint16_t(number_at(rest, 8, 2))};
    widen(member, rest.substr(entry_bytes + name, extra));
    members.push_back(std::move(member));
    rest.remove_prefix(entry_bytes + name + extra + comment);
  }
  return members;
}

struct ZipContent::State {
  static constexpr std::size_t piece = std::size_t(1) << 18;  // that is read from the disk at once
  const InputFile& file;
  ZipMember member;
  std::uint64_t at = 0, left = 0;  // in the file, of what is stored
  std::uint64_t position = 0;
  std::uint32_t crc = 0;
  z_stream stream{};
  std::vector<unsigned char> buffer;

  State(const InputFile& f, ZipMember m) : file(f), member(std::move(m)) {
    if (member.flags & 1)
      throw ZipProblem{fmt::format("its member '{}' is encrypted. Write it without a password",
                                   printable(member.name, 200))};
    if (member.method != 0 && member.method != 8)
      throw ZipProblem{fmt::format(
          "its member '{}' is compressed by method {}; stored (0) and deflated (8) ones are read. "
          "Write it with numpy.savez or numpy.savez_compressed",
          printable(member.name, 200), member.method)};
    const std::string header = bytes_at(file, member.header, member_bytes);
    if (!header.starts_with(member_mark)) damaged("its header is not where the directory says");
    at = member.header + member_bytes + number_at(header, 26, 2) + number_at(header, 28, 2);
    left = member.stored;
    if (at > file.size() || left > file.size() - at) damaged("it goes beyond the file's end");
    if (member.method == 0 && member.stored != member.bytes) damaged("it has two lengths");
    constexpr int without_header = -15;
    if (member.method == 8 && inflateInit2(&stream, without_header) != Z_OK) throw std::bad_alloc();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (member.method == 8) inflateEnd(&stream);
  }

  [[noreturn]] void damaged(std::string_view what) const {
    throw ZipProblem{
        fmt::format("its member '{}' is damaged: {}{}", printable(member.name, 200), what, again)};
  }

  std::size_t read_stored(unsigned char* into, std::size_t bytes) {
    bytes = std::size_t(std::min<std::uint64_t>(bytes, left));
    file.read_at(at, into, bytes);
    at += bytes;
    left -= bytes;
    return bytes;
  }

  std::size_t inflate_some(unsigned char* into, std::size_t bytes) {
    stream.next_out = into;
    stream.avail_out = unsigned(bytes);
    while (stream.avail_out > 0) {
      if (stream.avail_in == 0 && left > 0) {
        buffer.resize(std::size_t(std::min<std::uint64_t>(piece, left)));
        read_stored(buffer.data(), buffer.size());
        stream.next_in = buffer.data();
        stream.avail_in = unsigned(buffer.size());
      }
      const int answer = inflate(&stream, Z_NO_FLUSH);
      if (answer == Z_STREAM_END) break;
      if (answer == Z_MEM_ERROR) throw std::bad_alloc();
      if (answer == Z_BUF_ERROR) damaged("it ends in the middle");
      if (answer != Z_OK) damaged(stream.msg ? stream.msg : "it asks for a dictionary");
    }
    return bytes - stream.avail_out;
  }

  std::size_t read(unsigned char* into, std::size_t bytes) {
    constexpr std::size_t most = std::size_t(1) << 30;  // zlib counts in 32 bits
    std::size_t done = 0;
    while (done < bytes) {
      const std::size_t part = std::min(most, bytes - done);
      const std::size_t got =
          member.method == 0 ? read_stored(into + done, part) : inflate_some(into + done, part);
      crc = std::uint32_t(::crc32(crc, into + done, unsigned(got)));
      done += got;
      position += got;
      if (position > member.bytes) damaged("it is longer than the directory says");
      if (got < part) break;
    }
    if (position == member.bytes && crc != member.crc) damaged("its CRC-32 is another");
    if (done < bytes && position < member.bytes) damaged("it is shorter than the directory says");
    return done;
  }
};

ZipContent::ZipContent(const InputFile& file, ZipMember member)
    : state(std::make_unique<State>(file, std::move(member))) {}
ZipContent::~ZipContent() = default;

std::uint64_t ZipContent::position() const { return state->position; }
std::size_t ZipContent::read(void* into, std::size_t bytes) {
  return state->read(static_cast<unsigned char*>(into), bytes);
}

}  // namespace sinter::detail
