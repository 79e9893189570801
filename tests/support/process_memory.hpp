// SPDX-License-Identifier: Apache-2.0
// What the system says of this process' memory.
#pragma once
#include <cstdio>
#include <fstream>
#include <string>

namespace sinter::detail::testing {

struct Bytes {
  double mapped = 0, touched = 0;
};
/// What this process has that no file has.
inline Bytes bytes_now() {
  std::ifstream status("/proc/self/status");
  Bytes bytes;
  for (std::string line; std::getline(status, line);) {
    long kibibytes = 0;
    if (std::sscanf(line.c_str(), "VmData: %ld kB", &kibibytes) == 1)
      bytes.mapped = 1024. * double(kibibytes);
    if (std::sscanf(line.c_str(), "RssAnon: %ld kB", &kibibytes) == 1)
      bytes.touched = 1024. * double(kibibytes);
  }
  return bytes;
}

}  // namespace sinter::detail::testing
