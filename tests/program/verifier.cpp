// SPDX-License-Identifier: Apache-2.0
// Each rule of the verifier, broken by a program that is right otherwise.
#include <doctest/doctest.h>

#include <set>

#include "program/models.hpp"
#include "sinter/memory/checkpoint.hpp"
#include "sinter/memory/offload.hpp"
#include "sinter/optimizer/muon.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/parallel/zero.hpp"
#include "sinter/parameters/average.hpp"
#include "sinter/recovery/spike_guard.hpp"
#include "support/rules.hpp"

namespace sinter::detail::testing {
namespace {

/// An instruction that touches one thing, whose number is `what`.
template <Use U, Space S, Role R = Role::none>
constexpr Kind only{.name = "only",
                    .touch = [](const Model&, const Instruction& i,
                                TouchList& out) { out.push_back({U, S, i.what}); },
                    .role = R};

using Plain = Made<Letters, Gpt2<tiny>, Batch<{.global = 3, .micro = 1}>>;
using Reduced = Made<Letters, Gpt2<tiny>, Batch<{.global = 4, .micro = 1}>,
                     Ddp<{.bucket_bytes = 500, .ranks = 2}>, Checkpoint<{.policy = full}>>;
static_assert(ready<Plain>() && ready<Reduced>());
constexpr Purpose one_rank{true, false}, ranks{true, true};

template <class R>
Program shipped() {
  return {Plan<R>::program.begin(), Plan<R>::program.end()};
}
int find(const Program& program, auto matches) {
  for (int t = 0; t < int(program.size()); ++t)
    if (matches(program[std::size_t(t)])) return t;
  FAIL("no such instruction");
  return -1;
}
int find(const Program& program, Role role) {
  return find(program, [&](const Instruction& i) { return i.kind->role == role; });
}
int find(const Program& program, const Kind& kind, int what = -1) {
  return find(program, [&](const Instruction& i) {
    return i.kind == &kind && (what < 0 || i.what == what);
  });
}
Program without(Program program, int t) {
  program.erase(program.begin() + t);
  return program;
}
Program with(Program program, int t, Instruction i) {
  program.insert(program.begin() + t, i);
  return program;
}
Program doubled(const Program& program, int t) { return with(program, t, program[std::size_t(t)]); }
Program moved(const Program& program, int from, int to) {
  return with(without(program, from), to, program[std::size_t(from)]);
}

std::set<std::string> provoked;
void expect(const Model& model, const Program& program, Purpose purpose, const char* rule) {
  Verdict verdict = verify(model, program, purpose);
  REQUIRE(!verdict.fine());
  CHECK(std::string(verdict.what) == rule);
  CHECK(verdict.at >= 0);
  provoked.insert(verdict.what);
}
void expect(const Program& program, const char* rule) {
  expect(Plan<Plain>::model, program, one_rank, rule);
}
void expect_of_ranks(const Program& program, const char* rule) {
  expect(Plan<Reduced>::model, program, ranks, rule);
}

const Kind& await = await_reduce_kind<float>;
constexpr short last_unit = short(Plan<Plain>::model.count() - 1);

TEST_CASE("reads of what was not written are rejected") {
  Program p = shipped<Plain>();
  CHECK(verify(Plan<Plain>::model, p, one_rank).fine());
  expect(without(p, find(p, load)), "read before written");
  expect(without(p, find(p, forward, 1)), "read before written");
  expect(doubled(p, find(p, forward, 1)), "a unit runs forward twice");
  expect(doubled(p, find(p, forward, last_unit)), "a unit runs forward twice");
  expect(without(p, find(p, backward, 0)),
         "a gradient is made and not used: a backward is missing");
  Program none = p;
  std::erase_if(none, [](Instruction i) { return i.kind == &backward || i.kind == &take_loss; });
  expect(none, "a saved block is made and not used: a backward is missing");
}

constexpr void touches_decision(const Model&, const Instruction&, TouchList& out) {
  touches::decision(Use::modify, out);
}
/// Reads nothing but where sequences start.
constexpr Kind lengths{"lengths", [](const Model&, const Instruction&, TouchList& out) {
                         touches::starts(Use::read, out);
                       }};

TEST_CASE("starts of sequences must be loaded before they are read") {
  // Units that see of their inputs only how many rows these have.
  Model model = Plan<Plain>::model;
  std::vector<UnitPlan> plans{model.plans.begin(), model.plans.end()};
  for (UnitPlan& plan : plans)
    for (Touches& phase : plan.phase) phase.input = {};
  model.plans = plans;
  Program p = shipped<Plain>();
  CHECK(verify(model, p, one_rank).fine());
  const int loaded = find(p, load);
  expect(model, without(p, loaded), one_rank, "read before written");
  expect(model, moved(p, loaded, loaded + 1), one_rank, "read before written");
  expect(model, moved(p, loaded, 0), one_rank, "made once, but every micro-batch has its own");
  CHECK(verify(model, with(p, loaded + 1, {&lengths}), one_rank).fine());
  expect(model, with(p, loaded, {&lengths}), one_rank, "read before written");
  expect(model, with(p, int(p.size()), {&lengths}), one_rank, "read before written");
  expect(model, {{&lengths}}, {false, false}, "read before written");
}

TEST_CASE("each loss must be taken once") {
  Program p = shipped<Plain>();
  int loss = find(p, Role::loss);
  expect(without(p, loss), "the loss of a unit is not taken");
  expect(doubled(p, loss), "a loss is taken twice");
}

TEST_CASE("each micro-batch must make its own values") {
  Program p = shipped<Plain>();
  const char* its_own = "made once, but every micro-batch has its own";
  expect(moved(p, find(p, load), 0), its_own);
  for (const Kind* kind : {&load, &forward}) {
    Program some = p;
    some[std::size_t(find(p, *kind))].when = When::first;
    expect(some, its_own);
    some[std::size_t(find(p, *kind))].when = When::last;
    expect(some, "read before written");
  }
  for (When when : {When::first, When::last}) {
    Program recomputed = shipped<Reduced>();
    recomputed[std::size_t(find(recomputed, recompute))].when = when;
    expect_of_ranks(recomputed, its_own);
  }
  expect(doubled(p, find(p, Role::loop)), "a second loop, or a loop in a loop");
  expect(without(p, find(p, Role::loop)), "an end without a loop");
  expect(Program(p.begin(), p.begin() + find(p, Role::end)), "a loop without an end");
}

TEST_CASE("the norm must be taken once, before each update") {
  Program p = shipped<Plain>();
  int norm = find(p, Role::norm), update = find(p, Role::update), end = find(p, Role::end);
  const char* once = "the norm is taken once, after all micro-batches";
  expect(doubled(p, norm), once);
  expect(moved(p, norm, end), once);
  Program part = p;
  --part[std::size_t(norm)].count;
  expect(part, "the norm is of all gradients");
  expect(moved(p, update, norm), "updated before the norm");
  expect(doubled(p, update), "updated twice");
  expect(without(without(p, update), norm), "the norm is missing");
  expect(without(p, update), "a unit is not updated");
}

TEST_CASE("conditional instructions must follow the decision, and updates must be conditional") {
  Program p = shipped<Plain>();
  const int norm = find(p, Role::norm), update = find(p, Role::update);
  static constexpr Kind early{.name = "early", .touch = touches::nothing, .if_applied = true};
  static Kind always = *p[std::size_t(update)].kind;
  always.if_applied = false;
  Program too_early = p;
  too_early.insert(too_early.begin() + norm, {&early});
  expect(too_early, "hangs on a decision that is not made yet");
  p[std::size_t(update)].kind = &always;
  expect(p, "acts though the step is not applied");
}

/// Updates that leave something undone, one for each group.
Program with_updates(const Kind& kind, const Kind* more) {
  Program p = shipped<Plain>();
  p.pop_back();
  for (short k = 0; k < short(Plan<Plain>::model.order.size()); ++k) {
    p.push_back({&kind, k});
    if (more) p.push_back({more, Plan<Plain>::model.order[std::size_t(k)]});
  }
  return p;
}
TEST_CASE("updates must use up gradients and use a policy's state") {
  static constexpr Kind idle{
      .name = "idle", .touch = touches::nothing, .role = Role::update, .if_applied = true};
  expect(with_updates(idle, nullptr), "a gradient is made and not used up");
  expect(with_updates(idle, &only<Use::consume, Space::gradient>),
         "a policy's state is planned and never used");
}

TEST_CASE("an average must follow the update, once") {
  using Averaged = Made<Letters, Gpt2<tiny>, Batch<{.global = 3, .micro = 1}>, Average<>>;
  const Model& model = Plan<Averaged>::model;
  Program p = shipped<Averaged>();
  CHECK(verify(model, p, one_rank).fine());
  const int update = find(p, Role::update), average = find(p, Role::follow);
  expect(model, moved(p, average, update), one_rank, "comes before the update");
  expect(model, doubled(p, average), one_rank, "a policy's state is changed twice");
}

TEST_CASE("offloaded state must be fetched, stored and freed") {
  using Away =
      Made<Letters, Gpt2<tiny>, Batch<{.global = 3, .micro = 1}>, Offload<{.bucket_bytes = 1}>>;
  static constexpr Kind make{"make", touches::offloaded_state<Use::write>};
  static constexpr Kind give_up{"give up", touches::offloaded_state<Use::consume>};
  const Model& model = Plan<Away>::model;
  const Program p = shipped<Away>();
  CHECK(verify(model, p, one_rank).fine());
  const int fetch = find(p, fetch_state_kind), await_fetch = find(p, await_state_kind);
  const int store = find(p, store_state_kind), await_store = find(p, await_store_kind);
  expect(model, with(p, await_fetch + 1, p[std::size_t(fetch)]), one_rank,
         "state is fetched that is there");
  Program made = p;
  made[std::size_t(fetch)].kind = &make;
  expect(model, without(made, await_fetch), one_rank, "state is made that was to be fetched");
  Program given_up = p;
  given_up[std::size_t(await_store)].kind = &give_up;
  expect(model, without(given_up, store), one_rank, "state has changed and is not stored");
  expect(model, without(without(p, await_store), store), one_rank,
         "state is fetched and not given up");
  expect(model, moved(p, store, find(p, Role::update)), one_rank,
         "written while a transfer reads it");
}

TEST_CASE("offloaded masters must be fetched, read and freed") {
  using Away = Made<Letters, Gpt2<tiny>, Batch<{.global = 3, .micro = 1}>,
                    Offload<{.weights = true, .bucket_bytes = 1}>>;
  const Model& model = Plan<Away>::model;
  const Program p = shipped<Away>();
  CHECK(verify(model, p, one_rank).fine());
  const int fetch = find(p, fetch_masters_kind), copy = find(p, copy_weights_kind);
  expect(model, with(p, fetch, {&only<Use::read, Space::master>, p[std::size_t(fetch)].what}),
         one_rank, "masters that live outside of the arena are touched where they are not");
  expect(model, without(p, copy), one_rank, "read before written");
  Program fetched = with(p, int(p.size()), p[std::size_t(fetch)]);
  fetched.push_back(p[std::size_t(find(p, await_masters_kind))]);
  fetched.back().what = p[std::size_t(fetch)].what;
  expect(model, fetched, one_rank, "masters are fetched and not given up");
  const short unit = p[std::size_t(fetch)].what;
  expect(model, with(p, int(p.size()), {&only<Use::write, Space::weights>, unit}), one_rank,
         "weights are made and not read");
}

TEST_CASE("a guard must come between norm and update") {
  using Guarded = Made<Letters, Gpt2<tiny>, Batch<{.global = 3, .micro = 1}>, SpikeGuard<>>;
  const Model& model = Plan<Guarded>::model;
  Program p = shipped<Guarded>();
  CHECK(verify(model, p, one_rank).fine());
  const int norm = find(p, Role::norm), guard = find(p, Role::guard);
  CHECK(guard == norm + 1);
  expect(model, moved(p, guard, norm), one_rank, "guarded before the norm");
  expect(model, moved(p, guard, int(p.size()) - 1), one_rank, "guarded after an update");
}

TEST_CASE("sums of a gradient must be added in the planned order") {
  using Tied = Made<Letters, Seq2Seq<tiny_seq2seq>, Batch<{.global = 3, .micro = 1}>>;
  const Model& model = Plan<Tied>::model;
  Program p = shipped<Tied>();
  CHECK(verify(model, p, one_rank).fine());
  // The decoder's embeddings have the encoder's table, and nothing else joins both.
  const int first = find(p, backward, 0);
  const short decoder = short(tiny_seq2seq.encoder_layers + 1);
  REQUIRE(model.units[decoder].tied == 0);
  expect(model, moved(p, find(p, backward, decoder), first), one_rank,
         "sums of a gradient are added in another order");
}

TEST_CASE("running values must be copied before the loop and kept after the guard") {
  using Counted = Made<Letters, Counting, Batch<{.global = 3, .micro = 1}>, SpikeGuard<>>;
  const Model& model = Plan<Counted>::model;
  Program p = shipped<Counted>();
  CHECK(verify(model, p, one_rank).fine());
  const int copy = find(p, copy_running), loop = find(p, Role::loop), norm = find(p, Role::norm),
            guard = find(p, Role::guard), keep = find(p, Role::keep);
  CHECK(copy < loop);
  CHECK(keep == guard + 1);
  expect(model, moved(p, copy, loop), one_rank, "running values are copied in every micro-batch");
  expect(model, moved(p, keep, norm), one_rank, "running values are kept before the norm");
  expect(model, moved(p, keep, guard), one_rank, "guarded after running values were kept");
  expect(model, doubled(p, keep), one_rank, "running values are kept twice");
  expect(model, without(p, keep), one_rank, "running values are changed and not kept");
}

TEST_CASE("gradients must be reduced once, after the last was added and before the norm") {
  Program p = shipped<Reduced>();
  CHECK(verify(Plan<Reduced>::model, p, ranks).fine());
  int reduce = find(p, Role::reduce), norm = find(p, Role::norm);
  expect_of_ranks(without(p, find(p, await)), "touched while a transfer writes it");
  expect_of_ranks(doubled(p, find(p, await)), "waits for a transfer that was not started");
  expect_of_ranks(doubled(p, reduce), "reduced twice");
  expect_of_ranks(moved(p, reduce, find(p, backward, last_unit)),
                  "touched while a transfer writes it");
  Program early = p;
  early[std::size_t(reduce)].when = When::always;
  early = with(early, reduce + 1, early[std::size_t(find(early, await))]);
  expect_of_ranks(early, "added to after it was final");
  expect_of_ranks(without(without(p, find(p, await)), reduce), "not reduced before the norm");
  short group = Plan<Reduced>::model.order[0];
  Program unreduced = with(without(without(p, find(p, await)), reduce), find(p, Role::end) + 1,
                           {&only<Use::consume, Space::gradient>, group});
  expect_of_ranks(unreduced, "used up before it was reduced");
  // One rank may leave all of it out; it then adds nothing.
  Program alone = p;
  std::erase_if(alone,
                [&](Instruction i) { return i.kind == &await || i.kind->role == Role::reduce; });
  CHECK(verify(Plan<Reduced>::model, alone, one_rank).fine());
  expect_of_ranks(alone, "not reduced before the norm");
  CHECK(norm > reduce);
}

/// The program of `Reduced` with gradients that are scattered, updates of shards, and weights that are
/// gathered.
struct Split {
  Kind scatter = *find_kind(Role::reduce), norm = *find_kind(Role::norm),
       update = *find_kind(Role::update),
       gather{.name = "gather", .touch = exchange<Use::exchange>, .role = Role::gather},
       await_gather{"await gather", exchange<Use::finish>};
  std::vector<Region> regions{Plan<Reduced>::model.regions.begin(),
                              Plan<Reduced>::model.regions.end()};
  Model model = Plan<Reduced>::model;
  Program program = shipped<Reduced>();

