// SPDX-License-Identifier: Apache-2.0
// The order of instructions is proved, not hoped for. An abstract run at compile time proves that
//   - each buffer that is read was written in the same iteration, or for all iterations: before the
//     loop or in its first iteration
//   - inputs, starts of sequences, and the values that follow from them, are made in every
//   iteration - no instruction touches an array that a transfer writes, or writes one that it
//   reads, until the wait - every transfer is waited for exactly once
//   - gradients, weights and state have a known form on each rank at each point: whole, only the
//   rank's
//     shard, or a partial sum (OnRanks). Gradients are reduced or scattered exactly once, after the
//     last contribution and before the norm. Temporary gradients are so in each micro-batch, and
//     those that are scattered are added up. An instruction that needs whole arrays finds them
//     whole. Weights that were updated in shards are gathered before layers read them, and before
//     the step ends
//   - every update comes after the norm and after what may refuse the step. Each unit is updated
//   exactly
//     once, and what follows from its new weights comes after its update
//   - a step that is not applied skips all instructions that update, keep or follow; no instruction
//   depends
//     on this decision before it is made
//   - layers read current weights, made from the latest master weights; a copy that lives through
//   all
//     steps is current when the step ends
//   - every gradient and saved block is consumed: no backward is missing
//   - running values are copied before the loop, and kept once, after all that may refuse the step
//   - contributions of several units to a gradient are added in one order, from the last unit to
//   the
//     first, so that a sum has the same bits in every program of a model
//   - state and masters outside of the arena are fetched before they are used, stored after a
//   change, and
//     then given up; weights that are made from masters for reading are read
//   - each rank counts once in the norm, in the loss and in votes: ranks sum, in the norm, what
//   each has alone - every loss is taken once; the state of a policy is used for each unit, and
//   changed at most
//     once outside the loop
#pragma once
#include <limits>

#include "sinter/program/kinds.hpp"
#include "sinter/program/lifetimes.hpp"
#include "sinter/program/walk.hpp"

namespace sinter::detail {

/// The verifier's verdict on a program.
struct Verdict {
  const char* what = nullptr;  ///< the rule that is broken, or nullptr
  int at = -1;                 ///< the position of the instruction that breaks it
  constexpr bool fine() const { return what == nullptr; }  ///< true if no rule is broken
};

/// What a program is for.
struct Purpose {
  bool training = true;  ///< true if it must consume gradients, take the norm and update
  bool reduces = false;  ///< true if each of several ranks computes a partial sum of the gradients
};

/// What a rank has of a unit's part of a space.
enum class OnRanks : std::uint8_t {
  whole,   // all of it, equal on all ranks
  shard,   // only its shard is current; the rest is stale, or not stored
  partial  // a partial sum of all of it, still to be summed over the ranks
};

/// Verifies a program by an abstract run, in its constructor.
class Verifier {
  static constexpr int last_unit = std::numeric_limits<int>::max();  // comes after all units
  struct Cell {
    bool open = false;
    bool arriving = false;     // a transfer writes it
    bool leaving = false;      // a transfer reads it
    bool carried = false;      // made for all iterations
    int added_by = last_unit;  // the last unit that has added to this gradient in this iteration
    // For masters and regions: changes so far. For weights: the version of their masters. For
    // temporary gradients: reductions in this iteration.
    int version = 0;
    bool unstored = false;  // offloaded state has changed since it was stored
    bool unread = false;    // temporary weights have not been read
    bool used = false;      // an instruction has touched it
    OnRanks has = OnRanks::whole;
  };

  const Model& model;
  std::span<const Instruction> program;
  Purpose purpose;
  CellTable<Cell> cells;
  std::vector<int> updates;  // by unit
  std::vector<int> losses;
  int sums[kernel::Decision::up_to_squares] = {};  // over ranks, of each value of the decision
  TouchList list;
  // Stored, as they are asked most often.
  const Space gradients = model.gradients(), weights_read = model.weights();
  const bool fetches_weights = model.fetches_weights(), offload = model.has_offload();
  const bool masters_come = offload && model.is_offloaded(Space::master);
  bool in_loop = false, looped = false, normed = false, kept = false;
  int position = 0, iteration = 0;

 public:
  Verdict verdict;  ///< on the program: the first rule that is broken

