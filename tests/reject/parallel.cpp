// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "sinter/model/gpt2.hpp"
#include "sinter/optimizer/adamw.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/parallel/split_batch.hpp"
#include "sinter/parallel/zero.hpp"
#include "sinter/precision/bf16.hpp"
#include "sinter/precision/fp64.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct text {
  using slot = slot::data;
  static constexpr int context = 8, vocabulary = 11;
};
template <class... Policies>
using Small = Recipe<Gpt2<{.layers = 1, .heads = 1, .width = 8, .vocabulary = 11, .positions = 8}>,
                     text, Batch<{.global = 4, .micro = 1}>, Policies...>;
/// A policy that reads the master weights of all parameters, of which a rank may have none or a part.
struct look {
  struct slot {
    static constexpr std::string_view name = "look";
  };
  static constexpr Kind kind{"look", [](const Model& model, const Instruction& i, TouchList& out) {
                               touches::each(model, i, Use::read, Space::master, out);
                             }};
  static constexpr Program rewrite(const Model& model, Program program) {
    program.push_back({&kind, 0, short(model.order.size())});
    return program;
  }
};

// Must not compile, ddp_compression: Ddp: only gradients of fp32 are compressed to bf16
struct mine : Small<Fp64, Ddp<{.compression = GradientCompression::bf16}>> {};

// Must not compile, split_batch_stale: the verifier rejects this recipe's program
// and: new weights are not gathered
/// The first rank updates, and tells nobody.
struct Silent : SplitBatch<> {
  template <class R>
  static constexpr Program rewrite(const Model& model, const Program& program) {
    Program result = SplitBatch<>::rewrite<R>(model, program);
    std::erase_if(result, [](const Instruction& i) {
      return i.kind == &detail::distribute_kind<float> ||
             i.kind == &detail::await_distribute_kind<float>;
    });
    return result;
  }
};
struct mine : Small<Silent> {};

// Must not compile, split_batch_state: the verifier rejects this recipe's program
// and: needs whole what the ranks split
struct mine : Small<Bf16, SplitBatch<>, look> {};

// Must not compile, zero_stage: Zero: there are only stages 1, 2 and 3
struct mine : Small<AdamW<>, Zero<{.stage = 4}>> {};

// Must not compile (quick), zero_state: the verifier rejects this recipe's program
// and: needs whole what the ranks split
struct mine : Small<Bf16, Zero<>, look> {};
