// SPDX-License-Identifier: Apache-2.0
#include "run/arena_guard.hpp"

#if SINTER_GUARDS_ARENA
#include <sanitizer/asan_interface.h>

#include <algorithm>
#include <set>

#include "sinter/program/lifetimes.hpp"
#include "sinter/program/walk.hpp"

namespace sinter::detail {

ArenaGuard::ArenaGuard(const Model& model, const PlacementView& placement, std::byte* arena)
    : all{arena + placement.persistent + placement.workspace,
          placement.peak - placement.persistent - placement.workspace},
      instructions(placement.program.size()) {
  CellTable<const Buffer*> open(model, nullptr);
  std::set<const Buffer*> transferred;
  walk(placement.program, [&](int t, int iteration) {
    const Instruction& instruction = placement.program[std::size_t(t)];
    TouchList list;
    instruction.kind->touch(model, instruction, list);
    Parts parts;
    for (const Touch& touch : list) {
      if (!is_temporary(model, touch.space)) continue;
      const Buffer*& buffer = open.of(touch);
      if (opens(touch.use, buffer != nullptr))
        buffer = &*std::ranges::find_if(placement.buffers, [&](const Buffer& b) {
          return b.opened_by == t && b.space == touch.space && b.index == touch.index;
        });
      parts.push_back({arena + buffer->offset, buffer->bytes});
      if (touch.use == Use::fetch || touch.use == Use::send || touch.use == Use::exchange)
        transferred.insert(buffer);
      if (touch.use == Use::finish) transferred.erase(buffer);
    }
    for (const Buffer* buffer : transferred)
      parts.push_back({arena + buffer->offset, buffer->bytes});
    for (const Touch& touch : list)
      if (closes(touch.use) && !is_persistent(model, touch.space)) open.of(touch) = nullptr;
    parts = between(std::move(parts));
    auto& [first, again] = instructions[std::size_t(t)];
    if (iteration == 0) first = parts;
    again = std::move(parts);
  });
}

ArenaGuard::Parts ArenaGuard::between(Parts parts) const {
  std::ranges::sort(parts, {}, &Part::begin);
  Parts gaps;
  std::byte* at = all.begin;
  for (const Part& part : parts) {
    if (part.begin > at) gaps.push_back({at, part.begin - at});
    at = std::max(at, part.begin + part.bytes);
  }
  if (std::byte* const end = all.begin + all.bytes; end > at) gaps.push_back({at, end - at});
  return gaps;
}

void ArenaGuard::poison(int position, int iteration) const {
  const auto& [first, again] = instructions[std::size_t(position)];
  for (const Part& part : iteration == 0 ? first : again)
    ASAN_POISON_MEMORY_REGION(part.begin, std::size_t(part.bytes));
}

void ArenaGuard::lift() const { ASAN_UNPOISON_MEMORY_REGION(all.begin, std::size_t(all.bytes)); }

}  // namespace sinter::detail
#endif
