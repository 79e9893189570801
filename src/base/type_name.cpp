// SPDX-License-Identifier: Apache-2.0
#include "sinter/base/type_name.hpp"

namespace sinter::detail {

std::string short_type_in(std::string_view function) {
  function.remove_prefix(function.find("T = ") + 4);
  function = function.substr(0, function.find_first_of(";]<"));
  return std::string(function.substr(function.rfind(':') + 1));
}

}  // namespace sinter::detail
