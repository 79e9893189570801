// SPDX-License-Identifier: Apache-2.0
// What a card is doing, told by a library that plays NVIDIA's.
#include "hardware/cuda/nvml.hpp"

#include <doctest/doctest.h>

namespace sinter::detail {

TEST_CASE("facts that NVML tells of the card are told, and others are left out") {
  CHECK(Nvml("0000:17:00.0", SINTER_PLAYED_NVML).use() == "20.0/80.0 GiB 97 % 513 W");
}

TEST_CASE("nothing is told of a card that NVML does not know, or without the library") {
  CHECK(Nvml("0000:18:00.0", SINTER_PLAYED_NVML).use().empty());
  CHECK(Nvml("0000:17:00.0", "libno-such-library.so.1").use().empty());
}

}  // namespace sinter::detail
