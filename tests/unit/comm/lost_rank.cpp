// SPDX-License-Identifier: Apache-2.0
// An instruction that has lost another rank says where it was.
#include "sinter/layer/linear.hpp"
#include "sinter/layer/loss.hpp"
#include "sinter/trainer/trainer.hpp"
#include "support/batches.hpp"
#include "support/message_of.hpp"
#include "support/recipes.hpp"

namespace sinter::detail::testing::lost_rank_tests {

constexpr int width = 2;

/// A layer that loses a rank, as if it waited for one.
struct Lost {
  static constexpr std::array in{width};
  static constexpr std::array out{width};
  static void forward(auto&) { throw RankError("a rank has died."); }
  static void backward(auto&) {}
};
struct Model {
  using slot = slot::model;
  struct Body {
    static constexpr Value<width> trace(auto& g, Value<width> x) {
      return g("lost", Lost{}, g("fc", Linear<width, width>{}, x));
    }
  };
  struct Loss {
    static constexpr Value<1> trace(auto& g, Value<width> x, Value<1> target) {
      return g("loss", MeanSquaredError<1>{}, g("fc", Linear<width, 1>{}, x), target);
    }
  };
  static constexpr void trace(auto& g) {
    auto x = g.unit("body", Body{}, g.template values<width>());
    g.result(g.unit("out", Loss{}, x, g.template target_values<1>()));
  }
};
struct Tiny : Recipe<Model, UpTo<1>, Batch<{.global = 4, .micro = 2}>> {};

TEST_CASE("a step and an evaluation say where they were") {
  Trainer<Tiny> trainer({.threads = 1});
  const HostBatch batch = regression_batch({1, 1, 1, 1}, width, 1, 5);
  const std::string died = "a rank has died. Rank 0 was in ";
  CHECK(message_of<RankError>([&] { (void)trainer.step(batch); }) ==
        died + "step 1, at instruction 2, 'forward' of body.");
  CHECK(message_of<RankError>([&] { (void)trainer.evaluate(batch); }) ==
        died + "an evaluation, at instruction 2, 'evaluate' of body.");
}

}  // namespace sinter::detail::testing::lost_rank_tests
