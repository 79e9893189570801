// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: this policy is not all that its slot asks for
#include "sinter/model/mlp.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct Abacus {
  using slot = sinter::slot::device;
  struct Options {};
  static constexpr Options options{};
  static constexpr bool on_host = true;  // and no open()
};

struct mine : Recipe<Mlp<>, Abacus> {};
constexpr bool checked = ready<mine>();
