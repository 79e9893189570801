// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: two slots have one name
// and: acme::Halved<acme::halving>
// and: AdamW
#include "support/policies.hpp"
using namespace sinter;

namespace acme {
struct halving {
  static constexpr std::string_view name = "optimizer";
};
}  // namespace acme

struct mine : Recipe<Mlp<>, acme::Halved<acme::halving>> {};
constexpr bool checked = ready<mine>();
