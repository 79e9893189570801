// SPDX-License-Identifier: Apache-2.0
// A large file whose writer is struck at one system call after the other.
#pragma once
#include <doctest/doctest.h>

#include <functional>

#include "faults/files_calls.hpp"
#include "sinter/error.hpp"
#include "unit/files/support.hpp"

namespace sinter::detail::testing {

/// What is written: several buffers, and no whole number of blocks.
inline const std::string struck_content = [] {
  std::string text((std::size_t(5) << 19) + 17, '\0');
  for (std::size_t k = 0; k < text.size(); ++k) text[k] = static_cast<char>(k * 31 + k / 4096);
  return text;
}();

/// Lets `write` leave it in a file, with a fault at one call after the other, until no call is left.
/// prepare  is called before each, without a fault
/// check    is given whether that has failed
inline void strike_all(Fault fault, int error,
                       const std::function<void(const std::filesystem::path&)>& prepare,
                       const std::function<void(const std::filesystem::path&)>& write,
                       const std::function<void(bool)>& check) {
  TemporaryFolder folder;
  const std::filesystem::path path = folder / "file";
  for (int at = 1;; ++at) {
    CAPTURE(at);
    bool failed = false;
    prepare(path);
    arm(fault, at, error);
    try {
      write(path);
    } catch (const FileError& failure) {
      failed = true;
      CHECK(contains(failure.what(), "Cannot write"));
    }
    const int count = disarm();
    if (!failed) CHECK((get(path) == struck_content));
    if (at > count) break;
    check(failed);
  }
}

}  // namespace sinter::detail::testing
