// SPDX-License-Identifier: Apache-2.0
// Must not compile: Classifier: Layer, in this error, does not turn one operand of numbers into one
// and: acme::Halves
#include "sinter/model/classifier.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

namespace acme {

/// Both halves of a row, each as a result.
struct Halves {
  static constexpr std::array in{8};
  static constexpr std::array out{4, 4};
  static void forward(auto&) {}
  static void backward(auto&) {}
};

}  // namespace acme

struct mine : Recipe<Classifier<acme::Halves>> {};
constexpr bool checked = ready<mine>();
