// SPDX-License-Identifier: Apache-2.0
// Text for tests.
#pragma once
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

namespace sinter::detail::testing {

/// The beginning of tinyshakespeare where the tests' data and the program xz are there, else bytes
/// that are no more random. The text has at least `bytes` bytes.
inline std::string some_text(std::size_t bytes) {
  std::string text;
  const std::string file = std::string(SINTER_TEST_DATA) + "/tinyshakespeare/input.txt.xz";
  if (std::filesystem::exists(file)) {
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(
        popen(("xz -dc '" + file + "' 2>/dev/null").c_str(), "r"), pclose);
    text.resize(bytes);
    text.resize(pipe ? std::fread(text.data(), 1, bytes, pipe.get()) : 0);
  }
  for (std::size_t k = 0; text.size() < bytes; ++k)
    text += std::to_string(k * k % 1009) + (k % 7 ? " times " : " and then\n");
  return text;
}

}  // namespace sinter::detail::testing
