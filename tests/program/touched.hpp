// SPDX-License-Identifier: Apache-2.0
// Tells from what an instruction touches which bytes of the arena it may read and write.
#pragma once
#include "program/ranks.hpp"

namespace sinter::detail::testing {

struct ByteRange {
  std::int64_t begin, end;
};

/// What an instruction may do to each byte of the arena.
struct Rights {
  std::vector<bool> read, write;
};

class RightsOf {
  const Model& model;
  const PlacementView& placement;
  const std::size_t bytes;

 public:
  RightsOf(const Model& m, const PlacementView& p, std::size_t arena_bytes)
      : model(m), placement(p), bytes(arena_bytes) {}

  Rights at(int t) const {
    Rights rights{std::vector<bool>(bytes), std::vector<bool>(bytes)};
    const Instruction& i = placement.program[std::size_t(t)];
    TouchList list;
    i.kind->touch(model, i, list);
    for (Touch touch : list)
      for (ByteRange r : ranges(touch.space, touch.index, t)) {
        bool writes = touch.use != Use::read && touch.use != Use::finish &&
                      (touch.use != Use::consume || touch.space == Space::d_value ||
                       touch.space == Space::running);  // ranks sum them where they are
        allow(rights.read, r);
        if (writes) allow(rights.write, r);
      }
    if (i.kind->phases || i.kind->workspace)
      for (const Buffer& b : placement.buffers)
        if (b.space == Space::workspace) {
          allow(rights.read, {b.offset, b.offset + b.bytes});
          allow(rights.write, {b.offset, b.offset + b.bytes});
        }
    return rights;
  }

 private:
  static void allow(std::vector<bool>& bytes, ByteRange r) {
    std::fill(bytes.begin() + r.begin, bytes.begin() + r.end, true);
  }
  std::vector<ByteRange> ranges(Space space, int index, int t) const {
    for (const Buffer& b : placement.buffers) {
      if (b.space != (space == Space::kept ? Space::master : space)) continue;
      if (space == Space::kept || space == Space::running) return of_running(b, index);
      if (space == Space::decision) return {{b.offset, b.offset + b.bytes}};
      if (b.opened_by < 0) return of_group(b, index);
      if (b.index == index && b.first <= t && t <= b.last && b.opened_by <= t)
        return {{b.offset, b.offset + b.bytes}};
    }
    return {};
  }
  std::vector<ByteRange> of_group(const Buffer& flat, int group) const {
    if (flat.space >= Space::region && region_of(flat.space).shape) return of_shapes(flat, group);
    std::int64_t size = model.sizes.of(type_of(model, flat.space));
    const Block& block = model.block(group);
    const ParameterOffsets& g = model.offsets[std::size_t(group)];
    std::int64_t decayed = flat.offset + g.decayed * size;
    std::int64_t undecayed = flat.offset + g.undecayed * size;
    return {{decayed, decayed + block.decayed * size},
            {undecayed, undecayed + block.undecayed * size}};
  }
  /// Running values of a unit: at the end of the master weights, or in their own copy of that end.
  std::vector<ByteRange> of_running(const Buffer& flat, int unit) const {
    std::int64_t first = model.offsets[std::size_t(unit)].running;
    if (flat.space == Space::running) first -= model.master_elements() - model.running;
    const std::int64_t size = model.sizes.of(Type::master), begin = flat.offset + first * size;
    return {{begin, begin + model.block(unit).running * size}};
  }
  const Region& region_of(Space space) const {
    return model.regions[std::size_t(int(space) - int(Space::region))];
  }
  std::vector<ByteRange> of_shapes(const Buffer& flat, int group) const {
    std::vector<StatePart> parts = state_parts(model, int(flat.space) - int(Space::region));
    std::vector<ByteRange> ranges;
    std::size_t next = 0;
    for_each_parameter(model, [&](int unit, int, int) {
      const StatePart& part = parts[next++];
      const std::int64_t begin = flat.offset + part.offset;
      if (unit == group) ranges.push_back({begin, begin + part.shape.bytes()});
    });
    return ranges;
  }
};

}  // namespace sinter::detail::testing
