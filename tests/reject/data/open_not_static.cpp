// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: a data policy has a member that the binary cannot use as it is
// and: {"open"}
// and: make it static and public
#include "sinter/data/data_view.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct Table {
  using slot = sinter::slot::data;
  static constexpr int context = 1, vocabulary = 0;
  OpenedData open(const DataRequest& request) const;
};

struct mine : Recipe<Mlp<>, Table> {};
constexpr bool checked = ready<mine>();
