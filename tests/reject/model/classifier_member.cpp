// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: a member of a layer is missing, or not what it must be
// and: acme::Swish
// and: {"cheap"}
#include "sinter/model/classifier.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

namespace acme {

struct Swish {
  static constexpr std::array in{8};
  static constexpr std::array out{8};
  static constexpr int cheap = 1;
  static void forward(auto&) {}
  static void backward(auto&) {}
};

}  // namespace acme

struct mine : Recipe<Classifier<acme::Swish>> {};
constexpr bool checked = ready<mine>();
