// SPDX-License-Identifier: Apache-2.0
// Must not compile: Classifier: Layer, in this error, does not turn one operand of numbers into one
// and: acme::Losses
#include "sinter/model/classifier.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

namespace acme {

/// The sum of a row's squares.
struct Losses {
  static constexpr std::array in{8};
  static constexpr std::array out{1};
  static constexpr bool loss = true;
  static void forward(auto&) {}
  static void backward(auto&) {}
};

}  // namespace acme

struct mine : Recipe<Classifier<acme::Losses>> {};
constexpr bool checked = ready<mine>();
