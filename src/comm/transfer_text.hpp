// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "sinter/comm/operation.hpp"

namespace sinter {

/// What people read of a transfer, as "broadcast from rank 1 of 10 elements of 4 bytes".
inline std::string transfer_text(Operation operation, int root, std::int64_t count, int bytes) {
  std::string text = operation_names[int(operation)];
  if (root >= 0)
    text += (operation == Operation::reduce ? " to rank " : " from rank ") + std::to_string(root);
  return text + " of " + std::to_string(count) + " elements of " + std::to_string(bytes) + " bytes";
}

}  // namespace sinter
