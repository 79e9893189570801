// SPDX-License-Identifier: Apache-2.0
#include "sinter/precision/cast.hpp"

#include "sinter/run/bound_units.hpp"

namespace sinter::detail::executes {

void cast(Machine& machine, const Bound& bound) {
  BoundUnits::run(machine, bound)
      .each_slice(std::array{Space::master, Space::weights}, [&](const PlacedSlice& slice) {
        machine.parameters().make_weights(slice.here[0], slice.here[1], slice.size);
      });
}

}  // namespace sinter::detail::executes
