// SPDX-License-Identifier: Apache-2.0
// Values of parameters, of which each rank may hold its shards alone.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "sinter/run/machine.hpp"

namespace sinter::detail {

/// Throws an Error if the rank of this process does not keep what a space has of a parameter, or of its
/// gradients, because another rank alone updates (Model::at_root).
void require_resident(Machine& machine, Space space, const Parameter& parameter);

/// Takes the values of parameters together that ranks hold: of those of this process, or through the
/// communicator, where each is a process.
class WholeValues {
  std::span<const std::unique_ptr<Machine>> machines;
  // The part of a unit that was gathered from other processes last; parameters lie in it in their order.
  Space space{};
  FlatSlice part{0, 0};
  std::vector<std::byte> gathered;

 public:
  /// requires  the machines, which are all of this process, outlive it
  explicit WholeValues(std::span<const std::unique_ptr<Machine>> here) : machines(here) {}

  /// All values of a parameter in a space, or of its gradient; none if it has none there. If it is split,
  /// and ranks are processes, all of them ask for the same at the same time.
  /// throws    Error if another rank has failed, or alone has them (require_resident())
  std::vector<std::byte> of(Space space, const Parameter& parameter);

 private:
  void gather(Space space, const Parameter& parameter, int number, bool decayed);
  void fetch_from_owner(Space space, const Parameter& parameter, std::vector<std::byte>& values);
};

}  // namespace sinter::detail
