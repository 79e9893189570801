// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "sinter/data/bytes.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

// Must not compile (quick), forward: the verifier rejects this recipe's program of evaluation or prediction
// and: read before written
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
    std::erase_if(result, [](const Instruction& i) { return i.kind == &detail::load; });
    return result;
  }
};
struct mine : Recipe<Gpt2<{.layers = 1, .heads = 1, .width = 8, .vocabulary = 11, .positions = 8}>,
                     text, Batch<{.global = 4, .micro = 1}>, Hasty> {};

// Must not compile, order: the verifier rejects this recipe's program
// and: touched while a transfer writes it
namespace acme {
/// A data-parallel policy that forgets to wait.
struct Hasty : Ddp<> {
  template <class R>
  static constexpr Program rewrite(const Model& model, const Program& program) {
    Program result = Ddp<>::rewrite<R>(model, program);
    std::erase_if(result, [](const Instruction& i) {
      return i.kind == &detail::await_reduce_kind<typename R::precision::gradient>;
    });
    return result;
  }
};
}  // namespace acme
struct mine : Recipe<Gpt2<{.layers = 2}>, Bytes<>, Batch<{.global = 8, .micro = 4}>, acme::Hasty> {
};
