// Buffers from a program. One walk: every write opens a buffer, its last use closes it. Nothing is
// freed by hand, because lifetimes follow from what instructions touch.
#pragma once
#include "sinter/program/regions.hpp"

namespace sinter {

struct Buffer {
  Space space;
  short index;      // -1: flat, of all groups
  int opened_by;    // position in the program; -1: alive through all steps
  int first, last;  // a buffer that an iteration leaves to the next lives through the whole loop
  std::int64_t bytes, offset = -1;  // in the arena
};

/// The arena: [0, persistent) what lives through all steps; then the workspace that all units
/// share; then buffers that come and go. peak: the end of it all.
struct Placed {
  std::vector<Buffer> buffers;
  std::int64_t persistent = 0, workspace = 0, peak = 0;
};

/// Whether a space is flat and lives through all steps, rather than coming and going with a
/// program.
constexpr bool is_persistent(const Model& model, Space space) {
  return space == Space::master || space == Space::gradient || space >= Space::region ||
         (space == Space::weights && model.keeps_weights);
}
/// Of a space whose elements are all of one type: any but a region with shapes.
constexpr Type type_of(const Model& model, Space space) {
  if (space == Space::master) return Type::master;
  if (space == Space::gradient) return Type::gradient;
  if (space >= Space::region) return model.regions[int(space) - int(Space::region)].type;
  return Type::compute;
}
/// Of a persistent space.
constexpr std::int64_t flat_bytes(const Model& model, Space space) {
  if (space >= Space::region && model.regions[int(space) - int(Space::region)].shape)
    return shaped_region_bytes(model, int(space) - int(Space::region));
  const bool whole = space == Space::master || space == Space::weights;
  const std::int64_t elements = whole ? model.master_elements() : model.elements();
  return aligned(elements * model.sizes.of(type_of(model, space)));
}

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
  const Block& block = model.block(index);  // weights that come and go
  return aligned(std::int64_t(block.decayed + block.undecayed) * sizes.of(Type::compute));
}

class Placer {
  const Model& model;
  std::span<const Instruction> program;
  std::vector<int> now;  // the open buffer of (space, index), or -1
  int numbers;           // per space
  int loop_begin = -1, loop_end = -1;
  int fixed = 0;  // buffers that live through all steps, at the start

 public:
  Placed placed;

  constexpr Placer(const Model& m, std::span<const Instruction> p)
      : model(m),
        program(p),
        numbers(std::max({m.count(), int(m.writers.size()), int(m.externals.size())})) {
    now.assign(int(Space::region) * numbers, -1);
    placed.buffers.reserve(8 * m.count() + 16);
    find_loop();
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
  constexpr void find_loop() {
    for (int t = 0; t < int(program.size()); ++t) {
      if (program[t].kind->role == Role::loop) loop_begin = t;
      if (program[t].kind->role == Role::end) loop_end = t;
    }
  }
  constexpr void add_flat(Space space) {
    const std::int64_t bytes = flat_bytes(model, space);
    placed.buffers.push_back({space, -1, -1, 0, int(program.size()), bytes, placed.peak});
    placed.peak += bytes;
    ++fixed;
  }
  constexpr void add_persistent() {
    add_flat(Space::master);
    if (model.weights == Space::weights && model.keeps_weights) add_flat(Space::weights);
    add_flat(Space::gradient);
    for (int r = 0; r < int(model.regions.size()); ++r) add_flat(region(r));
    placed.persistent = placed.peak;
  }
  constexpr void add_workspace() {
    for (const Instruction& i : program) {
      for (int p = 0; p < phases; ++p)
        if (i.kind->phases & (1 << p))
          placed.workspace = std::max(placed.workspace, model.plan(i.what).phase[p].workspace);
      placed.workspace = std::max(placed.workspace, aligned(i.kind->workspace(model, i)));
    }
    placed.buffers.push_back(
        {Space::workspace, 0, -1, 0, int(program.size()), placed.workspace, placed.peak});
    placed.peak += placed.workspace;
    ++fixed;
  }

  /// What the first iteration alone makes lives on through the others. (The verifier proves that
  /// nothing else passes from one to the next.)
  constexpr int add(Space space, int index, int t) {
    bool carried = t > loop_begin && t < loop_end && program[t].when == When::first;
    placed.buffers.push_back({space, short(index), t, carried ? loop_begin : t,
                              carried ? loop_end : t, buffer_bytes(model, space, index)});
    return int(placed.buffers.size()) - 1;
  }
  constexpr void follow(Touch touch, int t) {
    if (is_persistent(model, touch.space) || touch.space == Space::workspace) return;
    int& current = now[int(touch.space) * numbers + touch.index];
    if (touch.use == Use::write || touch.use == Use::fetch ||
        (touch.use == Use::accumulate && current < 0)) {
      current = add(touch.space, touch.index, t);
      return;
    }
    if (current < 0) return;  // for the verifier to complain about
    Buffer& buffer = placed.buffers[current];
    bool from_before = buffer.first < loop_begin && t < loop_end && t > loop_begin;
    buffer.last = std::max(buffer.last, from_before ? loop_end : t);
    if (touch.use == Use::consume) current = -1;
  }

  constexpr void assign_addresses() {
    std::vector<Extent> extents;
    extents.reserve(placed.buffers.size());
    for (int b = fixed; b < int(placed.buffers.size()); ++b) {
      const Buffer& buffer = placed.buffers[b];
      extents.push_back({buffer.first, buffer.last, buffer.bytes});
    }
    std::int64_t high = arrange(extents, int(program.size()));
    for (int b = fixed; b < int(placed.buffers.size()); ++b)
      placed.buffers[b].offset = placed.peak + extents[b - fixed].offset;
    placed.peak += high;
  }
};

constexpr Placed place(const Model& model, std::span<const Instruction> program) {
  return Placer(model, program).placed;
}

}  // namespace sinter