  Split() {
    scatter.role = Role::scatter;
    for (Region& region : regions) region.row.holds = Holds::shards;
    model.regions = regions;
    model.spaces = space_table({.shared = Holds::shards});
    model.shards = 2;
    for (Instruction& i : program) {
      if (i.kind->role == Role::reduce) i.kind = &scatter;
      if (i.kind->role == Role::norm) i.kind = &norm;
      if (i.kind->role == Role::update) i.kind = &update;
    }
    const short all = short(model.order.size());
    program.push_back({&gather, 0, all});
    program.push_back({&await_gather, 0, all});
  }
  Split(const Split&) = delete;

  void expect(const Program& changed, const char* rule) const {
    testing::expect(model, changed, ranks, rule);
  }

 private:
  template <Use U>
  static void exchange(const Model& of, const Instruction& i, TouchList& out) {
    touches::each(of, i, U, of.weights(), out);
  }
  static const Kind* find_kind(Role role) {
    const Program p = shipped<Reduced>();
    return p[std::size_t(find(p, role))].kind;
  }
};

TEST_CASE("shards must be reduced, updated and gathered once") {
  Split split;
  const Program& p = split.program;
  REQUIRE(verify(split.model, p, ranks).fine());
  const int end = int(p.size()), update = find(p, Role::update), gather = end - 2;
  const Program ungathered(p.begin(), p.begin() + gather);
  split.expect(ungathered, "new weights are not gathered");
  split.expect(moved(p, gather, update), "gathers what every rank has");
  split.expect(doubled(p, find(p, Role::scatter)), "reduced twice");
  split.expect(without(without(p, find(p, await)), find(p, Role::scatter)),
               "not reduced before the norm");

  const char* whole = "needs whole what the ranks split";
  const short unit = split.model.order[0];
  split.expect(with(p, gather, {&only<Use::read, Space::master>, unit}), whole);
  CHECK(verify(split.model, with(p, end, {&only<Use::read, Space::master>, unit}), ranks).fine());
  split.expect(with(p, end, {&only<Use::read, region(0)>, unit}), whole);
  for (Kind* kind : {&split.norm, &split.update}) {
    kind->by_shards = false;
    split.expect(p, whole);
    kind->by_shards = true;
  }
  REQUIRE(verify(split.model, p, ranks).fine());

  split.regions[0].row.holds = Holds::whole;
  split.expect(p, "a policy's state is kept whole, and changed in shards");
  split.regions[0].row.holds = Holds::shards;
  split.model.spaces = space_table();
  split.expect(p, "scatters over ranks what the model does not split");
}

/// States that ranks sum the first values of the decision, `Values` in number.
template <int Values>
constexpr void sum_first(const Model&, const Instruction&, const OnRank&, TrafficList& out) {
  out.push_back({Operation::all_reduce, Traffic::both, Space::decision, 0, Values, Element::f64});
}
constexpr const char *counts_twice = "a rank counts twice in the norm, the loss or a vote",
                     *left_out = "a rank is left out of the norm, the loss or a vote";

TEST_CASE("a rank with all gradients must count once in the norm, the loss and votes") {
  Program p = shipped<Reduced>();
  const int norm = find(p, Role::norm), end = int(p.size());
  static constexpr Kind again{.name = "again", .touch = touches_decision, .traffic = sum_first<1>};
  expect_of_ranks(with(p, norm, {&again}), counts_twice);
  expect_of_ranks(with(p, find(p, Role::end), {&again}), counts_twice);
  expect_of_ranks(with(p, end, {&again}), counts_twice);
  Kind changed = *p[std::size_t(norm)].kind;
  p[std::size_t(norm)].kind = &changed;
  CHECK(verify(Plan<Reduced>::model, p, ranks).fine());
  changed.traffic = sum_first<kernel::Decision::up_to_squares>;
  expect_of_ranks(p, counts_twice);
  changed.traffic = sum_first<1>;
  expect_of_ranks(p, left_out);
  changed.traffic.reset();
  expect_of_ranks(p, left_out);
  CHECK(verify(Plan<Reduced>::model, p, one_rank).fine());
}

TEST_CASE("a rank with shards must count once in the norm, the loss and votes") {
  Split split;
  REQUIRE(verify(split.model, split.program, ranks).fine());
  split.norm.traffic = sum_first<kernel::Decision::up_to_votes>;
  split.expect(split.program, left_out);
  split.norm.traffic.reset();
  split.expect(split.program, left_out);
}

TEST_CASE("each parameter must have one owner, which counts it in the norm") {
  using Owned = Made<Letters, Gpt2<tiny>, Batch<{.global = 4, .micro = 1}>, Muon<>,
                     Zero<{.bucket_bytes = 500, .ranks = 2}>>;
  static_assert(ready<Owned>());
  Model model = Plan<Owned>::model;
  const Program p = shipped<Owned>();
  REQUIRE(verify(model, p, ranks).fine());
  const std::vector<OwnedSlice> owned{model.owned.begin(), model.owned.end()};
  const auto rejects = [&](const std::vector<OwnedSlice>& changed) {
    model.owned = changed;
    expect(model, p, ranks, "a parameter has no owner, or two");
  };
  std::vector<OwnedSlice> changed = owned;
  changed[1].owner = 2;
  rejects(changed);
  changed = owned;
  changed.insert(changed.begin(), owned[0]);
  changed[0].owner = 1 - owned[0].owner;
  rejects(changed);
  changed = owned;
  changed.pop_back();
  rejects(changed);
}

TEST_CASE("temporary weights must be fetched, awaited and read in this order") {
  using Shards = Made<Letters, Gpt2<tiny>, Batch<{.global = 4, .micro = 1}>,
                      Zero<{.stage = 3, .bucket_bytes = 500, .ranks = 2}>>;
  static_assert(ready<Shards>());
  Model model = Plan<Shards>::model;
  const Program p = shipped<Shards>();
  const auto rejects = [&](const Program& changed, const char* rule) {
    expect(model, changed, ranks, rule);
  };
  const int fetch = find(p, Role::fetch), wait = find(p, await_weights_kind);
  rejects(without(p, fetch), "waits for a transfer that was not started");
  rejects(without(p, wait), "touched while a transfer writes it");
  rejects(without(without(p, wait), fetch), "read before written");
  rejects(doubled(p, fetch), "touched while a transfer writes it");
  Kind whole = fetch_weights_kind;
  whole.by_shards = false;
  Program of_whole = p;
  of_whole[std::size_t(fetch)].kind = &whole;
  rejects(of_whole, "needs whole what the ranks split");
  model.spaces = space_table({.fetches_weights = true});
  rejects(p, "fetches weights that every rank has");
}

TEST_CASE("temporary gradients must be reduced once and added up") {
  using Shards = Made<Letters, Gpt2<tiny>, Batch<{.global = 4, .micro = 1}>,
                      Zero<{.stage = 2, .bucket_bytes = 500, .ranks = 2}>>;
  static_assert(ready<Shards>());
  const Model& model = Plan<Shards>::model;
  const Program p = shipped<Shards>();
  const auto rejects = [&](const Program& changed, const char* rule) {
    expect(model, changed, ranks, rule);
  };
  const int scatter = find(p, Role::scatter), add = find(p, add_shards_kind<float>);
  REQUIRE(add > scatter);
  rejects(without(p, add), "gradients of a micro-batch are not added up");
  rejects(without(without(p, add), scatter), "gradients of a micro-batch are not added up");
  rejects(moved(p, add, find(p, Role::end)), "gradients of a micro-batch are not added up");
  rejects(doubled(p, add), "waits for a transfer that was not started");
  rejects(without(p, scatter), "waits for a transfer that was not started");
  const short unit = model.order[std::size_t(p[std::size_t(scatter)].what)];
  rejects(with(p, scatter, {&only<Use::consume, Space::d_weights>, unit}),
          "used up before it was reduced");
  rejects(with(p, find(p, Role::norm), {&only<Use::accumulate, Space::gradient>, unit}),
          "needs whole what the ranks split");
  Program once = p;
  once[std::size_t(find(p, backward, 0))].when = When::last;
  rejects(once, "a gradient is made and not used: a backward is missing");
  // What has been added is reduced once more, though nothing came to it.
  const Instruction bucket = p[std::size_t(scatter)];
  Program twice = with(p, add + 1, p[std::size_t(add)]);
  twice = with(twice, add + 1, bucket);
  for (int k = bucket.count; k-- > 0;)
    twice =
        with(twice, add + 1,
             {&only<Use::accumulate, Space::d_weights>, model.order[std::size_t(bucket.what + k)]});
  rejects(twice, "reduced twice in a micro-batch");
}

TEST_CASE("shards of masters beside a copy of the weights") {
  using Copying = Made<Letters, Gpt2<tiny>, Batch<{.global = 4, .micro = 1}>, Bf16,
                       Ddp<{.bucket_bytes = 500, .ranks = 2}>>;
  Split split;
  Model model = Plan<Copying>::model;
  model.regions = split.regions;
  model.spaces = space_table({.copies = true, .shared = Holds::shards});
  model.shards = 2;
  REQUIRE(model.splits(Space::master));
  REQUIRE(verify(model, split.program, ranks).fine());
  const int end = int(split.program.size());
  expect(model, with(split.program, end, {&only<Use::read, Space::master>, model.order[0]}), ranks,
         "needs whole what the ranks split");
  expect(model, {split.program.begin(), split.program.end() - 2}, ranks,
         "new weights are not gathered");
}

TEST_CASE("buffers must not change while a transfer sends them") {
  Program p = shipped<Plain>();
  int loss = find(p, Role::loss), norm = find(p, Role::norm);
  short value = short(Plan<Plain>::model.units[last_unit].first_value);
  Instruction sends_weights{&only<Use::send, Space::master>, 0};
  Instruction finishes{&only<Use::finish, Space::master>, 0};
  CHECK(verify(Plan<Plain>::model, with(with(p, norm, finishes), norm, sends_weights), one_rank)
            .fine());
  expect(with(with(p, norm, finishes), 1, sends_weights),
         "sent again before the transfer is waited for");
  expect(with(p, norm, sends_weights), "written while a transfer reads it");
  expect(with(p, int(p.size()), sends_weights), "a transfer is started and not waited for");
  expect(with(p, loss, {&only<Use::send, Space::value>, value}),
         "used up while a transfer reads it");
  Instruction sends_value{&only<Use::send, Space::value>, 0};
  expect(with(p, find(p, Role::end), sends_value),
         "a transfer passes from one micro-batch to the next");
}

TEST_CASE("copies of weights must not be stale") {
  using Copying = Made<Letters, Gpt2<tiny>, Batch<{.global = 3, .micro = 1}>, Bf16, PlainDescent>;
  Model model = Plan<Copying>::model;
  Program p = shipped<Copying>();
  CHECK(verify(model, p, one_rank).fine());
  const int made = find(p, cast);
  expect(model, without(p, made), one_rank, "the copy of weights is left stale");
  expect(model, moved(p, made, made - 1), one_rank, "the copy of weights is left stale");
  expect(model, with(p, made, {&only<Use::read, Space::weights>, model.order[0]}), one_rank,
         "these weights are stale");

  // The copy is made for each step, or fetched for each micro-batch.
  model.spaces = space_table({.fetches_weights = true});
  p = without(p, made);
  expect(model, p, one_rank, "read before written");
  const Kind& write = only<Use::write, Space::weights>;
  Program first = p;
  for (short g : model.order) first = with(first, 1, {&write, g, 1, When::first});
  CHECK(verify(model, first, one_rank).fine());
  Program fetched = p;
  for (short g : model.order) {
    fetched = with(fetched, 1, {&only<Use::finish, Space::weights>, g});
    fetched = with(fetched, 1, {&only<Use::fetch, Space::weights>, g});
  }
  CHECK(verify(model, fetched, one_rank).fine());
  Instruction again{&only<Use::fetch, Space::weights>, model.order[0]};
  expect(model, with(fetched, find(fetched, Role::end), again), one_rank,
         "a transfer passes from one micro-batch to the next");
}

TEST_CASE("no rule is left out") { CHECK(check_rules("sinter/program/verify.hpp", provoked) > 25); }

}  // namespace
}  // namespace sinter::detail::testing
