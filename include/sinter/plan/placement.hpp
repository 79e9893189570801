// SPDX-License-Identifier: Apache-2.0
// The buffers of a program, found in one walk: a write opens a buffer, its last use closes it.
// Nothing is freed by hand, as lifetimes follow from what instructions touch.
#pragma once
#include "sinter/kernels/decision.hpp"
#include "sinter/plan/arena.hpp"
#include "sinter/program/lifetimes.hpp"
#include "sinter/program/regions.hpp"
#include "sinter/program/walk.hpp"

namespace sinter::detail {

/// A buffer, and the positions in the program between which it lives.
struct Buffer {
  Space space;      ///< what the buffer holds
  short index;      ///< see Space; -1 if it is flat, for all units
  int opened_by;    ///< position in the program, or -1 if it lives through all steps
  int first, last;  ///< positions of its life; the whole loop if it passes between iterations
  std::int64_t bytes, offset = -1;  ///< size, and place in the arena
};

/// Alignment, in bytes, of the end of the persistent memory, so that its size does not shift later
/// buffers. Most widths are powers of two, and arrays that are nearly a whole number of pages apart
/// slow down each other's loads and stores.
inline constexpr std::int64_t page = 4096;

/// A program's buffers in the arena: first the persistent ones, which live through all steps, then
/// the workspace that all units share, then temporary buffers.
struct Placement {
  std::vector<Buffer> buffers;                 ///< those that live through all steps first
  std::int64_t persistent = 0, workspace = 0;  ///< bytes of the first two parts
  std::int64_t peak = 0;                       ///< end of the temporary buffers
};

/// True if a space is flat and lives through all steps.
constexpr bool is_persistent(const Model& model, Space space) {
  return space == Space::master || model.row(space).lies == Lies::arena;
}
/// True if the buffers of a space are temporary: units open and close them in the arena.
constexpr bool is_temporary(const Model& model, Space space) {
  return space != Space::starts && space != Space::workspace && !is_persistent(model, space);
}
/// The type of the elements of a space.
/// requires  all elements have one type: the space is no region with shapes
constexpr Type type_of(const Model& model, Space space) {
  if (space == Space::master || space == Space::fetched || space == Space::kept ||
      space == Space::running)
    return Type::master;
  if (space == Space::gradient || space == Space::d_weights) return Type::gradient;
  if (space >= Space::region) return model.region_of(space).type;
  return Type::compute;
}
/// Bytes of a persistent space, or of a region that lives outside of the arena.
/// requires  the space is not `kept`, which is the end of `master`
constexpr std::int64_t flat_bytes(const Model& model, Space space) {
  if (space >= Space::region && model.region_of(space).shape)
    return shaped_region_bytes(model, int(space) - int(Space::region));
  if (space == Space::running) return aligned(model.running * model.sizes.of(Type::master));
  if (space == Space::decision) return aligned(sizeof(kernel::Decision));
  if (space == Space::cache) return model.cache_before(model.count());
  if (space == Space::frozen) return aligned(model.frozen * model.sizes.of(Type::compute));
  const bool whole = space == Space::master || space == Space::weights;
  const std::int64_t elements = whole ? model.master_elements() : model.elements();
  return aligned(model.held_at(space, elements) * model.sizes.of(type_of(model, space)));
}

/// Bytes of a space that a rank stores outside of the arena (Model::is_offloaded).
constexpr std::int64_t offloaded_bytes(const Model& model, Space space) {
  if (!model.is_offloaded(space)) return 0;
  if (space >= Space::region) return flat_bytes(model, space);
  return aligned(model.held_elements(space) * model.sizes.of(Type::master));
}
/// Calls visit(space) with each space that lives outside of the arena.
constexpr void each_offloaded(const Model& model, const auto& visit) {
  if (model.is_offloaded(Space::master)) visit(Space::master);
  for (int r = 0; r < int(model.regions.size()); ++r)
    if (model.is_offloaded(region(r))) visit(region(r));
}

/// Bytes of a temporary buffer.
constexpr std::int64_t buffer_bytes(const Model& model, Space space, int index) {
  const Sizes& sizes = model.sizes;
  if (space == Space::value) return sizes.tensor(model.local(index));
  if (space == Space::d_value) {
    Local like = model.local(index);
    like.type = Type::compute;
    return sizes.tensor(like);
  }
  if (space == Space::saved) return model.plan(index).saved_bytes;
  if (space == Space::input) {
    const External& e = model.externals[index];
    return sizes.tensor({e.width, e.axis, e.width ? Type::compute : Type::index, -1});
  }
  if (space >= Space::region)
    return aligned(unit_region_bytes(model, int(space) - int(Space::region), index));
  const std::int64_t elements = space == Space::fetched ? unit_held_elements(model, space, index)
                                                        : model.unit_elements(index);
  return aligned(elements * sizes.of(type_of(model, space)));
}

/// Places the buffers of a program, in its constructor.
class Placer {
  const Model& model;
  std::span<const Instruction> program;
  LoopBounds loop;
  CellTable<int> open;  // the number of the open buffer, or -1
  int fixed = 0;        // buffers that live through all steps, at the start

