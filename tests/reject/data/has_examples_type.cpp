// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: a data policy has a member that the binary cannot use as it is
// and: {"has_examples"}
// and: constexpr bool has_examples
#include "sinter/data/data_view.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct Table {
  using slot = sinter::slot::data;
  static constexpr int context = 1, vocabulary = 0;
  static constexpr std::string_view has_examples = "yes";
};

struct mine : Recipe<Mlp<>, Table> {};
constexpr bool checked = ready<mine>();
