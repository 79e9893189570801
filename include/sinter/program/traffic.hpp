// SPDX-License-Identifier: Apache-2.0
// What ranks say to each other, as data: each kind of instruction states it, so that the programs of all
// ranks can be run against each other when the recipe compiles (world/).
#pragma once
#include <cstdint>
#include <vector>

#include "sinter/base/element.hpp"
#include "sinter/comm/mesh.hpp"
#include "sinter/comm/operation.hpp"

namespace sinter {

enum class Space : std::uint8_t;

/// One thing that an instruction says to other ranks, or hears from them.
struct Traffic {
  /// What an instruction does of a transfer: whoever starts it goes on at once.
  enum Does : std::uint8_t { starts, waits, both };
  Operation operation;     ///< what the ranks do together
  Does does;               ///< what this instruction does of it
  Space space;             ///< the array lies there
  std::int64_t first = 0;  ///< where it begins, in elements; as if the space were held whole
  std::int64_t count = 0;  ///< its elements
  Element element = Element::f32;  ///< their type
  int axis = 0;                    ///< of the mesh: those take part that differ on it alone
  int peer = -1;  ///< the other one's coordinate there, or the root's, if there is one

  /// Bytes of the array.
  constexpr std::int64_t bytes() const { return count * bytes_of(element); }
  /// Whether it goes from or to `peer`, and not from all to all.
  constexpr bool has_peer() const {
    return is_between_two() || operation == Operation::broadcast || operation == Operation::reduce;
  }
  /// Whether only this rank and `peer` take part.
  constexpr bool is_between_two() const { return sinter::is_between_two(operation); }
  constexpr bool operator==(const Traffic&) const = default;
};
/// In the order in which an instruction does it.
using TrafficList = std::vector<Traffic>;

/// Where an instruction runs: on which of how many ranks, and in which of how many iterations of the
/// loop. Outside the loop the iteration is 0.
struct OnRank {
  int rank = 0;        ///< which one, from 0
  int ranks = 1;       ///< how many there are
  int iteration = 0;   ///< of the loop, from 0
  int iterations = 1;  ///< how many it has
  Mesh mesh{};         ///< that of the ranks; without an axis they are along one
  /// Where the rank is on an axis, from 0.
  constexpr int coordinate(int axis) const {
    return mesh.count() == 0 ? rank : mesh.coordinate(rank, axis);
  }
};

}  // namespace sinter
