// SPDX-License-Identifier: Apache-2.0
#include "data/file_state.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>

#include "files/system.hpp"

namespace sinter::detail {

std::string change_of(const FileState& file) {
  struct stat found;
  const std::string name = printable(file.path);
  if (::stat(file.path.c_str(), &found) != 0)
    return fmt::format("{} is no longer there ({}).", name, std::generic_category().message(errno));
  if (found.st_size != file.bytes)
    return fmt::format("{} has {} bytes now; it had {}.", name, found.st_size, file.bytes);
  if (modified_of(found) != file.modified)
    return fmt::format("{} was written to, though its size is what it was.", name);
  return "";
}

}  // namespace sinter::detail
