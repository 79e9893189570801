// SPDX-License-Identifier: Apache-2.0
#include "report/headline.hpp"

#include <doctest/doctest.h>

namespace sinter::detail::testing::headline_tests {
using namespace sinter::detail::report;

RunLog run_of(std::string name, std::vector<double> losses, std::vector<double> validation) {
  RunLog run;
  run.name = std::move(name);
  run.recipe = "mine";
  for (std::size_t k = 0; k < losses.size(); ++k) {
    Row row;
    row.step = std::int64_t(1000 * (k + 1));
    row.loss = losses[k];
    if (k < validation.size()) row.validation_loss = validation[k];
    run.rows.push_back(row);
  }
  return run;
}

std::string headline(const std::vector<RunLog>& runs) {
  std::vector<Figures> figures;
  for (const RunLog& run : runs) figures.push_back(figures_of(run));
  return headline_of(runs, labels_of(runs), figures);
}

TEST_CASE("the best run has the lowest validation loss of all its evaluations") {
  const double nan = Row::none;
  CHECK(headline({run_of("runs/a", {3, 2, 1}, {2.5, 1.5, 1.75}), run_of("runs/b", {1, 1}, {nan, 2}),
                  run_of("runs/c", {.5}, {})}) ==
        "Best run: a. Its lowest validation loss is 1.5000, at step 2,000 of 3,000. "
        "Next is b with 2.0000.");
  CHECK(headline({run_of("runs/a", {3, 2}, {2.5})}) ==
        "The lowest validation loss is 2.5000, at step 1,000 of 2,000.");
}

TEST_CASE("runs whose checkpoints one metric chooses are compared by it") {
  auto chosen = [](std::string name, std::vector<double> accuracies) {
    RunLog run = run_of(std::move(name), {3, 2, 1}, {1, 2, 3});
    run.best_by = "accuracy";
    run.greater_is_better = true;
    for (std::size_t k = 0; k < accuracies.size(); ++k)
      run.rows[k].metrics["accuracy"] = accuracies[k];
    return run;
  };
  std::vector<RunLog> runs{chosen("runs/a", {.5, .75, .25}), chosen("runs/b", {Row::none, .875})};
  CHECK(headline(runs) ==
        "Best run: b. Its highest accuracy is 0.8750, at step 2,000 of 3,000. Next is a with "
        "0.7500.");
  for (RunLog& run : runs) run.greater_is_better = false;
  CHECK(headline(runs).starts_with("Best run: a. Its lowest accuracy is 0.2500, at step 3,000 of"));
  runs[0].best_by = "";  // its checkpoints are chosen by the loss, which both have
  CHECK(
      headline(runs).starts_with("Best run: a. Its lowest validation loss is 1.0000, at step 1,"));
}

TEST_CASE("without evaluations the training loss decides, and without losses nothing") {
  CHECK(headline({run_of("x/a", {3, 2}, {}), run_of("x/b", {3, 1}, {})}) ==
        "Best run: b. Its training loss after 2,000 steps is 1.0000, smoothed. No evaluation was "
        "made. Next is a with 2.0000.");
  CHECK(headline({run_of("x/a", {}, {}), run_of("x/b", {Row::none}, {})}).empty());
}

TEST_CASE("losses of several recipes are not compared silently") {
  std::vector<RunLog> runs{run_of("a", {1}, {1}), run_of("b", {1}, {2})};
  runs[1].recipe = "other";
  CHECK(headline(runs).ends_with("The runs are of several recipes, whose losses may not compare."));
}

TEST_CASE("runs are named by what distinguishes their folders") {
  auto labels = [](std::vector<std::string> names) {
    std::vector<RunLog> runs;
    for (std::string& name : names) runs.push_back(run_of(std::move(name), {}, {}));
    return labels_of(runs);
  };
  using Names = std::vector<std::string>;
  CHECK(labels({"/x/runs/a/", "/x/runs/b"}) == Names{"a", "b"});
  CHECK(labels({"/x/one/a", "/x/two/a"}) == Names{"one/a", "two/a"});
  CHECK(labels({"a", "b/c"}) == Names{"a", "b/c"});
  CHECK(labels({"/x/a", "/x/a"}) == Names{"a", "a"});
  CHECK(labels({"/x/a", "/x/a/b"}) == Names{"a", "a/b"});
  CHECK(labels({"/x/runs/a"}) == Names{"/x/runs/a"});
}

}  // namespace sinter::detail::testing::headline_tests
