// SPDX-License-Identifier: Apache-2.0
#include "sinter/comm/mesh.hpp"

#include "sinter/comm/communicator.hpp"

#include <string>

#include "sinter/error.hpp"

namespace sinter::detail {
namespace {

/// "data 4 × tensor 2"
std::string text_of(const Mesh& mesh) {
  std::string text;
  for (const Mesh::Axis& axis : mesh.axes)
    if (!axis.name.empty() || axis.size != 1)
      text +=
          (text.empty() ? "" : " × ") + std::string(axis.name) + " " + std::to_string(axis.size);
  return text;
}

/// Returns why there is no such mesh of `ranks` ranks; empty if there is one.
std::string problem_of(const Mesh& mesh, int ranks) {
  for (std::size_t k = 0; k < mesh.axes.size(); ++k) {
    const Mesh::Axis& axis = mesh.axes[k];
    const std::string name = "the axis '" + std::string(axis.name) + "'";
    if (axis.size < 1) return name + " has " + std::to_string(axis.size) + " ranks, not at least 1";
    if (axis.name.empty() && axis.size > 1) return "an axis of several ranks has no name";
    if (!axis.name.empty() && int(k) >= mesh.count())
      return name + " comes behind one without a name";
    if (!axis.name.empty() && mesh.axis(axis.name) < int(k)) return name + " is there twice";
  }
  if (mesh.ranks() == ranks) return "";
  return "it has " + std::to_string(mesh.ranks()) + " ranks, and there are " +
         std::to_string(ranks);
}

}  // namespace

std::vector<std::unique_ptr<Communicator>> axes_of(Communicator& whole, const Mesh& mesh) {
  if (const std::string problem = problem_of(mesh, whole.ranks()); !problem.empty())
    throw ArgumentError("ranks cannot be the mesh " + text_of(mesh) + ": " + problem +
                        ". Give each axis a name and a size whose product is the number of ranks.");
  std::vector<std::unique_ptr<Communicator>> ends;
  for (int axis = 0; axis < mesh.count(); ++axis)
    ends.push_back(whole.group(mesh.group(whole.rank(), axis)));
  return ends;
}

}  // namespace sinter::detail