 public:
  Placement placement;  ///< the result

  /// Places the buffers of a program p.
  constexpr Placer(const Model& m, std::span<const Instruction> p)
      : model(m), program(p), loop(loop_of(p)), open(m, -1) {
    placement.buffers.reserve(8 * m.count() + 16);
    add_persistent();
    add_workspace();
    TouchList list;
    list.reserve(m.count() + 8);
    for (int t = 0; t < int(p.size()); ++t) {
      list.clear();
      p[t].kind->touch(m, p[t], list);
      for (const Touch& touch : list) follow(touch, t);
    }
    assign_addresses();
  }

 private:
  constexpr void add_flat(Space space) {
    const std::int64_t bytes = flat_bytes(model, space);
    placement.buffers.push_back({space, -1, -1, 0, int(program.size()), bytes, placement.peak});
    placement.peak += bytes;
    ++fixed;
  }
  constexpr void add_persistent() {
    add_flat(Space::master);
    if (model.keeps_frozen_apart()) add_flat(Space::frozen);
    if (model.keeps_copy()) add_flat(Space::weights);
    if (model.has(Space::gradient)) add_flat(Space::gradient);
    if (model.running > 0 && model.has(Space::running)) add_flat(Space::running);
    for (int r = 0; r < int(model.regions.size()); ++r)
      if (!model.is_offloaded(region(r))) add_flat(region(r));
    add_flat(Space::decision);
    if (model.has(Space::cache)) add_flat(Space::cache);
    placement.persistent = placement.peak = (placement.peak + page - 1) / page * page;
  }
  constexpr void add_workspace() {
    for (const Instruction& i : program) {
      for (int p = 0; p < phases; ++p)
        if (i.kind->phases & (1 << p))
          placement.workspace =
              std::max(placement.workspace, model.plan(i.what).phase[p].workspace);
      placement.workspace = std::max(placement.workspace, aligned(i.kind->workspace(model, i)));
    }
    placement.buffers.push_back(
        {Space::workspace, 0, -1, 0, int(program.size()), placement.workspace, placement.peak});
    placement.peak += placement.workspace;
    ++fixed;
  }

  /// Opens a buffer, and returns its number. A buffer that only the first iteration makes lives
  /// through the whole loop. (The verifier proves that nothing else passes from one iteration to
  /// the next.)
  constexpr int add(Space space, int index, int t) {
    const bool carried = loop.contains(t) && carries(program[t], true);
    placement.buffers.push_back({space, short(index), t, carried ? loop.begin : t,
                                 carried ? loop.end : t, buffer_bytes(model, space, index)});
    return int(placement.buffers.size()) - 1;
  }
  constexpr void follow(Touch touch, int t) {
    if (!is_temporary(model, touch.space)) return;
    int& current = open.of(touch);
    if (opens(touch.use, current >= 0)) {
      current = add(touch.space, touch.index, t);
      return;
    }
    if (current < 0) return;  // the verifier reports it
    Buffer& buffer = placement.buffers[current];
    const bool from_before = buffer.first < loop.begin && loop.contains(t);
    buffer.last = std::max(buffer.last, from_before ? loop.end : t);
    if (closes(touch.use)) current = -1;
  }

  constexpr void assign_addresses() {
    std::vector<Extent> extents;
    extents.reserve(placement.buffers.size());
    for (int b = fixed; b < int(placement.buffers.size()); ++b) {
      const Buffer& buffer = placement.buffers[b];
      extents.push_back({buffer.first, buffer.last, buffer.bytes});
    }
    std::int64_t high = arrange(extents, int(program.size()));
    for (int b = fixed; b < int(placement.buffers.size()); ++b)
      placement.buffers[b].offset = placement.peak + extents[b - fixed].offset;
    placement.peak += high;
  }
};

/// Places the buffers of a program in the arena.
[[nodiscard]] constexpr Placement place(const Model& model, std::span<const Instruction> program) {
  return Placer(model, program).placement;
}

}  // namespace sinter::detail
