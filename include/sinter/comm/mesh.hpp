// SPDX-License-Identifier: Apache-2.0
// Ranks in a grid, and a communicator for each of its axes.
#pragma once
#include <array>
#include <memory>
#include <string_view>
#include <vector>

namespace sinter {

class Communicator;

namespace detail {
/// A grid of ranks, as in Megatron-LM (Narayanan et al. 2021) and PyTorch's DeviceMesh: each rank
/// has a coordinate on each axis. Neighbours on the last axis have consecutive numbers. So an axis
/// with much communication belongs last, where its ranks are on one host.
///   constexpr Mesh mesh{{Mesh::Axis{"data", 4}, {"tensor", 2}}};  // ranks 0, 1: a tensor group
struct Mesh {
  /// An axis of a mesh, such as {"data", 4}.
  struct Axis {
    std::string_view name{};  ///< unique in the mesh
    int size = 1;             ///< number of ranks along the axis
  };
  static constexpr int max_axes = 4;  ///< maximum number of axes of a mesh
  std::array<Axis, max_axes> axes{};  ///< the axes; entries without a name do not count

  /// The number of axes.
  constexpr int count() const {
    int n = 0;
    for (const Axis& axis : axes) n += !axis.name.empty();
    return n;
  }
  /// The number of ranks.
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
  /// Difference between the numbers of neighbours on an axis.
  constexpr int stride(int axis) const {
    int product = 1;
    for (int k = axis + 1; k < max_axes; ++k) product *= axes[std::size_t(k)].size;
    return product;
  }
  /// The coordinate of a rank on an axis, from 0.
  constexpr int coordinate(int rank, int axis) const {
    return rank / stride(axis) % axes[std::size_t(axis)].size;
  }
  /// The rank that differs from `rank` only on this axis, on which it has the given coordinate.
  constexpr int rank_at(int rank, int axis, int coordinate_there) const {
    return rank + (coordinate_there - coordinate(rank, axis)) * stride(axis);
  }
  /// The ranks that differ from `rank` only on this axis, itself included, in the order of their
  /// coordinates.
  constexpr std::vector<int> group(int rank, int axis) const {
    std::vector<int> members;
    for (int k = 0; k < axes[std::size_t(axis)].size; ++k)
      members.push_back(rank_at(rank, axis, k));
    return members;
  }
};

/// A mesh with one axis, along which each rank works on other data.
constexpr Mesh data_mesh(int ranks) { return {{Mesh::Axis{"data", ranks}}}; }

/// Makes this rank's communicator for each axis of a mesh, in their order. It connects the rank's
/// group along the axis, in which the rank's number is its coordinate. All have the transport, the
/// limits and the order of sums of `whole`, which must outlive them.
/// requires  all ranks call it at the same time, with the same mesh
/// throws    ArgumentError if the mesh has not as many ranks as `whole`, an axis has no ranks, two
///           have one name, or an axis follows one without a name; and what Communicator::group()
///           throws
[[nodiscard]] std::vector<std::unique_ptr<Communicator>> axes_of(Communicator& whole,
                                                                 const Mesh& mesh);
}  // namespace detail

}  // namespace sinter
