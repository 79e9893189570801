// SPDX-License-Identifier: Apache-2.0
// Must not compile: Classifier: Layer, in this error, does not turn one operand of numbers into one
// and: acme::Widthless
#include "sinter/model/classifier.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

namespace acme {

struct Widthless {};

}  // namespace acme

struct mine : Recipe<Classifier<acme::Widthless>> {};
constexpr bool checked = ready<mine>();
