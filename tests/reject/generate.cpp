// SPDX-License-Identifier: Apache-2.0
#include "sinter/batch/sample.hpp"
#include "sinter/data/bytes.hpp"
#include "sinter/device/cuda.hpp"
#include "sinter/generate/generator.hpp"
#include "sinter/layer/attention.hpp"
#include "sinter/layer/embedding.hpp"
#include "sinter/layer/head.hpp"
#include "sinter/layer/linear.hpp"
#include "sinter/layer/loss.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/model/llama.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/trainer/predictor.hpp"
using namespace sinter;

/// Texts of 12 tokens, 8 of them at most.
struct Texts {
  using slot = sinter::slot::data;
  static constexpr int context = 8, vocabulary = 12;
};
/// A model of the next token, with a layer after the embedding.
template <class L>
struct Embed {
  static constexpr Value<8> trace(auto& g, Ids tokens) {
    return g("mix", L{}, g("wte", Embedding<12, 8>{}, tokens));
  }
};
struct Learn {
  static constexpr Value<1> trace(auto& g, Value<8> x, Ids targets) {
    return g("loss", CrossEntropy<12>{}, g("head", Linear<8, 12>{}, x), targets);
  }
};
struct Follow {
  static constexpr Value<12> trace(auto& g, Value<8> x) {
    return g("head", Linear<8, 12>{}, g("last", LastRow<8>{}, x));
  }
};
template <class L>
struct Around {
  using slot = sinter::slot::model;
  static constexpr void trace(auto& g) {
    auto x = g.unit("embed", Embed<L>{}, g.tokens());
    g.result(g.unit("head", Learn{}, x, g.targets()));
  }
  static constexpr void predict(auto& g) {
    g.result(g.unit("head", Follow{}, g.unit("embed", Embed<L>{}, g.tokens())));
  }
};
/// The members of a layer of rows, beside which a case has facts.
struct Rows8 {
  static constexpr std::array in{8};
  static constexpr std::array out{8};
  static void forward(auto&) {}
  static void backward(auto&) {}
};

// Must not compile (quick), causal: Sinter: a Generator cannot continue texts with this recipe's model
// and: a causal layer has no extend() and: "embed" and: "mix"
namespace acme {
struct Mix : Rows8 {
  static constexpr bool causal = true;
};
}  // namespace acme
struct mine : Recipe<Around<acme::Mix>, Texts> {};
Generator<mine> generator;

// Must not compile, without_vocabulary: Sinter: a Generator cannot continue texts with this recipe's model
// and: the data have no vocabulary
struct mine : Recipe<Mlp<>> {};
Generator<mine> generator;

// Must not compile, no_logits: Sinter: a Generator cannot continue texts with this recipe's model
// and: predict() has not one result
struct Learns {
  using slot = sinter::slot::model;
  static constexpr void trace(auto& g) {
    auto x = g.unit("embed", Embed<Rows8>{}, g.tokens());
    g.result(g.unit("head", Learn{}, x, g.targets()));
  }
};
struct mine : Recipe<Learns, Texts> {};
Generator<mine> generator;

// Must not compile, cached_without_extend: Sinter: a member of a layer is missing, or not what it must be
// and: acme::Mix and: {"extend"}
namespace acme {
struct Mix : Rows8 {
  static constexpr bool causal = true;
  static constexpr Cached cached{.width = 8};
};
}  // namespace acme
struct mine : Recipe<Around<acme::Mix>, Texts> {};

// Must not compile, cached_as_number: Sinter: a member of a layer is missing, or not what it must be
// and: acme::Mix and: {"cached"} and: {"constexpr Cached"}
namespace acme {
struct Mix : Rows8 {
  static constexpr int cached = 8;
};
}  // namespace acme
struct mine : Recipe<Around<acme::Mix>, Texts> {};

// Must not compile, policy_of_numbers: Generation: these data have no vocabulary
struct mine : Recipe<Mlp<>, Generation<{.rows = 2}>> {};

// Must not compile, context_beyond_positions: Generation: the context is beyond the model's positions
struct mine
    : Recipe<Gpt2<{.positions = 256}>, Bytes<{.context = 128}>, Generation<{.context = 257}>> {};

// Must not compile, context_beyond_angles: Generation: the context is beyond the model's positions
struct mine
    : Recipe<Llama<{.positions = 256}>, Bytes<{.context = 128}>, Generation<{.context = 257}>> {};

// Must not compile (quick), sample_of_numbers: Sample: these data have no vocabulary
struct mine : Recipe<Mlp<>, Sample<{.top_k = 5}>> {};

// Must not compile, sample_without_rows: Sample: more beams or results than rows
// and: raise the .rows of Generation
struct mine : Recipe<Gpt2<>, Bytes<>, Generation<{.rows = 3}>, Sample<{.beams = 4}>> {};

// Must not compile, sample_without_effect: Sinter: options of a policy contradict each other
// and: at temperature 0 nothing is drawn
struct mine : Recipe<Gpt2<>, Bytes<>, Sample<{.temperature = 0, .top_p = 0.9}>> {};

// Must not compile, sample_outside: Sinter: an option of a policy is outside its range
// and: top_p
struct mine : Recipe<Gpt2<>, Bytes<>, Sample<{.top_p = 1.5}>> {};

// Must not compile, two_samples: two policies claim one slot
struct mine : Recipe<Gpt2<>, Bytes<>, Sample<{.top_k = 5}>, Sample<{.beams = 2}>> {};

// Must not compile, int8_of_nothing: Sinter: Quantize would store no weight of this recipe's model in int8
struct mine : Recipe<Mlp<{.hidden = 40}>, Quantize<>> {};
Predictor<mine> predictor;

// Must not compile (quick), int8_in_odd_groups: Quantize: group is none of 32, 64 and 128
struct mine : Recipe<Gpt2<>, Bytes<>, Quantize<{.group = 48}>> {};

// Must not compile, int8_on_a_card: Quantize: the recipe's device is a card
struct mine : Recipe<Gpt2<>, Bytes<>, Cuda<>, Quantize<>> {};

// Must not compile, int8_of_half_a_table: Sinter: Quantize cannot store the weights of this recipe's model
// and: "of tied layers one is in int8"
namespace acme {
/// A head of one's own over a table of Sinter's.
struct Head : Unembedding<12, 32> {};
struct Embed {
  static constexpr Value<32> trace(auto& g, Ids tokens) {
    return g("wte", Embedding<12, 32>{}, tokens);
  }
};
struct Learn {
  static constexpr Value<1> trace(auto& g, Value<32> x, Ids targets) {
    return g("loss", CrossEntropy<12>{}, g.tied("head", "wte", Head{}, x), targets);
  }
};
struct Follow {
  static constexpr Value<12> trace(auto& g, Value<32> x) {
    return g.tied("head", "wte", Head{}, g("last", LastRow<32>{}, x));
  }
};
struct Table {
  using slot = sinter::slot::model;
  static constexpr void trace(auto& g) {
    auto tokens = g.tokens(), targets = g.targets();
    auto x = g.unit("embed", Embed{}, tokens);
    g.result(g.tied_unit("learn", x, Learn{}, x, targets));
  }
  static constexpr void predict(auto& g) {
    auto x = g.unit("embed", Embed{}, g.tokens());
    g.result(g.tied_unit("learn", x, Follow{}, x));
  }
};
}  // namespace acme
struct mine : Recipe<acme::Table, Texts, Quantize<>> {};
Generator<mine> generator;
