// SPDX-License-Identifier: Apache-2.0
// Calls code with the C++ type of an element, which a plan knows only as a value.
#pragma once
#include "sinter/base/bfloat16.hpp"
#include "sinter/base/element.hpp"
#include "sinter/base/float16.hpp"
#include "sinter/error.hpp"

namespace sinter::detail {

/// Calls visit with a value of the C++ type of an element.
/// throws    Error if the element is an integer
void with_element(Element element, auto visit) {
  switch (element) {
    case Element::f32:
      return visit(float());
    case Element::f64:
      return visit(double());
    case Element::f16:
      return visit(Float16());
    case Element::bf16:
      return visit(BFloat16());
    default:
      throw Error("these elements are no real numbers.");
  }
}

}  // namespace sinter::detail
