// SPDX-License-Identifier: Apache-2.0
// Must not compile: the verifier rejects this recipe's program
// and: needs whole what the ranks split
#include "sinter/model/gpt2.hpp"
#include "sinter/parallel/zero.hpp"
#include "sinter/precision/bf16.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct text {
  using slot = slot::data;
  static constexpr int context = 8, vocabulary = 11;
};
/// A policy that reads the master weights of all parameters, of which a rank has its shards.
struct look {
  struct slot {
    static constexpr std::string_view name = "look";
  };
  static constexpr Kind kind{"look",
                             [](const Model& model, const Instruction& i, TouchList& out) {
                               touches::each(model, i, Use::read, Space::master, out);
                             },
                             executes::nothing};
  static constexpr Program rewrite(const Model& model, Program program) {
    program.push_back({&kind, 0, short(model.order.size())});
    return program;
  }
};
struct mine : Recipe<Gpt2<{.layers = 1, .heads = 1, .width = 8, .vocabulary = 11, .positions = 8}>,
                     text, Batch<{.global = 4, .micro = 1}>, Bf16, Zero<>, look> {};
constexpr bool checked = ready<mine>();
