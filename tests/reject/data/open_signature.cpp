// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: a data policy has a member that the binary cannot use as it is
// and: a_data_policy_has_another_member
// and: acme::Table
// and: {"open"}
// and: OpenedData open(const DataRequest&)
#include "sinter/data/data_view.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

namespace acme {
struct Table {
  using slot = sinter::slot::data;
  static constexpr int context = 1, vocabulary = 0;
  static OpenedData open(const std::vector<std::string>& paths);
};
}  // namespace acme

struct mine : Recipe<Mlp<>, acme::Table> {};
constexpr bool checked = ready<mine>();
