// SPDX-License-Identifier: Apache-2.0
// Values of parameters, whole, into and out of what a rank holds of them.
#include <algorithm>

#include "sinter/base/with_element.hpp"
#include "sinter/hardware/offload_memory.hpp"
#include "sinter/plan/placement.hpp"
#include "sinter/run/machine.hpp"

namespace sinter {
using namespace detail;

std::vector<Machine::Piece> Machine::pieces(Space space, const Parameter& p) const {
  const bool split = model().splits(space);
  const bool in_shards = !p.frozen && model().shards > 1 && model().shares(space);
  const StateShape shape = this->shape(space, p);
  if (shape.size() == 0 || (in_shards && !owns(p))) return {};
  if (!in_shards || p.owner >= 0)
    return {{0, shape.size(), place_in(space, p) / bytes_of(shape.element)}};
  std::vector<Piece> found;
  for (const ShardSlice& shard : shards_) {
    const std::int64_t begin = std::max(shard.first, p.offset);
    const std::int64_t end = std::min(shard.first + shard.size, p.offset + p.size);
    if (begin < end)
      found.push_back({begin - p.offset, end - begin, shard.at(split) + begin - shard.first});
  }
  return found;
}

/// Calls visit(bytes on the host, where they begin among the parameter's) with what this rank holds of it.
void Machine::each_held(Space space, const Parameter& p, Access access, const auto& visit) {
  const auto show = [&](std::int64_t held, std::int64_t bytes, std::int64_t begin) {
    std::byte* const all = kept(space, p);
    if (!all) return;
    if (is_offloaded(space, p)) return visit(std::span(all + held, std::size_t(bytes)), begin);
    const OnHost on_host(stream_, all + held, bytes, access);
    visit(std::span(on_host.data(), std::size_t(bytes)), begin);
  };
  const std::int64_t bytes = bytes_of(shape(space, p).element);
  for (const Piece& piece : pieces(space, p))
    show(piece.held * bytes, piece.size * bytes, piece.begin * bytes);
}

void Machine::put(Space space, const Parameter& p, const std::byte* values) {
  each_held(space, p, Access::write, [&](std::span<std::byte> held, std::int64_t begin) {
    std::copy_n(values + begin, held.size(), held.data());
  });
  if (space != Space::master || !model().keeps_copy()) return;
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
  each_held(space, p, Access::read, [&](std::span<std::byte> held, std::int64_t begin) {
    std::ranges::copy(held, values + begin);
  });
}

}  // namespace sinter
