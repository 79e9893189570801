// SPDX-License-Identifier: Apache-2.0
// The words for what ranks do together, which transports, programs and messages share.
#pragma once
#include <cstdint>

namespace sinter {

/// What ranks do together.
enum class Operation : std::uint8_t {
  all_reduce,      // the array becomes its sum over the ranks
  reduce_scatter,  // this rank's part of it does
  all_gather,      // the parts of the others become theirs
  broadcast,       // it becomes that of one rank, the root
  reduce,          // that of the root becomes its sum over the ranks
  all_to_all,      // the part of each other rank becomes what that has in the part of this one
  send,            // it goes to another rank
  receive,         // it comes from there
  barrier          // nothing but to wait for each other
};
/// What people read of them.
inline constexpr const char* operation_names[]{"all-reduce", "reduce-scatter", "all-gather",
                                               "broadcast",  "reduce",         "all-to-all",
                                               "send",       "receive",        "barrier"};
/// Whether two ranks alone take part.
constexpr bool is_between_two(Operation operation) {
  return operation == Operation::send || operation == Operation::receive;
}

}  // namespace sinter
