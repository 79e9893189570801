// SPDX-License-Identifier: Apache-2.0
#include "tune/spelling.hpp"

namespace sinter::detail::tune {

std::string type_in(std::string_view function) {
  function.remove_prefix(function.find("T = ") + 4);
  std::string type(function.substr(0, function.find_first_of(";]")));
  constexpr std::string_view noise = "sinter::";
  for (auto at = type.find(noise); at != type.npos; at = type.find(noise, at))
    type.erase(at, noise.size());
  return type;
}

}  // namespace sinter::detail::tune
