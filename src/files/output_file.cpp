// SPDX-License-Identifier: Apache-2.0
// Large files go to the disk past the page cache (O_DIRECT): a checkpoint that a thread writes
// beside the step then costs the step one copy of its bytes, not the kernel's work on every page.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

#include "files/hexadecimal.hpp"
#include "files/system.hpp"

namespace sinter {
namespace {

constexpr std::size_t buffer_bytes = std::size_t(1) << 20;
/// A multiple of every disk's blocks: O_DIRECT asks it of addresses, sizes and places in the file.
constexpr std::size_t block_bytes = 4096;

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

/// Whether the file system can do it.
bool set_direct(int descriptor, bool direct) {
  const int flags = ::fcntl(descriptor, F_GETFL);
  return flags != -1 &&
         ::fcntl(descriptor, F_SETFL, direct ? flags | O_DIRECT : flags & ~O_DIRECT) == 0;
}

}  // namespace

struct OutputFile::State {
  enum class Direct { untried, on, off };

  XXH3_state_t hash;
  std::unique_ptr<char, Free> buffer{
      static_cast<char*>(std::aligned_alloc(block_bytes, buffer_bytes))};
  std::size_t filled = 0;
  Direct direct = Direct::untried;

  void write_buffer(const Descriptor& file, const std::filesystem::path& name);
  void leave_direct(int descriptor) {
    if (direct == Direct::on) set_direct(descriptor, false);
    direct = Direct::off;
  }
};

void OutputFile::State::write_buffer(const Descriptor& file, const std::filesystem::path& name) {
  if (filled < buffer_bytes) leave_direct(file.get());
  if (direct == Direct::untried) direct = set_direct(file.get(), true) ? Direct::on : Direct::off;
  const char* next = buffer.get();
  while (filled > 0) {
    const ssize_t put = uninterrupted([&] { return ::write(file.get(), next, filled); });
    if (put < 0 && errno == EINVAL && direct == Direct::on) {
      leave_direct(file.get());
      continue;
    }
    if (put <= 0) throw_file_error("write", name, put < 0 ? errno : ENOSPC);
    next += put;
    filled -= static_cast<std::size_t>(put);
    if (filled % block_bytes != 0) leave_direct(file.get());
  }
}

OutputFile::OutputFile(std::filesystem::path path, Links links)
    : name(std::move(path)),
      descriptor(open_path(name, O_WRONLY | O_CREAT | (links == Links::followed ? O_TRUNC : O_EXCL),
                           "create")),
      state(std::make_unique<State>()) {
  if (!state->buffer) throw std::bad_alloc();
  XXH3_128bits_reset(&state->hash);
}

OutputFile::~OutputFile() = default;

void OutputFile::write(const void* data, std::size_t bytes) {
  const auto* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const std::size_t taken = std::min(bytes, buffer_bytes - state->filled);
    char* to = state->buffer.get() + state->filled;
    std::memcpy(to, next, taken);
    XXH3_128bits_update(&state->hash, to, taken);
    state->filled += taken;
    written += taken;
    next += taken;
    bytes -= taken;
    if (state->filled == buffer_bytes) state->write_buffer(descriptor, name);
  }
}

void OutputFile::finish() {
  state->write_buffer(descriptor, name);
  // A failed fsync is final: the kernel has dropped the pages, so asking again would lie.
  if (uninterrupted([&] { return ::fsync(descriptor.get()); }) != 0)
    throw_file_error("write", name, errno);
  if (int error = descriptor.close()) throw_file_error("write", name, error);
}

std::string OutputFile::hash() const { return hexadecimal(XXH3_128bits_digest(&state->hash)); }

}  // namespace sinter
