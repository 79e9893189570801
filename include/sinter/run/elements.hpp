// From an element, which a plan knows, to its C++ type, which code needs.
#pragma once
#include "sinter/error.hpp"
#include "sinter/kernels/bfloat16.hpp"
#include "sinter/kernels/float16.hpp"
#include "sinter/layer/layer.hpp"

namespace sinter {

/// Calls visit with a value of the type of a real element.
/// throws  Error for integers
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
      throw Error("Sinter: these elements are no real numbers.");
  }
}

}  // namespace sinter
