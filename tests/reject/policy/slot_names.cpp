// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: two slots have one name
// and: acme::Halved<acme::halving>
// and: acme::Halved<acme::doubling>
#include "support/policies.hpp"
using namespace sinter;

namespace acme {
struct halving {
  static constexpr std::string_view name = "rate";
};
struct doubling {
  static constexpr std::string_view name = "rate";
};
}  // namespace acme

struct mine : Recipe<Mlp<>, acme::Halved<acme::halving>, acme::Halved<acme::doubling>> {};
constexpr bool checked = ready<mine>();
