// SPDX-License-Identifier: Apache-2.0
#include "trainer/reply_parts.hpp"

namespace sinter::detail {
namespace {

/// The rows of a sequence, of those that the batch holds.
std::span<const std::int32_t> rows_of(const HostBatch& batch, int axis, std::size_t input,
                                      int sequence) {
  const HostBatch::Rows own = batch.own_rows(axis, sequence);
  const int held = batch.held_rows(axis).begin;
  return std::span(batch.ids[input])
      .subspan(std::size_t(own.begin - held), std::size_t(own.count()));
}

}  // namespace

ReplyParts reply_parts(const HostBatch& batch, bool decodes, int sequence) {
  const auto shown = rows_of(batch, 0, decodes ? 1 : 0, sequence);
  const auto targets = rows_of(batch, 0, decodes ? 2 : 1, sequence);
  const auto is_target = [](std::int32_t id) { return id >= 0; };
  std::size_t end = targets.size();
  while (end > 0 && !is_target(targets[end - 1])) --end;
  if (end == 0) return {};
  std::size_t begin = end - 1;
  while (begin > 0 && is_target(targets[begin - 1])) --begin;
  ReplyParts parts{.before = shown.first(begin + 1), .reply = targets.subspan(begin, end - begin)};
  if (decodes) parts.source = rows_of(batch, 1, 0, sequence);
  return parts;
}

}  // namespace sinter::detail
