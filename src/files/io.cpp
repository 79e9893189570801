// SPDX-License-Identifier: Apache-2.0
#include "sinter/files/io.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <vector>

#include "files/hexadecimal.hpp"
#include "files/system.hpp"
#include "files/utf8.hpp"

namespace sinter::detail {
namespace {

namespace fs = std::filesystem;

std::string_view advice(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return " Free space there, or choose another folder.";
    case EACCES:
    case EPERM:
    case EROFS:
      return " Check the permissions, or choose another folder.";
    case ENOENT:
      return " Check the path.";
    case ENOTDIR:
    case EEXIST:
      return " A file stands where a folder is needed; choose another path.";
    case EISDIR:
      return " A folder stands there; move it away or choose another path.";
    case EFBIG:
      return " The file size limit is too small; see `ulimit -f`.";
    case EMFILE:
      return " Too many files are open; see `ulimit -n`.";
    case EIO:
      return " The disk or its file system reports a fault.";
    default:
      return "";
  }
}

[[noreturn]] void throw_not_regular(const fs::path& path) {
  throw FileError(fmt::format("{} is not a regular file. Give the path of a file.", path.string()));
}

/// Linux transfers at most 2 GiB - 4 KiB per call.
constexpr std::size_t largest_transfer = std::size_t(1) << 30;

}  // namespace

void throw_file_error(std::string_view action, const fs::path& path, int error) {
  throw FileError(fmt::format("Cannot {} {}: {}.{}", action, printable(path.string(), 4096),
                              std::generic_category().message(error), advice(error)));
}

std::string printable(std::string_view text, std::size_t most) {
  std::string result;
  while (!text.empty()) {
    std::size_t size = std::max<std::size_t>(1, well_formed(text));
    auto code = static_cast<unsigned char>(text[0]),
         next = static_cast<unsigned char>(text[size - 1]);
    bool control = code < 0x20 || code == 0x7f || (code == 0xc2 && size == 2 && next < 0xa0);
    std::string shown(text.substr(0, size));
    if (control || well_formed(text) == 0) {
      shown.clear();
      for (unsigned char byte : text.substr(0, size)) shown += fmt::format("\\x{:02x}", byte);
    }
    if (result.size() + shown.size() > most) return result + "…";
    result += shown;
    text.remove_prefix(size);
  }
  return result;
}

Descriptor::~Descriptor() { close(); }

int Descriptor::close() {
  if (value < 0) return 0;
  return ::close(std::exchange(value, -1)) == 0 || errno == EINTR ? 0 : errno;
}

Descriptor open_path(const fs::path& path, int flags, std::string_view action) {
  int opened = uninterrupted([&] { return ::open(path.c_str(), flags | O_CLOEXEC, 0666); });
  if (opened < 0) throw_file_error(action, path, errno);
  return Descriptor(opened);
}

Descriptor open_regular(const fs::path& path, int flags, Links links, std::string_view action) {
  flags |= O_CLOEXEC | O_NONBLOCK | (links == Links::refused ? O_NOFOLLOW : 0);
  Descriptor file(uninterrupted([&] { return ::open(path.c_str(), flags, 0666); }));
  int error = errno;
  struct stat status{};
  if (file.is_open()) {
    if (::fstat(file.get(), &status) != 0) throw_file_error("look at", path, errno);
    if (!S_ISREG(status.st_mode)) throw_not_regular(path);
    return file;
  }
  if (error == ELOOP && links == Links::refused && ::lstat(path.c_str(), &status) == 0 &&
      S_ISLNK(status.st_mode))
    throw FileError(
        fmt::format("{} is a link, and none is followed to a file of a run. Move it away, put the "
                    "file itself in its place, or choose another folder.",
                    path.string()));
  if (error == ENXIO) throw_not_regular(path);  // a pipe without a reader, or a socket
  throw_file_error(action, path, error);
}

InputFile::InputFile(fs::path path, Links links)
    : name(std::move(path)), descriptor(open_regular(name, O_RDONLY, links)) {
  struct stat status{};
  if (::fstat(descriptor.get(), &status) != 0) throw_file_error("look at", name, errno);
  length = static_cast<std::uint64_t>(status.st_size);
  changed = modified_of(status);
}

void InputFile::read_at(std::uint64_t offset, void* into, std::size_t bytes) const {
  auto* next = static_cast<char*>(into);
  while (bytes > 0) {
    ssize_t got = uninterrupted([&] {
      return ::pread(descriptor.get(), next, std::min(bytes, largest_transfer),
                     static_cast<off_t>(offset));
    });
    if (got < 0) throw_file_error("read", name, errno);
    if (got == 0)
      throw FileError(
          fmt::format("{} ends at byte {}, {} bytes too early: it has been cut short. "
                      "Restore it or use another file.",
                      name.string(), offset, bytes));
    next += got;
    offset += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::size_t>(got);
  }
}

bool begins_with(const fs::path& path, std::string_view text) {
  const InputFile file(path);
  if (file.size() < text.size()) return false;
  std::string begin(text.size(), '\0');
  file.read_at(0, begin.data(), begin.size());
  return begin == text;
}

std::string hash_of(std::string_view text) {
  return hexadecimal(XXH3_128bits(text.data(), text.size()));
}

std::string hash_of_file(const InputFile& file, std::uint64_t from) {
  auto state = std::make_unique<XXH3_state_t>();
  XXH3_128bits_reset(state.get());
  std::vector<char> buffer(std::size_t(1) << 20);
  for (std::uint64_t at = from; at < file.size();) {
    auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), file.size() - at));
    file.read_at(at, buffer.data(), bytes);
    XXH3_128bits_update(state.get(), buffer.data(), bytes);
    at += bytes;
  }
  return hexadecimal(XXH3_128bits_digest(state.get()));
}

std::string hash_of_file(const fs::path& path) { return hash_of_file(InputFile(path)); }

std::string read_file(const InputFile& file, std::uint64_t limit) {
  if (file.size() > limit)
    throw FileError(fmt::format("{} has {} bytes; at most {} were expected. Is it the right file?",
                                file.path().string(), file.size(), limit));
  std::string content(file.size(), '\0');
  file.read_at(0, content.data(), content.size());
  return content;
}

std::string read_file(const fs::path& path, std::uint64_t limit) {
  return read_file(InputFile(path), limit);
}

}  // namespace sinter::detail
