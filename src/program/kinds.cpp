// SPDX-License-Identifier: Apache-2.0
// How the kinds of instruction that every program is made of run.
#include "sinter/program/kinds.hpp"

#include "sinter/run/machine.hpp"

namespace sinter::executes {

void nothing(Machine&, const Bound&) {}

void load(Machine& machine, const Bound&) { machine.load_micro_batch(); }

void calls(Machine&, const Bound& bound) {
  for (const BoundCall* c = bound.calls; c != bound.calls + bound.count; ++c) c->run(c->call);
}

void loss(Machine& machine, const Bound& bound) { machine.take_loss(bound); }

}  // namespace sinter::executes
