// SPDX-License-Identifier: Apache-2.0
#include "cli/eval_progress.hpp"

#include <doctest/doctest.h>

#include <string>

namespace sinter::detail::testing::eval_progress_tests {
using sinter::detail::cli::EvalProgress;

using namespace std::chrono_literals;

const EvalProgress::Clock::time_point begin{};

/// What a progress prints; report tells it how far it is.
template <class Report, class... Word>
std::string printed(const Report& report, Word... word) {
  std::FILE* file = std::tmpfile();
  REQUIRE(file);
  {
    EvalProgress progress(file, 200, begin, word...);
    report(progress);
  }
  std::rewind(file);
  char text[64]{};
  const std::string all(text, std::fread(text, 1, sizeof text, file));
  std::fclose(file);
  return all;
}

TEST_CASE("an evaluation whose output is no terminal says every 5 seconds how far it is") {
  CHECK(printed([](EvalProgress& progress) {
          progress.at(10, begin + 4900ms);
          progress.at(50, begin + 5100ms);
          progress.at(60, begin + 9s);
          progress.at(100, begin + 10200ms);
        }) == "25% evaluated\n50% evaluated\n");
  EvalProgress(nullptr, 200, begin).at(100, begin + 1h);
}

TEST_CASE("texts are written, and not evaluated") {
  CHECK(printed([](EvalProgress& progress) { progress.at(50, begin + 6s); }, "written") ==
        "25% written\n");
}

}  // namespace sinter::detail::testing::eval_progress_tests
