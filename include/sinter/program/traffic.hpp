// SPDX-License-Identifier: Apache-2.0
// Communication between ranks as data. Each kind of instruction states its own, so that the
// programs of all ranks can be run against each other when the recipe compiles (proof/).
#pragma once
#include <cstdint>
#include <vector>

#include "sinter/base/element.hpp"
#include "sinter/comm/mesh.hpp"
#include "sinter/comm/operation.hpp"

namespace sinter {

enum class Space : std::uint8_t;

/// A transfer between ranks that an instruction starts, waits for, or both.
struct Traffic {
  /// What an instruction does with a transfer. A rank that only starts it continues at once.
  enum Does : std::uint8_t { starts, waits, both };
  Operation operation;     ///< what the ranks do together
  Does does;               ///< what this instruction does with the transfer
  Space space;             ///< space of the array
  std::int64_t first = 0;  ///< first element of the array, counted as if the space were whole
  std::int64_t count = 0;  ///< number of elements
  Element element = Element::f32;  ///< type of the elements
  int axis = 0;                    ///< axis of the mesh; ranks that differ only on it take part
  int peer = -1;  ///< coordinate on `axis` of the other rank or the root; -1 if there is none

  /// Bytes of the array.
  constexpr std::int64_t bytes() const { return count * detail::bytes_of(element); }
  /// True if the transfer is from or to `peer`, rather than from all to all.
  constexpr bool has_peer() const {
    return is_between_two() || operation == Operation::broadcast || operation == Operation::reduce;
  }
  /// True if only this rank and `peer` take part.
  constexpr bool is_between_two() const { return sinter::detail::is_between_two(operation); }
  constexpr bool operator==(const Traffic&) const = default;
};
/// The traffic of an instruction, in its order.
using TrafficList = std::vector<Traffic>;

/// The rank on which an instruction runs, and the iteration of the loop in which it runs. Outside
/// the loop the iteration is 0.
struct OnRank {
  int rank = 0;         ///< number of the rank, from 0
  int ranks = 1;        ///< number of ranks
  int iteration = 0;    ///< iteration of the loop, from 0
  int iterations = 1;   ///< number of iterations of the loop
  detail::Mesh mesh{};  ///< mesh of the ranks; without an axis they are along one
  /// The rank's coordinate on an axis, from 0.
  constexpr int coordinate(int axis) const {
    return mesh.count() == 0 ? rank : mesh.coordinate(rank, axis);
  }
};

}  // namespace sinter
