// SPDX-License-Identifier: Apache-2.0
#include "trainer/profile_summary.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace sinter::detail::testing::profile_summary_tests {

TEST_CASE("a summary has the shares of the time, the largest first") {
  CHECK(profile_summary({{"read", 1'000'000}, {"update", 3'000'000}, {"save", 0}}, 2) ==
        "\n 75.0 %      1.500 ms a step  update\n 25.0 %      0.500 ms a step  read");
}

TEST_CASE("the tenth line of a summary has all that is left") {
  std::map<std::string, std::int64_t> spent;
  for (int k = 1; k <= 12; ++k) spent[std::string(1, char('a' + k))] = k * 1'000'000;
  const std::string text = profile_summary(spent, 1);
  CHECK(std::count(text.begin(), text.end(), '\n') == 10);
  CHECK(text.starts_with("\n 15.4 %     12.000 ms a step  m\n"));
  CHECK(text.ends_with("\n  7.7 %      6.000 ms a step  3 others"));
}

}  // namespace sinter::detail::testing::profile_summary_tests
