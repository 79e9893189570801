// SPDX-License-Identifier: Apache-2.0
// Values of parameters: between the host and what a rank stores of them, and from masters to weights.
#include <algorithm>

#include "sinter/base/with_element.hpp"
#include "sinter/error.hpp"
#include "sinter/hardware/memory.hpp"
#include "sinter/kernels/elementwise.hpp"
#include "sinter/plan/placement.hpp"
#include "sinter/run/parameter_store.hpp"

namespace sinter::detail {

std::vector<ParameterStore::Piece> ParameterStore::pieces(Space space, const Parameter& p) const {
  const bool in_shards = !p.frozen && model_.shards > 1 && model_.shares(space);
  const StateShape shape = this->shape(space, p);
  if (shape.size() == 0 || (in_shards && !owns(p))) return {};
  if (!in_shards || p.owner >= 0)
    return {{0, shape.size(), place_in(space, p) / bytes_of(shape.element)}};
  std::vector<Piece> found;
  for (const ShardSlice& shard : shards_) {
    const std::int64_t begin = std::max(shard.first, p.offset);
    const std::int64_t end = std::min(shard.first + shard.size, p.offset + p.size);
    if (begin < end)
      found.push_back(
          {begin - p.offset, end - begin, shard.at(model_.splits(space)) + begin - shard.first});
  }
  return found;
}

/// Calls visit(bytes on the host, offset in bytes of the first in the range) with what this rank stores of a range
/// of a parameter's elements.
void ParameterStore::each_resident(Space space, const Parameter& p, FlatSlice range, bool writes,
                                   const auto& visit) const {
  std::byte* const all = resident(space, p);
  if (!all) return;
  const std::int64_t bytes = bytes_of(shape(space, p).element);
  for (const Piece& piece : pieces(space, p)) {
    const std::int64_t begin = std::max(range.first, piece.begin);
    const std::int64_t end = std::min(range.first + range.size, piece.begin + piece.size);
    if (begin >= end) continue;
    std::byte* const at = all + (piece.local + begin - piece.begin) * bytes;
    const std::int64_t size = (end - begin) * bytes, offset = (begin - range.first) * bytes;
    if (is_offloaded(space, p)) {
      visit(std::span(at, std::size_t(size)), offset);
    } else {
      const OnHost on_host(stream_, at, size, writes ? Access::write : Access::read);
      visit(std::span(on_host.data(), std::size_t(size)), offset);
    }
  }
}

void ParameterStore::read(Space space, const Parameter& p, std::byte* values) const {
  each_resident(space, p, {0, shape(space, p).size()}, false,
                [&](std::span<std::byte> stored, std::int64_t at) {
                  std::ranges::copy(stored, values + at);
                });
}

void ParameterStore::write(Space space, const Parameter& p, const std::byte* values,
                           FlatSlice range) {
  each_resident(space, p, range, true, [&](std::span<std::byte> stored, std::int64_t at) {
    std::copy_n(values + at, stored.size(), stored.data());
  });
  if (home(space, p) != Space::master || !model_.keeps_copy()) return;
  const std::int64_t first = model_.held_at(Space::weights, p.offset) + range.first;
  if (!model_.splits(space)) return cast_weights({first, range.size});
  // Also what others store: so no rank waits for another.
  const std::int64_t narrow = model_.sizes.of(Type::compute);
  const OnHost copy(stream_, start(Space::weights) + first * narrow, range.size * narrow,
                    Access::write);
  with_element(model_.sizes.element[int(Type::master)], [&]<class M>(M) {
    with_element(model_.sizes.element[int(Type::compute)], [&]<class C>(C) {
      const M* from = reinterpret_cast<const M*>(values);
      std::transform(from, from + range.size, copy.as<C>(), [](M x) { return C(float(x)); });
    });
  });
}

void ParameterStore::clear_masters() {
  with_element(model_.sizes.element[int(Type::master)], [&]<class T>(T) {
    kernel::fill(stream_, flat<T>(Space::master).data, kernel::Wide<T>(0),
                 model_.held_at(Space::master, model_.master_elements()));
  });
}

void ParameterStore::cast_weights(FlatSlice slice) {
  if (!model_.keeps_copy() || slice.size == 0) return;
  make_weights(start(Space::master) + slice.first * model_.sizes.of(Type::master),
               start(Space::weights) + slice.first * model_.sizes.of(Type::compute), slice.size);
}

void ParameterStore::make_weights(const std::byte* masters, std::byte* to, std::int64_t size) {
  const Element master = model_.sizes.element[int(Type::master)];
  with_element(model_.sizes.element[int(Type::compute)], [&]<class T>(T) {
    T* const weights = reinterpret_cast<T*>(to);
    if (master == element_of<T>)
      return kernel::copy(stream_, reinterpret_cast<const T*>(masters), weights, size);
    if constexpr (kernel::is_narrow<T>)
      if (master == Element::f32)
        return kernel::cast(stream_, reinterpret_cast<const float*>(masters), weights, size);
    throw Error("there is no cast between these types of weights.");
  });
}

}  // namespace sinter::detail
