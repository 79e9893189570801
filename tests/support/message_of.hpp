// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <doctest/doctest.h>

#include <string>

#include "sinter/error.hpp"

namespace sinter::detail::testing {

/// The message of the error of type E that `act` must throw.
template <class E = FileError>
std::string message_of(auto act) {
  try {
    act();
  } catch (const E& error) {
    return error.what();
  }
  FAIL("no error was thrown");
  return "";
}

}  // namespace sinter::detail::testing