  /// Verifies a program p.
  constexpr Verifier(const Model& m, std::span<const Instruction> p, Purpose what_for)
      : model(m),
        program(p),
        purpose(what_for),
        cells(m),
        updates(m.count(), 0),
        losses(m.count(), 0) {
    list.reserve(m.count() + 8);
    cell(Space::decision, 0).open = cell(Space::decision, 0).carried = true;
    for (int u = 0; u < m.count(); ++u) {
      if (m.block(u).running > 0) cell(Space::kept, u).open = cell(Space::kept, u).carried = true;
      if (!m.has_parameters(u)) continue;
      if (!comes_and_goes(Space::master, u)) begin_open(Space::master, u);
      for (int r = 0; r < int(m.regions.size()); ++r)
        if (!m.is_offloaded(region(r))) begin_open(region(r), u);
      // A copy of the weights that lives through all steps begins as the previous step left it.
      if (!fetches_weights) begin_open(Space::weights, u);
    }
    walk(program, [&](int t, int now) {
      iteration = now;
      if (verdict.fine()) check(t);
    });
    if (verdict.fine()) check_end();
  }

 private:
  constexpr Cell& cell(Space space, int index) { return cells.at(space, index); }
  constexpr void begin_open(Space space, int unit) {
    Cell& c = cell(space, unit);
    c.open = c.carried = true;
    // What is not trained is not split.
    c.has = model.is_trained(unit) ? stored_as(space) : OnRanks::whole;
  }
  /// True if the masters or the state of a unit live outside of the arena.
  constexpr bool comes_and_goes(Space space, int unit) const {
    return offload && model.is_offloaded(space) && model.is_trained(unit);
  }
  /// Returns what each rank stores of a space between steps: its shard, or the whole.
  constexpr OnRanks stored_as(Space space) const {
    return model.shares(space) ? OnRanks::shard : OnRanks::whole;
  }
  constexpr void demand(bool holds, const char* rule) {
    if (!holds && verdict.fine()) verdict = {rule, position};
  }

  constexpr void check(int t) {
    position = t;
    const Instruction& i = program[t];
    before(i);
    list.clear();
    i.kind->touch(model, i, list);
    for (const Touch& touch : list) check_touch(touch, i);
    after(i);
  }

