// SPDX-License-Identifier: Apache-2.0
// Ranks in a grid, and a communicator for each of its axes.
#pragma once
#include <array>
#include <memory>
#include <string_view>
#include <vector>

namespace sinter {

class Communicator;

/// A grid of ranks, as in Megatron-LM (Narayanan et al. 2021) and PyTorch's DeviceMesh: each rank has a
/// coordinate on each axis. Ranks that are neighbours on the last axis follow each other, so that an axis that
/// says much belongs at the end: there its ranks are of one host.
///   constexpr Mesh mesh{{Mesh::Axis{"data", 4}, {"tensor", 2}}};  // ranks 0 and 1 are a tensor group
struct Mesh {
  /// Such as {"data", 4}.
  struct Axis {
    std::string_view name{};  ///< no other axis has it
    int size = 1;             ///< so many ranks
  };
  static constexpr int most_axes = 4;  ///< of a mesh
  std::array<Axis, most_axes> axes{};  ///< those without a name are none

  /// How many axes there are.
  constexpr int count() const {
    int n = 0;
    for (const Axis& axis : axes) n += !axis.name.empty();
    return n;
  }
  /// How many ranks there are.
  constexpr int ranks() const {
    int product = 1;
    for (const Axis& axis : axes) product *= axis.size;
    return product;
  }
  /// The number of the axis with this name, or -1.
  constexpr int axis(std::string_view name) const {
    for (int k = 0; k < count(); ++k)
      if (axes[std::size_t(k)].name == name) return k;
    return -1;
  }
  /// How far neighbours on an axis are from each other.
  constexpr int stride(int axis) const {
    int product = 1;
    for (int k = axis + 1; k < most_axes; ++k) product *= axes[std::size_t(k)].size;
    return product;
  }
  /// Where a rank is on an axis, from 0.
  constexpr int coordinate(int rank, int axis) const {
    return rank / stride(axis) % axes[std::size_t(axis)].size;
  }
  /// The rank that differs from `rank` on this axis alone, and has this coordinate there.
  constexpr int rank_at(int rank, int axis, int coordinate_there) const {
    return rank + (coordinate_there - coordinate(rank, axis)) * stride(axis);
  }
  /// The ranks that differ from `rank` on this axis alone, itself included, in the order of their coordinates.
  constexpr std::vector<int> group(int rank, int axis) const {
    std::vector<int> members;
    for (int k = 0; k < axes[std::size_t(axis)].size; ++k)
      members.push_back(rank_at(rank, axis, k));
    return members;
  }
};

/// Ranks of which all work on other data, along one axis.
constexpr Mesh data_mesh(int ranks) { return {{Mesh::Axis{"data", ranks}}}; }

/// Makes this rank's ends of a communicator for each axis of a mesh, in their order: that of its group there,
/// in which it has its coordinate as its number. They have the transport, the limits and the order of sums of
/// `whole`, which must outlive them.
/// requires  all ranks do so at the same time, with the same mesh
/// throws    ArgumentError if the mesh has not as many ranks as `whole`, an axis without ranks, or two of a
///           name, or an axis behind one without a name; and what Communicator::group() does
[[nodiscard]] std::vector<std::unique_ptr<Communicator>> axes_of(Communicator& whole,
                                                                 const Mesh& mesh);

}  // namespace sinter
