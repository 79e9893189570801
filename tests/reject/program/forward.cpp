// SPDX-License-Identifier: Apache-2.0
// Must not compile: the verifier rejects this recipe's program of evaluation or prediction
// and: read before written
#include <algorithm>

#include "sinter/model/gpt2.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct text {
  using slot = slot::data;
  static constexpr int context = 8, vocabulary = 11;
};
/// Forgets the inputs.
struct Hasty {
  struct slot {
    static constexpr std::string_view name = "hasty";
  };
  static constexpr Program rewrite_forward(const Model&, const Program& program) {
    Program result = program;
    std::erase_if(result, [](const Instruction& i) { return i.kind == &load; });
    return result;
  }
};
struct mine : Recipe<Gpt2<{.layers = 1, .heads = 1, .width = 8, .vocabulary = 11, .positions = 8}>,
                     text, Batch<{.global = 4, .micro = 1}>, Hasty> {};
constexpr bool checked = ready<mine>();
