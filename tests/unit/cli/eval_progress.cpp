// SPDX-License-Identifier: Apache-2.0
#include "cli/eval_progress.hpp"

#include <doctest/doctest.h>

#include <string>

namespace sinter::detail::testing::eval_progress_tests {
using sinter::detail::cli::EvalProgress;

using namespace std::chrono_literals;

TEST_CASE("an evaluation whose output is no terminal says every 5 seconds how far it is") {
  std::FILE* file = std::tmpfile();
  REQUIRE(file);
  const EvalProgress::Clock::time_point begin{};
  {
    EvalProgress progress(file, 200, begin);
    progress.at(10, begin + 4900ms);
    progress.at(50, begin + 5100ms);
    progress.at(60, begin + 9s);
    progress.at(100, begin + 10200ms);
  }
  std::rewind(file);
  char text[64]{};
  CHECK(std::string(text, std::fread(text, 1, sizeof text, file)) ==
        "25% evaluated\n50% evaluated\n");
  std::fclose(file);
  EvalProgress(nullptr, 200, begin).at(100, begin + 1h);
}

}  // namespace sinter::detail::testing::eval_progress_tests
