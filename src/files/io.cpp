#include "sinter/files/io.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace sinter {
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

Descriptor open_file(const fs::path& path, int flags, std::string_view action) {
  int descriptor;
  do descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0) throw_file_error(action, path, errno);
  return Descriptor(descriptor);
}

/// Linux transfers at most 2 GiB - 4 KiB per call.
constexpr std::size_t largest_transfer = std::size_t(1) << 30;

std::string hexadecimal(XXH128_hash_t hash) {
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace

void throw_file_error(std::string_view action, const fs::path& path, int error) {
  throw FileError(fmt::format("Cannot {} {}: {}.{}", action, path.string(),
                              std::generic_category().message(error), advice(error)));
}

std::string printable(std::string_view text) {
  std::string result;
  for (char character : text) {
    auto code = static_cast<unsigned char>(character);
    if (code < 0x20 || code == 0x7f)
      result += fmt::format("\\x{:02x}", code);
    else
      result += character;
  }
  return result;
}

Descriptor::~Descriptor() { close(); }

int Descriptor::close() {
  if (value < 0) return 0;
  return ::close(std::exchange(value, -1)) == 0 || errno == EINTR ? 0 : errno;
}

InputFile::InputFile(fs::path path) : name(std::move(path)) {
  // Without O_NONBLOCK, opening a pipe would wait for its writer.
  descriptor = open_file(name, O_RDONLY | O_NONBLOCK, "open");
  struct stat status{};
  if (::fstat(descriptor.get(), &status) != 0) throw_file_error("look at", name, errno);
  if (!S_ISREG(status.st_mode))
    throw FileError(
        fmt::format("{} is not a regular file. Give the path of a file.", name.string()));
  length = static_cast<std::uint64_t>(status.st_size);
}

void InputFile::read_at(std::uint64_t offset, void* into, std::size_t bytes) const {
  auto* next = static_cast<char*>(into);
  while (bytes > 0) {
    ssize_t got = ::pread(descriptor.get(), next, std::min(bytes, largest_transfer),
                          static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
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

struct OutputFile::Hash {
  XXH3_state_t state;
};

OutputFile::OutputFile(fs::path path)
    : name(std::move(path)),
      descriptor(open_file(name, O_WRONLY | O_CREAT | O_TRUNC, "create")),
      state(std::make_unique<Hash>()) {
  XXH3_128bits_reset(&state->state);
}

OutputFile::~OutputFile() = default;

void OutputFile::write(const void* data, std::size_t bytes) {
  const auto* next = static_cast<const char*>(data);
  while (bytes > 0) {
    ssize_t put = ::write(descriptor.get(), next, std::min(bytes, largest_transfer));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw_file_error("write", name, errno);
    XXH3_128bits_update(&state->state, next, static_cast<std::size_t>(put));
    next += put;
    written += static_cast<std::uint64_t>(put);
    bytes -= static_cast<std::size_t>(put);
  }
}

void OutputFile::finish() {
  // A failed fsync is final: the kernel has dropped the pages, so asking again would lie.
  if (::fsync(descriptor.get()) != 0) throw_file_error("write", name, errno);
  if (int error = descriptor.close()) throw_file_error("write", name, error);
}

std::string OutputFile::hash() const { return hexadecimal(XXH3_128bits_digest(&state->state)); }

std::string hash_of(std::string_view text) {
  return hexadecimal(XXH3_128bits(text.data(), text.size()));
}

std::string hash_of_file(const fs::path& path) {
  InputFile file(path);
  auto state = std::make_unique<XXH3_state_t>();
  XXH3_128bits_reset(state.get());
  std::vector<char> buffer(std::size_t(1) << 20);
  for (std::uint64_t at = 0; at < file.size();) {
    auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), file.size() - at));
    file.read_at(at, buffer.data(), bytes);
    XXH3_128bits_update(state.get(), buffer.data(), bytes);
    at += bytes;
  }
  return hexadecimal(XXH3_128bits_digest(state.get()));
}

std::string read_file(const fs::path& path, std::uint64_t limit) {
  InputFile file(path);
  if (file.size() > limit)
    throw FileError(fmt::format("{} has {} bytes; at most {} were expected. Is it the right file?",
                                path.string(), file.size(), limit));
  std::string content(file.size(), '\0');
  file.read_at(0, content.data(), content.size());
  return content;
}

}  // namespace sinter
