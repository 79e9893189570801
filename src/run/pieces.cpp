// SPDX-License-Identifier: Apache-2.0
// Values of parameters, whole, into and out of what a rank holds of them.
#include <algorithm>
#include <cstring>

#include "sinter/plan/placement.hpp"
#include "sinter/run/elements.hpp"
#include "sinter/run/machine.hpp"

namespace sinter {

namespace {

/// Whether each parameter's values are one piece, with a shape that may be their own.
bool has_parts(const Model& model, Space space) {
  return space >= Space::region && !model.splits(space);
}

}  // namespace

std::vector<Machine::Piece> Machine::pieces(Space space, const Parameter& p) const {
  const bool split = model().splits(space);
  if (p.frozen || model().shards == 1 || (!split && space != Space::gradient))
    return {{0, p.size, model().held_at(space, p.offset)}};
  std::vector<Piece> found;
  for (const ShardSlice& shard : shards_) {
    const std::int64_t begin = std::max(shard.first, p.offset);
    const std::int64_t end = std::min(shard.first + shard.size, p.offset + p.size);
    if (begin < end)
      found.push_back({begin - p.offset, end - begin, shard.at(split) + begin - shard.first});
  }
  return found;
}

void Machine::put(Space space, const Parameter& p, const std::byte* values) {
  if (has_parts(model(), space)) {
    const Part whole = part(space, p);
    std::memcpy(on_host(whole, Access::write).data(), values, std::size_t(whole.shape.bytes()));
    return;
  }
  const std::int64_t bytes = model().sizes.of(type_of(model(), space));
  for (const Piece& piece : pieces(space, p)) {
    const OnHost held(stream_, flat_address(space) + piece.held * bytes, piece.size * bytes,
                      Access::write);
    std::memcpy(held.data(), values + piece.begin * bytes, std::size_t(piece.size * bytes));
  }
  if (space != Space::master || model().weights == Space::master || !model().keeps_weights) return;
  if (!model().splits(space)) return cast_weights({p.offset, p.size});
  // Also what others hold: so no rank waits for another.
  const std::int64_t narrow = model().sizes.of(Type::compute);
  const OnHost copy(stream_, flat_address(Space::weights) + p.offset * narrow, p.size * narrow,
                    Access::write);
  with_element(model().sizes.element[int(Type::master)], [&]<class M>(M) {
    with_element(model().sizes.element[int(Type::compute)], [&]<class C>(C) {
      const M* from = reinterpret_cast<const M*>(values);
      std::transform(from, from + p.size, copy.as<C>(), [](M x) { return C(float(x)); });
    });
  });
}

void Machine::take(Space space, const Parameter& p, std::byte* values) {
  if (has_parts(model(), space)) {
    const Part whole = part(space, p);
    std::memcpy(values, on_host(whole, Access::read).data(), std::size_t(whole.shape.bytes()));
    return;
  }
  const std::int64_t bytes = model().sizes.of(type_of(model(), space));
  for (const Piece& piece : pieces(space, p)) {
    const OnHost held(stream_, flat_address(space) + piece.held * bytes, piece.size * bytes,
                      Access::read);
    std::memcpy(values + piece.begin * bytes, held.data(), std::size_t(piece.size * bytes));
  }
}

}  // namespace sinter
