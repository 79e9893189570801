// SPDX-License-Identifier: Apache-2.0
#include "sinter/precision/cast.hpp"

#include "sinter/run/machine.hpp"

namespace sinter::executes {

void cast(Machine& machine, const Bound& bound) {
  const Instruction& i = *bound.instruction;
  if (machine.model().shares_update()) {
    for (const ShardSlice& shard : machine.shards(i.what, i.count)) machine.cast_shard(shard);
    return;
  }
  for (bool decayed : {true, false})
    machine.cast_weights(machine.flat_slice(i.what, i.count, decayed));
}

}  // namespace sinter::executes
