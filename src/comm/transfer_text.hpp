// SPDX-License-Identifier: Apache-2.0
// Texts on transfers.
#pragma once
#include <string>

#include "comm/exchange.hpp"

namespace sinter::detail {

/// As "broadcast from rank 1 of 10 elements of 4 bytes".
inline std::string transfer_text(Operation operation, int peer, std::int64_t count, int bytes) {
  const bool goes = operation == Operation::reduce || operation == Operation::send;
  std::string text = operation_names[int(operation)];
  if (peer >= 0) text += (goes ? " to rank " : " from rank ") + std::to_string(peer);
  return text + " of " + std::to_string(count) + " elements of " + std::to_string(bytes) + " bytes";
}

/// As "rank 1 sends 10 elements of bf16 to rank 0, which receives 9 elements of fp32".
inline std::string mismatch_text(const Mismatch& wrong, const std::string& sender,
                                 const std::string& receiver) {
  const auto text = [](const Envelope& envelope) {
    constexpr const char* names[]{"fp32", "fp64", "fp16", "bf16", "int32", "uint8"};
    const auto element = std::size_t(envelope.element);
    return std::to_string(envelope.count) + " elements of " +
           (element < std::size(names) ? names[element] : "another type");
  };
  return sender + " sends " + text(wrong.sent) + " to " + receiver + ", which receives " +
         text(wrong.received) +
         ". All ranks must take the same steps, of the same recipe, on the same batches.";
}

}  // namespace sinter::detail
