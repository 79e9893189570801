// SPDX-License-Identifier: Apache-2.0
// Whole values of parameters that may be split over ranks.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "sinter/run/machine.hpp"

namespace sinter::detail {

/// Throws an Error if this process does not store a parameter in this space, or its gradients,
/// because only another rank updates (Model::at_root).
void require_resident(Machine& machine, Space space, const Parameter& parameter);

/// Gathers the values of parameters from all ranks: from those of this process, or through the
/// communicator if each is a process.
class WholeValues {
  std::span<const std::unique_ptr<Machine>> machines;
  // The last part of a unit that was gathered from other processes, with its parameters in order.
  Space space{};
  FlatSlice part{0, 0};
  std::vector<std::byte> gathered;

 public:
  /// Gathers from these machines.
  /// requires  the machines are all of this process, and outlive it
  explicit WholeValues(std::span<const std::unique_ptr<Machine>> here) : machines(here) {}

  /// Returns all values of a parameter in a space, or of its gradient; none if it has none there.
  /// If it is split and ranks are processes, all of them ask for the same at the same time.
  /// throws    Error if another rank has failed, or only another rank has the values
  ///           (require_resident())
  std::vector<std::byte> of(Space space, const Parameter& parameter);

 private:
  void gather(Space space, const Parameter& parameter, int number, bool decayed);
  void fetch_from_owner(Space space, const Parameter& parameter, std::vector<std::byte>& values);
};

}  // namespace sinter::detail
