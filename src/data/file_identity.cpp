// SPDX-License-Identifier: Apache-2.0
#include "data/file_identity.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "sinter/files/io.hpp"

namespace sinter::detail {
namespace {

constexpr std::uint64_t sample_bytes = 4096, sample_count = 16;

/// What is hashed of the content.
std::string sample_of(const InputFile& file) {
  const std::uint64_t size = file.size();
  if (size <= sample_bytes * sample_count) return read_file(file);
  std::string sample(sample_bytes * sample_count, '\0');
  for (std::uint64_t k = 0; k < sample_count; ++k)
    file.read_at((size - sample_bytes) * k / (sample_count - 1), sample.data() + sample_bytes * k,
                 sample_bytes);
  return sample;
}

}  // namespace

std::string file_identity(const std::filesystem::path& path) {
  const InputFile file(path);
  struct stat found{};
  if (::stat(path.c_str(), &found) != 0) throw_file_error("look at", path, errno);
  return hash_of(fmt::format("{} {} {}.{:09} ", file.size(), found.st_ino, found.st_ctim.tv_sec,
                             found.st_ctim.tv_nsec) +
                 sample_of(file));
}

}  // namespace sinter::detail
