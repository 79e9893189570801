// SPDX-License-Identifier: Apache-2.0
// What a card is doing, told by a library that plays NVIDIA's.
#include "hardware/cuda/nvml.hpp"

#include <doctest/doctest.h>

namespace sinter {

TEST_CASE("what the library tells of the card is told, and what it does not is left out") {
  CHECK(Nvml("0000:17:00.0", SINTER_PLAYED_NVML).use() == "20.0/80.0 GiB 97 % 513 W");
}

TEST_CASE("nothing is told of a card that it does not know, or where there is no library") {
  CHECK(Nvml("0000:18:00.0", SINTER_PLAYED_NVML).use().empty());
  CHECK(Nvml("0000:17:00.0", "libno-such-library.so.1").use().empty());
}

}  // namespace sinter
