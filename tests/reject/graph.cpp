// SPDX-License-Identifier: Apache-2.0
#include "sinter/layer/linear.hpp"
#include "sinter/layer/loss.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

template <int In, int Out>
struct Project {
  static constexpr Value<Out> trace(auto& g, Value<In> x) { return g("fc", Linear<In, Out>{}, x); }
};
template <int W>
struct Loss {
  static constexpr Value<1> trace(auto& g, Value<W> x, Value<W> target) {
    return g("loss", MeanSquaredError<W>{}, x, target);
  }
};
/// A model of one unit, which takes numbers and those to learn.
template <class Unit, int In, int Out>
struct Alone {
  using slot = sinter::slot::model;
  static constexpr void trace(auto& g) {
    auto x = g.template values<In>();
    g.result(g.unit("body", Unit{}, x, g.template target_values<Out>()));
  }
};

// Must not compile, inputs: wrong number of inputs for this layer
// and: Linear<4, 8
struct Body {
  static constexpr Value<1> trace(auto& g, Value<4> x, Value<8> target) {
    return g("loss", MeanSquaredError<8>{}, g("fc", Linear<4, 8>{}, x, x), target);
  }
};
struct mine : Recipe<Alone<Body, 4, 8>> {};

// Must not compile (quick), names: the units of this recipe's model are joined wrongly
// and: two units have one name
struct model {
  using slot = sinter::slot::model;
  static constexpr void trace(auto& g) {
    auto x = g.unit("body", Project<8, 8>{}, g.template values<8>());
    auto y = g.unit("body", Project<8, 8>{}, x);
    g.result(g.unit("loss", Loss<8>{}, y, g.template target_values<8>()));
  }
};
struct mine : Recipe<model> {};

// Must not compile, predict: the units of this recipe's model are joined wrongly
// and: predict() changes the parameters
struct model {
  using slot = sinter::slot::model;
  static constexpr void trace(auto& g) {
    auto x = g.unit("first", Project<8, 8>{}, g.template values<8>());
    g.result(g.unit("loss", Loss<8>{}, x, g.template target_values<8>()));
  }
  static constexpr void predict(auto& g) {
    g.result(g.unit("first", Project<8, 9>{}, g.template values<8>()));
  }
};
struct mine : Recipe<model> {};

// Must not compile, repeat: a repeated unit does not take its own results
// and: Value<16> and: Value<8>
struct model {
  using slot = sinter::slot::model;
  static constexpr void trace(auto& g) {
    auto x = g.repeat(3, "h", Project<8, 16>{}, g.template values<8>());
    g.result(g.unit("loss", Loss<16>{}, x, g.template target_values<16>()));
  }
};
struct mine : Recipe<model> {};

// Must not compile, unit_width: a unit does not take the values joined to it
// and: acme::Second and: Value<16>
namespace acme {
struct Second : Project<32, 8> {};
}  // namespace acme
struct model {
  using slot = sinter::slot::model;
  static constexpr void trace(auto& g) {
    auto x = g.unit("first", Project<4, 16>{}, g.template values<4>());
    auto y = g.unit("second", acme::Second{}, x);
    g.result(g.unit("loss", Loss<8>{}, y, g.template target_values<8>()));
  }
};
struct mine : Recipe<model> {};

// Must not compile, unused: the units of this recipe's model are joined wrongly
// and: what a unit returns is never used
struct model {
  using slot = sinter::slot::model;
  static constexpr void trace(auto& g) {
    auto x = g.unit("first", Project<8, 8>{}, g.template values<8>());
    g.unit("forgotten", Project<8, 8>{}, x);
    g.result(g.unit("loss", Loss<8>{}, x, g.template target_values<8>()));
  }
};
struct mine : Recipe<model> {};

// Must not compile (quick), width: two layers do not fit
// and: Linear<512, 768 and: 640
struct Body {
  static constexpr Value<1> trace(auto& g, Value<640> x, Value<768> target) {
    return g("loss", MeanSquaredError<768>{}, g("fc", Linear<512, 768>{}, x), target);
  }
};
struct mine : Recipe<Alone<Body, 640, 768>> {};
