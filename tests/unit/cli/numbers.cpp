// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "cli/output.hpp"
#include "sinter/data/unit.hpp"

using namespace sinter::detail::cli;

TEST_CASE("numbers are printed as people read them") {
  CHECK(sinter::detail::thousands(0) == "0");
  CHECK(sinter::detail::thousands(999) == "999");
  CHECK(sinter::detail::thousands(1000) == "1,000");
  CHECK(sinter::detail::thousands(-1234567) == "-1,234,567");
  CHECK(sinter::detail::thousands(-123) == "-123");
  CHECK(bytes_text(1023) == "1023 B");
  CHECK(bytes_text(1024) == "1.0 KiB");
  CHECK(bytes_text((1 << 20) - 1) == "1.0 MiB");
  CHECK(bytes_text(80LL << 30) == "80.0 GiB");
  CHECK(metric(0) == "0.0 ");
  CHECK(metric(999) == "999 ");
  CHECK(metric(12'091'392) == "12.1 M");
  CHECK(metric(999'999) == "1.00 M");
  CHECK(duration_text(0.2) == "0:01");
  CHECK(duration_text(65) == "1:05");
  CHECK(duration_text(3600 * 2 + 61) == "2:01:01");
  CHECK(duration_text(1e300 * 1e300) == "?");
}
