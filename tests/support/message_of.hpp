// SPDX-License-Identifier: Apache-2.0
// Errors that tests expect, and their texts.
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

/// The message of the error of type E that `act` throws, or nothing if it throws none.
template <class E>
std::string refusal_of(auto act) {
  try {
    act();
  } catch (const E& error) {
    return error.what();
  }
  return "";
}

/// Whether `text` has this part.
inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

}  // namespace sinter::detail::testing
