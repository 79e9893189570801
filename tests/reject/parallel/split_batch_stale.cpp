// SPDX-License-Identifier: Apache-2.0
// Must not compile: the verifier rejects this recipe's program
// and: new weights are not gathered
#include <algorithm>

#include "sinter/model/gpt2.hpp"
#include "sinter/parallel/split_batch.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct text {
  using slot = slot::data;
  static constexpr int context = 8, vocabulary = 11;
};
/// The first rank updates, and tells nobody.
struct Silent : SplitBatch<> {
  template <class R>
  static constexpr Program rewrite(const Model& model, const Program& program) {
    Program result = SplitBatch<>::rewrite<R>(model, program);
    std::erase_if(result, [](const Instruction& i) {
      return i.kind == &distribute_kind<float> || i.kind == &await_distribute_kind<float>;
    });
    return result;
  }
};
struct mine : Recipe<Gpt2<{.layers = 1, .heads = 1, .width = 8, .vocabulary = 11, .positions = 8}>,
                     text, Batch<{.global = 4, .micro = 1}>, Silent> {};
constexpr bool checked = ready<mine>();