  constexpr void check_touch(Touch touch, const Instruction& i) {
    Cell& c = cells.of(touch);
    const Use use = touch.use;
    if (touch.space >= Space::region) c.used = true;
    if (use == Use::finish) return finish(c);
    if (c.arriving || c.leaving) check_transfer(c, use);
    if (offload) check_offloaded(c, touch);
    const bool opening = may_open(use);
    demand(opening || c.open, "read before written");
    if (use == Use::read && follows_from_batch(touch.space)) return;  // nothing else can be wrong
    if (opening) check_opening(c, touch.space, i);
    if (touch.space == Space::weights) check_weights(c, touch, use);
    if (is_gradient(touch.space) && use == Use::accumulate)
      demand(!normed && (!c.open || c.has == made_as(touch.space)), "added to after it was final");
    if (use == Use::accumulate && i.kind->phases == calls_of(Phase::backward)) {
      demand(i.what < c.added_by, "sums of a gradient are added in another order");
      c.added_by = i.what;
    }
    if (is_split_over_ranks(touch.space)) check_ranks(c, touch, i);
    if ((touch.space == Space::master || touch.space == Space::fetched) && changes(use) &&
        use != Use::fetch)
      ++c.version;
    if (touch.space >= Space::region && use == Use::modify && !in_loop)
      demand(++c.version == 1, "a policy's state is changed twice");
    if (opening) {
      c.open = true;
      c.carried = carries(i, in_loop);
    }
    if (closes(use)) {
      c.open = false;
      c.added_by = last_unit;
    }
    if (use == Use::fetch || use == Use::exchange) c.arriving = true;
    if (use == Use::send || use == Use::exchange) c.leaving = true;
  }
  constexpr void check_transfer(const Cell& c, Use use) {
    demand(!c.arriving, "touched while a transfer writes it");
    demand(!changes(use) || !c.leaving, "written while a transfer reads it");
    demand(!closes(use) || !c.leaving, "used up while a transfer reads it");
    demand(use != Use::send || !c.leaving, "sent again before the transfer is waited for");
  }
  constexpr void check_opening(const Cell& c, Space space, const Instruction& i) {
    if (space == Space::value || space == Space::saved)
      demand(!c.open || (space == Space::saved && repeats(i)), "a unit runs forward twice");
    if (space == Space::running)
      demand(!in_loop && !looped, "running values are copied in every micro-batch");
    if (follows_from_batch(space) || space == Space::d_weights)
      demand(!in_loop || i.when == When::always, its_own);
  }
  /// Checks a touch of state or masters that live outside of the arena.
  constexpr void check_offloaded(Cell& c, Touch touch) {
    const Use use = touch.use;
    demand(touch.space != Space::master || !comes_and_goes(Space::master, touch.index),
           "masters that live outside of the arena are touched where they are not");
    if (touch.space != Space::fetched && !comes_and_goes(touch.space, touch.index)) return;
    demand(use != Use::fetch || !c.open, "state is fetched that is there");
    demand(use == Use::fetch || !opens(use, c.open), "state is made that was to be fetched");
    demand(!closes(use) || !c.unstored, "state has changed and is not stored");
    if (use == Use::send) c.unstored = false;
    if (changes(use) && use != Use::fetch) c.unstored = true;
  }
  /// True for a space of which a rank may have only a shard or a partial sum.
  static constexpr bool is_split_over_ranks(Space space) {
    return space == Space::master || space == Space::weights || is_gradient(space) ||
           space == Space::fetched || space >= Space::region;
  }
  static constexpr bool is_gradient(Space space) {
    return space == Space::gradient || space == Space::d_weights;
  }
  /// What a rank has of gradients while contributions are added.
  constexpr OnRanks made_as(Space space) const {
    if (space != gradients) return stored_as(space);
    return purpose.reduces ? OnRanks::partial : OnRanks::whole;
  }
  /// Checks and updates what a rank has, for instructions other than transfers. They need whole
  /// arrays, unless they work on shards, and then change this rank's shard. New gradients are what
  /// made_as() returns.
  constexpr void check_ranks(Cell& c, Touch touch, const Instruction& i) {
    if (touch.use == Use::exchange) return;  // the instruction's role decides
    if (touch.use == Use::fetch && i.kind->role == Role::fetch) {
      c.has = OnRanks::whole;
      return;
    }
    if (touch.space == gradients && closes(touch.use))
      demand(c.has != OnRanks::partial, "used up before it was reduced");
    const bool shards = i.kind->by_shards && model.shares_update();
    if (!may_open(touch.use))
      demand(shards || c.has != OnRanks::shard, "needs whole what the ranks split");
    if (!changes(touch.use)) return;
    if (is_gradient(touch.space)) {
      demand(shards || touch.space == gradients, "needs whole what the ranks split");
      if (may_open(touch.use)) c.has = made_as(touch.space);
      return;
    }
    demand(!shards || touch.space < Space::region || model.shares(touch.space),
           "a policy's state is kept whole, and changed in shards");
    c.has = shards ? OnRanks::shard : OnRanks::whole;
  }
  constexpr void finish(Cell& c) {
    demand(c.arriving || c.leaving, "waits for a transfer that was not started");
    c.arriving = c.leaving = false;
  }
  /// The rule for buffers that follow from a micro-batch, and so must be made in each.
  static constexpr const char* its_own = "made once, but every micro-batch has its own";
  constexpr bool repeats(const Instruction& i) const {
    return i.kind->phases == calls_of(Phase::recompute);
  }
  constexpr void check_weights(Cell& c, Touch touch, Use use) {
    int version = 0;
    if (weights_read == Space::weights) {
      const bool fetched = comes_and_goes(Space::master, touch.index);
      version = cell(fetched ? Space::fetched : Space::master, touch.index).version;
    }
    if (use == Use::write || use == Use::fetch) c.version = version;
    if (use == Use::read) demand(c.version == version, "these weights are stale");
    if (!fetches_weights) return;
    if (may_open(use)) demand(!c.unread, no_reader);
    if (may_open(use)) c.unread = true;
    if (use == Use::read) c.unread = false;
  }
  static constexpr const char* no_reader = "weights are made and not read";
  static constexpr const char* not_given_up = "masters are fetched and not given up";

