// SPDX-License-Identifier: Apache-2.0
// Names of types as text.
#pragma once
#include <string>
#include <string_view>

namespace sinter::detail {

/// The type T without namespaces and template arguments, given __PRETTY_FUNCTION__ of a function
/// template of T.
std::string short_type_in(std::string_view function);

/// "Gpt2": a type without namespaces and template arguments, as the compiler spells it.
template <class T>
std::string short_type_name() {
  return short_type_in(__PRETTY_FUNCTION__);
}

}  // namespace sinter::detail
