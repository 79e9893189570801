// SPDX-License-Identifier: Apache-2.0
// Must not compile: the verifier rejects this recipe's program
// and: touched while a transfer writes it
#include "sinter/data/bytes.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

namespace acme {

/// A data-parallel policy that forgets to wait.
struct Hasty : Ddp<> {
  template <class R>
  static constexpr Program rewrite(const Model& model, const Program& program) {
    Program result = Ddp<>::rewrite<R>(model, program);
    std::erase_if(result, [](const Instruction& i) {
      return i.kind == &await_reduce_kind<typename R::precision::gradient>;
    });
    return result;
  }
};

}  // namespace acme

struct mine : Recipe<Gpt2<{.layers = 2}>, Bytes<>, Batch<{.global = 8, .micro = 4}>, acme::Hasty> {
};
constexpr bool checked = ready<mine>();
