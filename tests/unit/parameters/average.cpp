// SPDX-License-Identifier: Apache-2.0
// The moving average of the weights.
#include "unit/parameters/average.hpp"
#include "sinter/error.hpp"
#include "sinter/parameters/freeze.hpp"
#include "sinter/recipe/techniques.hpp"
#include "unit/files/support.hpp"

namespace sinter::detail::testing {
namespace {

TEST_CASE("the average follows its definition, and changes no weight") {
  check_average<{.decay = .9}>(average_tolerance);
  check_average<{.decay = .8, .warmup = false}>(average_tolerance);
}

TEST_CASE("weights can be taken from the average") {
  using R = Net<Average<{.decay = .9}>, Freeze<"input">>;
  TemporaryFolder folder;
  Trainer<R> trainer(settings), averaged({.seed = 2, .threads = 1});
  for (int t = 0; t < 5; ++t) applied(trainer, rows(t));
  trainer.save(folder / "saved");
  averaged.load_weights(folder / "saved", "ema");
  CHECK(averaged.parameter("input.weight") == trainer.parameter("input.weight"));  // frozen
  CHECK(averaged.parameter("output.weight") == trainer.state("ema", "output.weight"));
  trainer.export_to(folder / "exported");
  CHECK_THROWS_AS(averaged.load_weights(folder / "exported", "ema"), ArgumentError);
  Trainer<Net<>> none(settings);
  none.save(folder / "none");
  CHECK_THROWS_AS(averaged.load_weights(folder / "none", "ema"), FileError);
}

}  // namespace
}  // namespace sinter::detail::testing
