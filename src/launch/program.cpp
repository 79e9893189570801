// SPDX-License-Identifier: Apache-2.0
#include "launch/program.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <sstream>
#include <system_error>

#include "sinter/error.hpp"

namespace sinter::detail::launch {
namespace {

/// Why a path is no program that can be executed: 0 if it is one, else an errno.
int problem_of(const std::string& path) {
  struct stat found{};
  if (::stat(path.c_str(), &found) != 0) return errno;
  if (S_ISDIR(found.st_mode)) return EISDIR;
  if (!S_ISREG(found.st_mode)) return EACCES;
  return ::access(path.c_str(), X_OK) == 0 ? 0 : errno;
}

[[noreturn]] void refuse_program(const std::string& path, int problem) {
  if (problem == ENOENT || problem == ENOTDIR)
    throw Error(fmt::format(
        "There is no program '{}'. Expected a binary, such as ./sinter build prints.", path));
  if (problem == EISDIR)
    throw Error(
        fmt::format("'{}' is a folder. Expected a binary, such as ./sinter build prints.", path));
  throw Error(
      fmt::format("'{}' cannot be executed: {}. Expected a program that you may execute; "
                  "chmod +x makes it one.",
                  path, std::generic_category().message(problem)));
}

}  // namespace

std::string find_program(const std::string& name) {
  if (name.find('/') != name.npos) {
    if (const int problem = problem_of(name)) refuse_program(name, problem);
    return name;
  }
  const char* variable = std::getenv("PATH");
  std::istringstream folders(variable ? variable : "/bin:/usr/bin");
  std::string denied;
  for (std::string folder; !name.empty() && std::getline(folders, folder, ':');) {
    std::string path = (folder.empty() ? "." : folder) + "/" + name;
    const int problem = problem_of(path);
    if (problem == 0) return path;
    if (problem == EACCES && denied.empty()) denied = std::move(path);
  }
  if (!denied.empty()) refuse_program(denied, EACCES);
  if (problem_of("./" + name) == 0)
    throw Error(
        fmt::format("There is no program '{}' in the folders of PATH. One is in this folder: "
                    "name it ./{}",
                    name, name));
  throw Error(
      fmt::format("There is no program '{}' in the folders of PATH. Expected a binary, such as "
                  "./sinter build prints.",
                  name));
}

}  // namespace sinter::detail::launch
