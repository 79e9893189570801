// SPDX-License-Identifier: Apache-2.0
// The operations of ranks, and their names, for transports, programs and messages.
#pragma once
#include <cstdint>

namespace sinter {

/// An operation in which ranks take part together.
enum class Operation : std::uint8_t {
  all_reduce,      // the array becomes its sum over the ranks
  reduce_scatter,  // this rank's part of the array becomes its sum over the ranks
  all_gather,      // each other rank's part of the array becomes that rank's content of it
  broadcast,       // the array becomes that of one rank, the root
  reduce,          // the root's array becomes its sum over the ranks
  all_to_all,      // each other rank's part becomes that rank's content of this rank's part
  send,            // the array goes to another rank
  receive,         // the array comes from another rank
  barrier          // the ranks only wait for each other
};
namespace detail {
/// Printed names of operations, by Operation.
inline constexpr const char* operation_names[]{"all-reduce", "reduce-scatter", "all-gather",
                                               "broadcast",  "reduce",         "all-to-all",
                                               "send",       "receive",        "barrier"};
/// True if only two ranks take part.
constexpr bool is_between_two(Operation operation) {
  return operation == Operation::send || operation == Operation::receive;
}
}  // namespace detail

}  // namespace sinter
