// SPDX-License-Identifier: Apache-2.0
// The hooks that Sinter finds in policies, and that those of every slot are called.
#include "sinter/memory/checkpoint.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/optimizer/sgd.hpp"
#include "sinter/parallel/zero.hpp"
#include "sinter/parameters/average.hpp"
#include "sinter/recipe/plan.hpp"

using namespace sinter;
using namespace sinter::detail;

struct own_slot {
  static constexpr std::string_view name = "own";
};
/// Takes what the hooks are called with, but one has a letter too few.
struct Misspelt {
  using slot = own_slot;
  struct Options {};
  static constexpr Options options{};
  static double rate_facto(const Options&, int) { return 1; }
  static std::string note(const Options&) { return ""; }
};
struct Silent {
  using slot = own_slot;
  using rules = RuleList<>;
};

template <class P>
struct with : Recipe<Mlp<>, P> {};

template <class P>
constexpr int acting = int(std::ranges::count(acting_hooks<P, with<P>>(), true, &Hook::found));
static_assert(acting<Misspelt> == 0 && acting<Silent> == 1);
static_assert(acting<Average<>> == 2);  // regions, rewrite<R>

/// Constants have their defaults in policies without them, and words are no constants.
struct Wordy {
  using slot = sinter::slot::parallel;
  static constexpr std::string_view splits_weights = "yes";
};
static_assert(hook::shards<Single> == 1 && !hook::splits_weights<Single>);
static_assert(hook::shards<Zero<{.stage = 3, .ranks = 2}>> == 2);
static_assert(hook::splits_weights<Zero<{.stage = 3, .ranks = 2}>>);
static_assert(!hook::splits_weights<Wordy> &&
              has_wrong_form<hook::splits_weights_hook, Wordy, void>());

/// A hook that only some options have is absent with the others.
static_assert(hook::KeepsWhole<Checkpoint<{.policy = selective, .every = 2}>>);
static_assert(!hook::KeepsWhole<Checkpoint<>>);
static_assert(hooks_fit<Checkpoint<>, with<Checkpoint<>>>());

/// A function that takes policies with a hook is called for these, in their order.
constexpr auto with_regions = [] {
  std::array<std::string_view, 2> slots;
  auto next = slots.begin();
  for_each_policy(PolicyList<Silent, Average<>, Misspelt, Sgd<{.momentum = .9}>>{},
                  [&]<hook::HasRegions P>(P*) { *next++ = P::slot::name; });
  return slots;
}();
static_assert(with_regions == std::array<std::string_view, 2>{"average", "optimizer"});

/// Sends the program through a rewrite that appends a second update.
struct Twice : Sgd<> {
  static constexpr Program rewrite(const Model&, Program program) {
    program.push_back(program.back());
    return program;
  }
};
static_assert(Plan<with<Twice>>::program.size() == Plan<with<Sgd<>>>::program.size() + 1);
