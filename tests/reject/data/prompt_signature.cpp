// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: a data policy has a member that the binary cannot use as it is
// and: {"prompt"}
// and: Prompt prompt(const Tokenizer&
#include "sinter/data/data_view.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct Lines {
  using slot = sinter::slot::data;
  static constexpr int context = 1, vocabulary = 0;
  static Prompt prompt(std::string_view text);
};

struct mine : Recipe<Mlp<>, Lines> {};
constexpr bool checked = ready<mine>();
