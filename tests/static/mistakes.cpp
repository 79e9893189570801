// SPDX-License-Identifier: Apache-2.0
// Mistakes in how a model's units are joined, as the compiler names them. tests/reject holds a few
// of them with their whole error.
#include "sinter/layer/add.hpp"
#include "sinter/layer/linear.hpp"
#include "sinter/layer/loss.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/recipe/plan.hpp"

using namespace sinter;
using namespace sinter::detail;

template <class M, class Which = detail::TrainingTrace>
constexpr bool mistaken(std::string_view what, std::string_view unit, int number) {
  constexpr Fault fault = detail::Traced<Recipe<M>, Which>::count.fault;
  return fault.what && fault.what == what && fault.unit == unit && fault.number == number;
}
template <class M>
constexpr bool joined = !detail::Traced<Recipe<M>, detail::TrainingTrace>::count.fault.what;

using X = Value<8>;
using Two = std::tuple<X, X>;
struct Project {
  static constexpr X trace(auto& g, X x) { return g("fc", Linear<8, 8>{}, x); }
};
struct Regress {
  static constexpr Value<1> trace(auto& g, X x, X target) {
    return g("loss", MeanSquaredError<8>{}, x, target);
  }
};

/// values -> Body{} -> body's loss, with Body between two projections.
template <class Body>
struct Around {
  using slot = sinter::slot::model;
  static constexpr void trace(auto& g) {
    auto in = g.template values<8>();
    auto x = g.unit("x", Project{}, in), y = g.unit("y", Project{}, in);
    auto [a, b] = g.unit("body", Body{}, x, y);
    auto sum = g.unit("sum", Sum{}, a, b);
    g.result(g.unit("loss", Regress{}, sum, g.template target_values<8>()));
  }
  struct Sum {
    static constexpr X trace(auto& g, X a, X b) { return g("add", Add<8>{}, a, b); }
  };
};

struct Sound {
  static constexpr Two trace(auto& g, X x, X y) {
    auto sum = g("add", Add<8>{}, x, y);
    return {sum, g("fc", Linear<8, 8>{}, sum)};
  }
};
static_assert(joined<Around<Sound>> && joined<Mlp<>> && joined<Gpt2<>>);

struct Returned {
  static constexpr Two trace(auto& g, X x, X y) { return {y, g("add", Add<8>{}, x, y)}; }
};
static_assert(mistaken<Around<Returned>>("a unit returns what it was given", "body", 2));

struct ReturnedTwice {
  static constexpr Two trace(auto& g, X x, X y) {
    auto sum = g("add", Add<8>{}, x, y);
    return {sum, sum};
  }
};
static_assert(mistaken<Around<ReturnedTwice>>("a unit returns a value twice", "body", 2));

struct Untaken {
  static constexpr Two trace(auto& g, X x, X) {
    auto a = g("a", Linear<8, 8>{}, x);
    return {a, g("b", Linear<8, 8>{}, x)};
  }
};
static_assert(mistaken<Around<Untaken>>("a unit takes what it does not use", "body", 2));

struct Forgotten {
  static constexpr Two trace(auto& g, X x, X y) {
    auto sum = g("add", Add<8>{}, x, y);
    g("forgotten", Linear<8, 8>{}, sum);
    return {sum, g("fc", Linear<8, 8>{}, sum)};
  }
};
static_assert(mistaken<Around<Forgotten>>("a value in a unit is never used", "body", 2));

struct OneName {
  static constexpr Two trace(auto& g, X x, X y) {
    auto a = g("fc", Linear<8, 8>{}, x);
    return {a, g("fc", Linear<8, 8>{}, y)};
  }
};
static_assert(mistaken<Around<OneName>>("two layers of a unit have one name", "body", 2));

struct Loose {
  static constexpr Two trace(auto& g, X x, X y) {
    auto a = g.tied("tied", "fc", Linear<8, 8>{}, x);
    return {a, g("fc", Linear<8, 8>{}, y)};
  }
};
static_assert(mistaken<Around<Loose>>("the layer tied to is not there", "body", 2));

/// What a model says after x = Project{} of values, from which it makes its loss.
template <class Rest>
struct Ends {
  using slot = sinter::slot::model;
  static constexpr void trace(auto& g) {
    auto in = g.template values<8>();
    Rest::trace(g, in, g.unit("x", Project{}, in), g.template target_values<8>());
  }
};

struct Doubled {
  static constexpr void trace(auto& g, X, X x, X target) {
    auto sum = g.unit("sum", Around<Sound>::Sum{}, x, x);
    g.result(g.unit("loss", Regress{}, sum, target));
  }
};
static_assert(mistaken<Ends<Doubled>>("a unit takes the same value twice", "sum", 1));

struct NoResult {
  static constexpr void trace(auto& g, X, X x, X target) { g.unit("loss", Regress{}, x, target); }
};
static_assert(mistaken<Ends<NoResult>>("what a unit returns is never used", "loss", 1));

struct NotALoss {
  static constexpr void trace(auto& g, X, X x, X target) {
    g.result(g.unit("sum", Around<Sound>::Sum{}, x, target));
  }
};
static_assert(mistaken<Ends<NotALoss>>("the result of trace() is no loss", "sum", 1));

struct OutsideIsTheResult {
  static constexpr void trace(auto& g, X in, X x, X target) {
    g.result(g.unit("loss", Regress{}, x, target));
    g.result(in);
  }
};
static_assert(mistaken<Ends<OutsideIsTheResult>>("the result of trace() is no loss", "", -1));
