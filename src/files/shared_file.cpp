// SPDX-License-Identifier: Apache-2.0
#include "files/shared_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "files/system.hpp"

namespace sinter::detail {

namespace fs = std::filesystem;

SharedFile::SharedFile(fs::path path, int flags)
    : name(std::move(path)),
      descriptor(open_regular(name, O_WRONLY | flags, Links::refused,
                              flags & O_CREAT ? "create" : "open")) {}

SharedFile SharedFile::made(const fs::path& path, std::uint64_t bytes) {
  SharedFile file(path, O_CREAT | O_EXCL);
  const int descriptor = file.descriptor.get();
  if (uninterrupted([&] { return ::fallocate(descriptor, 0, 0, off_t(bytes)); }) == 0) return file;
  if (errno != EOPNOTSUPP && errno != ENOSYS) throw_file_error("write", path, errno);
  if (uninterrupted([&] { return ::ftruncate(descriptor, off_t(bytes)); }) != 0)
    throw_file_error("write", path, errno);
  return file;
}

SharedFile SharedFile::opened(const fs::path& path) { return {path, 0}; }

void SharedFile::write(std::uint64_t at, const void* data, std::size_t bytes) {
  const auto* next = static_cast<const char*>(data);
  if (filled > 0 && at != start + filled) flush();
  while (bytes > 0) {
    if (filled == 0) start = at;
    const std::size_t used = start % block_bytes + filled;  // as in the file, so in the buffer
    const std::size_t taken = std::min(bytes, BlockBuffer::bytes - used);
    std::memcpy(buffer.get() + used, next, taken);
    filled += taken;
    next += taken;
    at += taken;
    bytes -= taken;
    if (used + taken == BlockBuffer::bytes) flush();
  }
}

/// Writes what waits. Blocks that also have others' bytes, and small ones, go through the page
/// cache.
void SharedFile::flush() {
  constexpr std::size_t large = BlockBuffer::bytes / 4;
  const std::uint64_t end = start + filled;
  std::uint64_t first = (start + block_bytes - 1) / block_bytes * block_bytes;
  std::uint64_t last = end / block_bytes * block_bytes;
  if (refuses_direct || last < first + large) first = last = end;
  const char* from = buffer.get() + start % block_bytes;
  put(from, first - start, start, false);
  put(from + (first - start), last - first, first, true);
  put(from + (last - start), end - last, last, false);
  filled = 0;
}

void SharedFile::put(const char* from, std::size_t bytes, std::uint64_t at, bool direct) {
  if (bytes == 0) return;
  const int file = descriptor.get();
  direct = direct && set_direct(file, true);
  while (bytes > 0) {
    const ssize_t put =
        uninterrupted([&] { return ::pwrite(file, from, bytes, static_cast<off_t>(at)); });
    if (put < 0 && errno == EINVAL && direct) {
      refuses_direct = true;
    } else {
      if (put <= 0) throw_file_error("write", name, put < 0 ? errno : ENOSPC);
      from += put;
      at += static_cast<std::uint64_t>(put);
      bytes -= static_cast<std::size_t>(put);
    }
    if (direct && (refuses_direct || bytes % block_bytes != 0)) {
      set_direct(file, false);
      direct = false;
    }
  }
  if (direct) set_direct(file, false);
}

void SharedFile::finish() {
  flush();
  // A failed fsync is final: the kernel has dropped the pages, so asking again would lie.
  if (uninterrupted([&] { return ::fsync(descriptor.get()); }) != 0)
    throw_file_error("write", name, errno);
  if (const int error = descriptor.close()) throw_file_error("write", name, error);
}

}  // namespace sinter::detail
