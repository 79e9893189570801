// SPDX-License-Identifier: Apache-2.0
#include "sinter/comm/communicator.hpp"

#include <algorithm>
#include <string>

#include "sinter/error.hpp"

namespace sinter {
using namespace detail;
namespace {

/// Why a transfer cannot be started, or nothing. (A text is made only then, as a step allocates nothing.)
std::string problem_of(const Transfer& transfer, int rank, int ranks) {
  const bool is_rank = transfer.peer >= 0 && transfer.peer < ranks;
  const auto no_rank = [&] {
    return std::to_string(transfer.peer) + ", which is no rank: they are counted from 0 to " +
           std::to_string(ranks - 1) + ".";
  };
  switch (transfer.operation) {
    case Operation::all_reduce:
    case Operation::reduce_scatter:
    case Operation::all_gather:
      break;
    case Operation::all_to_all:
      if (transfer.count % ranks == 0) break;
      return " of " + std::to_string(transfer.count) + " elements, which are no equal parts of " +
             std::to_string(ranks) + " ranks. Fill the parts up to the same size.";
    case Operation::broadcast:
    case Operation::reduce:
      if (is_rank) break;
      return " with the root " + no_rank();
    case Operation::send:
    case Operation::receive:
      if (!is_rank) return " with the rank " + no_rank();
      if (transfer.peer != rank) break;
      return " of rank " + std::to_string(rank) + " with itself. Copy the array instead.";
    case Operation::barrier:
      return ", which has no array. Call barrier() instead.";
  }
  if (transfer.element == Element::i32 || transfer.element == Element::u8)
    return " of integers; ranks transfer real numbers alone.";
  return "";
}

}  // namespace

void Communicator::barrier() {
  double come = 1;
  sum(&come);
}

void Communicator::start(const Transfer& transfer) {
  const std::string problem = problem_of(transfer, rank(), ranks());
  if (!problem.empty())
    throw ArgumentError(std::string("a communicator was to start the operation '") +
                        operation_names[int(transfer.operation)] + "'" + problem);
  start_transfer(transfer);
}

std::unique_ptr<Communicator> Communicator::group(std::span<const int> members) {
  const auto refuse = [&](const std::string& why) {
    std::string list;
    for (const int m : members) list += (list.empty() ? "" : ", ") + std::to_string(m);
    throw ArgumentError("rank " + std::to_string(rank()) + " of " + std::to_string(ranks()) +
                        " asks for a group of the ranks " + list + ": " + why +
                        " Name each rank of the group once, in all of its ranks alike.");
  };
  for (std::size_t k = 0; k < members.size(); ++k) {
    const std::string name = std::to_string(members[k]);
    if (members[k] < 0 || members[k] >= ranks()) refuse(name + " is no rank.");
    if (std::ranges::count(members, members[k]) > 1) refuse(name + " is there twice.");
  }
  const auto me = std::ranges::find(members, rank());
  if (me == members.end()) refuse("it is none of them.");
  return make_group(members, int(me - members.begin()));
}

}  // namespace sinter