  /// Checks the rules of an instruction's role.
  constexpr void before(const Instruction& i) {
    switch (i.kind->role) {
      case Role::none:
        break;
      case Role::loss:
        demand(++losses[i.what] == 1, "a loss is taken twice");
        break;
      case Role::reduce:
        reduce(i, OnRanks::whole);
        break;
      case Role::scatter:
        demand(model.shares_update(), "scatters over ranks what the model does not split");
        reduce(i, OnRanks::shard);
        break;
      case Role::gather:
        for (int g : units_of(i)) {
          Cell& weights = cell(weights_read, g);
          demand(weights.has == OnRanks::shard, "gathers what every rank has");
          weights.has = OnRanks::whole;
        }
        break;
      case Role::fetch:
        demand(model.shares(Space::master) && model.is_trained(i.what),
               "fetches weights that every rank has");
        break;
      case Role::norm:
        demand(!normed && !in_loop, "the norm is taken once, after all micro-batches");
        demand(units_of(i).size() == model.order.size(), "the norm is of all gradients");
        for (int g : model.order)
          demand(cell(Space::gradient, g).has != OnRanks::partial, "not reduced before the norm");
        demand(has_an_owner_for_each(), "a parameter has no owner, or two");
        break;
      case Role::guard:
        demand(normed && !in_loop, "guarded before the norm");
        demand(!kept, "guarded after running values were kept");
        for (int g : model.order) demand(updates[g] == 0, "guarded after an update");
        break;
      case Role::keep:
        demand(normed && !in_loop, "running values are kept before the norm");
        demand(!kept, "running values are kept twice");
        demand(i.kind->if_applied, acts_always);
        kept = true;
        break;
      case Role::update:
        demand(normed && !in_loop, "updated before the norm");
        demand(i.kind->if_applied, acts_always);
        for (int g : units_of(i)) demand(++updates[g] == 1, "updated twice");
        break;
      case Role::follow:
        demand(i.kind->if_applied, acts_always);
        for (int g : units_of(i)) demand(updates[g] == 1, "comes before the update");
        break;
      case Role::loop:
        demand(!looped, "a second loop, or a loop in a loop");
        break;
      case Role::end:
        demand(in_loop, "an end without a loop");
        break;
    }
    demand(!i.kind->if_applied || (normed && !in_loop), "hangs on a decision that is not made yet");
  }
  /// Turns partial sums into `has`: whole arrays or shards.
  constexpr void reduce(const Instruction& i, OnRanks has) {
    for (int g : units_of(i)) {
      Cell& gradient = cell(gradients, g);
      demand(!purpose.reduces || gradient.has == OnRanks::partial, "reduced twice");
      if (gradients == Space::d_weights)
        demand(++gradient.version == 1, "reduced twice in a micro-batch");
      gradient.has = has;
    }
  }
  static constexpr const char* acts_always = "acts though the step is not applied";
  /// True if shards are equal, or each trained element is in one owned slice.
  constexpr bool has_an_owner_for_each() const {
    std::int64_t end = 0;
    bool has = true;
    for (const OwnedSlice& slice : model.owned) {
      has = has && slice.first == end && slice.owner >= 0 && slice.owner < model.shards;
      end += slice.size;
    }
    return has && (model.owned.empty() || end == model.elements());
  }
  /// Counts how often ranks sum each value of the decision. Up to the norm that is once for what
  /// each rank measures alone: losses, votes and, if the norm works on shards, squares.
  constexpr void count_sums(const Instruction& i) {
    using kernel::Decision;
    if (std::ranges::none_of(
            list, [](Touch touch) { return touch.space == Space::decision && changes(touch.use); }))
      return;
    TrafficList traffic;
    if (i.kind->traffic) (*i.kind->traffic)(model, i, {0, std::max(2, model.shards)}, traffic);
    const bool by_shards = i.kind->by_shards && model.shares_update();
    for (int k = 0; k < Decision::up_to_squares; ++k) {
      for (const Traffic& t : traffic)
        sums[k] += t.operation == Operation::all_reduce && t.does != Traffic::waits &&
                   t.space == Space::decision && FlatSlice{t.first, t.count}.has(k);
      if (k == Decision::up_to_votes) continue;  // the predictions of an evaluation
      const bool is_alone = k < Decision::up_to_votes || by_shards;
      demand(sums[k] <= int(is_alone), "a rank counts twice in the norm, the loss or a vote");
      demand(i.kind->role != Role::norm || sums[k] == int(is_alone),
             "a rank is left out of the norm, the loss or a vote");
    }
  }
  constexpr std::span<const short> units_of(const Instruction& i) const {
    return model.order.subspan(i.what, i.count);
  }
  constexpr void after(const Instruction& i) {
    if (purpose.reduces && (i.kind->traffic || i.kind->role == Role::norm)) count_sums(i);
    if (i.kind->role == Role::norm) normed = true;
    if (i.kind->role == Role::loop) in_loop = looped = true;
    if (i.kind->role == Role::end) {
      end_iteration();
      in_loop = iteration == 0;
    }
  }

