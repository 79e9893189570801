// SPDX-License-Identifier: Apache-2.0
#include "sinter/version.hpp"

namespace sinter {

std::string_view version() {
  // ./sinter pack finds these words in a binary, which it does not run.
  static constexpr std::string_view label = "Sinter version ";
  return std::string_view("Sinter version " SINTER_VERSION).substr(label.size());
}

}  // namespace sinter
