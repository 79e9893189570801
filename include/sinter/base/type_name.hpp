// SPDX-License-Identifier: Apache-2.0
// Names of types as text.
#pragma once
#include <string>
#include <string_view>

namespace sinter::detail {

/// "Gpt2<{…}>" without namespaces, as the compiler spells types.
template <class T>
std::string type_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  std::size_t begin = text.find("T = ") + 4;
  std::size_t end = text.find_first_of(";]", begin);
  return std::string(text.substr(begin, end - begin));
}
/// "Gpt2": also without the arguments.
template <class T>
std::string short_type_name() {
  std::string name = type_name<T>();
  name = name.substr(0, name.find('<'));
  return name.substr(name.rfind(':') == std::string::npos ? 0 : name.rfind(':') + 1);
}

}  // namespace sinter::detail
