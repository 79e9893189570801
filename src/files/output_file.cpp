// SPDX-License-Identifier: Apache-2.0
// Large files go to the disk past the page cache (O_DIRECT): a checkpoint that a thread writes
// beside the step then costs the step one copy of its bytes, not the kernel's work on every page.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "files/direct.hpp"
#include "files/hexadecimal.hpp"
#include "files/system.hpp"

namespace sinter::detail {

constexpr std::size_t buffer_bytes = BlockBuffer::bytes;

struct OutputFile::State {
  enum class Direct { untried, on, off };

  XXH3_state_t hash;
  BlockBuffer buffer;
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

}  // namespace sinter::detail