  /// Checks that only gradients, and buffers made for all iterations, pass to the next iteration.
  constexpr void end_iteration() {
    for (int v = 0; v < int(model.writers.size()); ++v) {
      demand(!cell(Space::d_value, v).open,
             "a gradient is made and not used: a backward is missing");
      close_fresh(cell(Space::value, v));
    }
    for (int u = 0; u < model.count(); ++u) {
      demand(!cell(Space::saved, u).open,
             "a saved block is made and not used: a backward is missing");
      cell(gradients, u).added_by = last_unit;
      cell(Space::d_weights, u).version = 0;
      demand(!cell(Space::d_weights, u).open, "gradients of a micro-batch are not added up");
      Cell& weights = cell(Space::weights, u);
      demand(weights.carried || !weights.arriving,
             "a transfer passes from one micro-batch to the next");
      if (fetches_weights) demand(!weights.unread, no_reader);
      if (masters_come) demand(!cell(Space::fetched, u).open, not_given_up);
      if (fetches_weights) close(weights);
      demand(!model.plan(u).loss || losses[u] == 1, "the loss of a unit is not taken");
      losses[u] = 0;
    }
    for (int e = 0; e < int(model.externals.size()); ++e) close_fresh(cell(Space::input, e));
    close_fresh(cell(Space::starts, 0));
  }
  constexpr void close(Cell& c) {
    if (!c.carried) c.open = false;
  }
  constexpr void close_fresh(Cell& c) {
    demand(!looped || !c.open || !c.carried, its_own);
    demand(!c.arriving && !c.leaving, "a transfer passes from one micro-batch to the next");
    close(c);
  }
  constexpr void check_end() {
    position = int(program.size());
    if (!looped) end_iteration();
    demand(!in_loop, "a loop without an end");
    for (const Cell& c : cells.all())
      if (c.arriving || c.leaving) demand(false, "a transfer is started and not waited for");
    for (int u = 0; u < model.count() && fetches_weights; ++u) {
      demand(!cell(Space::weights, u).unread, no_reader);
      demand(!cell(Space::fetched, u).open, not_given_up);
    }
    if (!purpose.training) return;
    demand(normed, "the norm is missing");
    for (int g : model.order) {
      demand(updates[g] == 1, "a unit is not updated");
      demand(!cell(Space::gradient, g).open, "a gradient is made and not used up");
      demand(
          !model.keeps_copy() || cell(Space::weights, g).version == cell(Space::master, g).version,
          "the copy of weights is left stale");
      demand(cell(weights_read, g).has == OnRanks::whole, "new weights are not gathered");
      for (int r = 0; r < int(model.regions.size()); ++r)
        demand(!model.is_offloaded(region(r)) || !cell(region(r), g).open,
               "state is fetched and not given up");
    }
    for (int u = 0; u < model.count(); ++u)
      demand(!cell(Space::running, u).open, "running values are changed and not kept");
    for (int r = 0; r < int(model.regions.size()); ++r)
      for (int g : model.order)
        demand(cell(region(r), g).used, "a policy's state is planned and never used");
  }
};

/// Verifies a program. Returns the first rule that it breaks and where; no rule if it is sound.
[[nodiscard]] constexpr Verdict verify(const Model& model, std::span<const Instruction> program,
                                       Purpose purpose) {
  return Verifier(model, program, purpose).verdict;
}

}  // namespace sinter::detail
