// SPDX-License-Identifier: Apache-2.0
#include "sinter/comm/communicator.hpp"

#include <string>

#include "sinter/error.hpp"

namespace sinter {

void Communicator::start(const Transfer& transfer) {
  const std::string name = operation_names[int(transfer.operation)];
  switch (transfer.operation) {
    case Operation::all_reduce:
    case Operation::reduce_scatter:
    case Operation::all_gather:
      break;
    case Operation::broadcast:
    case Operation::reduce:
      if (transfer.root >= 0 && transfer.root < ranks()) break;
      throw ArgumentError("Sinter: a communicator was to start the operation '" + name +
                          "' with the root " + std::to_string(transfer.root) +
                          ", which is no rank: they are counted from 0 to " +
                          std::to_string(ranks() - 1) + ".");
    default:
      throw ArgumentError("Sinter: a communicator was to start the operation '" + name +
                          "', which none has yet.");
  }
  if (transfer.element == Element::i32 || transfer.element == Element::u8)
    throw ArgumentError("Sinter: a communicator was to start the operation '" + name +
                        "' of integers; ranks transfer real numbers alone.");
  start_transfer(transfer);
}

}  // namespace sinter
