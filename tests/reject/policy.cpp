// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "sinter/memory/keep_all.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/recipe/plan.hpp"
#include "support/policies.hpp"
using namespace sinter;

// Must not compile, hook_arguments: Sinter: a member of a policy has the name of a hook, but another form
// and: acme::HalvedAlways and: the member rate_factor of Policy and: static double rate_factor(const Options&, int sequences)
namespace acme {
struct halving {
  static constexpr std::string_view name = "halving";
};
struct HalvedAlways {
  using slot = halving;
  struct Options {};
  static constexpr Options options{};
  static double rate_factor(const Options&) { return 0.5; }  // it takes the sequences, too
};
}  // namespace acme
struct mine : Recipe<Mlp<>, acme::HalvedAlways> {};

// Must not compile, hook_in_a_slot: Sinter: a member of a policy has the name of a hook, but another form
// and: acme::Shared and: the member splits_weights of Policy and: static constexpr bool splits_weights
namespace acme {
struct Shared : Ddp<> {
  static bool splits_weights(const Options&) { return true; }  // it is a constant
};
}  // namespace acme
struct mine : Recipe<Mlp<>, acme::Shared> {};

// Must not compile (quick), hook_misspelt: Sinter: a policy does nothing
// and: acme::Halved and: sinter/policy/hooks.hpp lists all hooks
namespace acme {
struct halving {
  static constexpr std::string_view name = "halving";
};
struct HalvedByOptions {
  double by = 2;
  SINTER_FIELDS((by).above(0).adjustable())
};
struct HalvedBy {
  using slot = halving;
  using Options = HalvedByOptions;
  static constexpr Options options{};
  static double rate_faktor(const Options& o, int) { return 1 / o.by; }
};
}  // namespace acme
struct mine : Recipe<Mlp<>, acme::HalvedBy> {};

// Must not compile, hook_twice: Sinter: a member of a policy has the name of a hook, but another form
// and: acme::Wasteful and: the member rewrite of Policy and: Program rewrite(const Model&, const Program&)
namespace acme {
struct Wasteful : KeepAll {
  template <class R>
  static constexpr Program rewrite(const Program& program) {
    return program;
  }
  static constexpr int initial = 1;
};
}  // namespace acme
struct mine : Recipe<Mlp<>, acme::Wasteful> {};

// Must not compile, hook_rules: Sinter: a member of a policy has the name of a hook, but another form
// and: acme::Strict and: the member rules of Policy and: using rules = RuleList<...>
namespace acme {
struct Rule {};
struct Strict : KeepAll {
  using rules = Rule;  // it is no list
};
}  // namespace acme
struct mine : Recipe<Mlp<>, acme::Strict> {};

// Must not compile, incomplete_policy: this policy is not all that its slot asks for
// and: acme::Momentum
namespace acme {
struct Momentum {
  using slot = sinter::slot::optimizer;
};
}  // namespace acme
struct mine : Recipe<Mlp<>, acme::Momentum> {};

// Must not compile (quick), listed_name: Sinter: a list of fields has a name that is no field
// and: acme::Clip and: acme::ClipOptions and: {"maxx"}
namespace acme {
struct ClipOptions {
  double max = 1;
  SINTER_FIELDS((maxx).above(0).adjustable())
};
}  // namespace acme
struct mine : Recipe<Mlp<>, acme::Clip<acme::ClipOptions>> {};

// Must not compile (quick), not_a_policy: a recipe is made of policies
// and: BatchOptions
struct mine : Recipe<Mlp<>, BatchOptions> {};

// Must not compile, option_not_finite: Sinter: an option of a policy is outside its range
// and: ClipNorm< and: {"max"} and: {"above 0"}
struct mine : Recipe<Mlp<>, ClipNorm<{.max = std::numeric_limits<double>::infinity()}>> {};

// Must not compile, option_range: Sinter: an option of a policy is outside its range
// and: an_option_is_out_of_range and: AdamW< and: {"lr"} and: -1.0 and: {"at least 0"}
struct mine : Recipe<Mlp<>, AdamW<{.lr = -1}>> {};

// Must not compile, option_range_run: Sinter: an option of a policy is outside its range
// and: {"decay"} and: {"below 0"}
#include "sinter/sinter.hpp"
struct mine : Recipe<Mlp<>, Adafactor<{.decay = 0.8}>> {};

int main(int argc, char** argv) { return run<mine>(argc, argv); }

// Must not compile, options_of_two: Sinter: an option of a policy is outside its range
// and: {"lr"}
struct mine : Recipe<Mlp<>, AdamW<{.lr = -1}>, ClipNorm<{.max = 0}>> {};

// Must not compile, range_of_no_number: Sinter: a policy has a range of an option that is no number
// and: acme::Clip and: {"by_layer"}
namespace acme {
struct ClipOptions {
  double max = 1;
  bool by_layer = false;
  SINTER_FIELDS((max).above(0), (by_layer).at_least(0))
};
}  // namespace acme
struct mine : Recipe<Mlp<>, acme::Clip<acme::ClipOptions>> {};

// Must not compile, slot_name_of_ours: Sinter: two slots have one name
// and: acme::Halved<acme::halving> and: AdamW
namespace acme {
struct halving {
  static constexpr std::string_view name = "optimizer";
};
}  // namespace acme
struct mine : Recipe<Mlp<>, acme::Halved<acme::halving>> {};

// Must not compile (quick), slot_names: Sinter: two slots have one name
// and: acme::Halved<acme::halving> and: acme::Halved<acme::doubling>
namespace acme {
struct halving {
  static constexpr std::string_view name = "rate";
};
struct doubling {
  static constexpr std::string_view name = "rate";
};
}  // namespace acme
struct mine : Recipe<Mlp<>, acme::Halved<acme::halving>, acme::Halved<acme::doubling>> {};

// Must not compile, slot_without_name: Sinter: the slot of a policy has no name
// and: acme::Halved<acme::halving>
namespace acme {
struct halving {};
}  // namespace acme
struct mine : Recipe<Mlp<>, acme::Halved<acme::halving>> {};

// Must not compile (quick), unlisted_options: Sinter: options or a run state do not list their fields
// and: acme::Clip and: acme::ClipOptions and: SINTER_FIELDS(
namespace acme {
struct ClipOptions {
  double max = 1;
};
}  // namespace acme
struct mine : Recipe<Mlp<>, acme::Clip<acme::ClipOptions>> {};

// Must not compile, unlisted_state: Sinter: options or a run state do not list their fields
// and: acme::Counter and: acme::Count
namespace acme {
struct counting {
  static constexpr std::string_view name = "counting";
};
struct Count {
  int steps = 0;
};
struct Counter {
  using slot = counting;
  struct Options {};
  using State = Count;
  static constexpr Options options{};
  static bool after_step(const Options&, State& s, bool) { return ++s.steps < 0; }
};
}  // namespace acme
struct mine : Recipe<Mlp<>, acme::Counter> {};
