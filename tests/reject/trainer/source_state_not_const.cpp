// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: a data source lacks a member, or has it with other arguments
// and: acme::Lines
// and: {"state"}
// and: {"SamplerState state() const"}
#include "sinter/data/any_source.hpp"
using namespace sinter;

namespace acme {
struct Lines {
  void next(HostBatch&) {}
  SamplerState state() { return {}; }
  void restore(const SamplerState&) {}
};
}  // namespace acme

AnySource source{acme::Lines{}};
