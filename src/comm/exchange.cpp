// SPDX-License-Identifier: Apache-2.0
#include "comm/exchange.hpp"

#include <algorithm>

namespace sinter::detail {

static_assert(std::has_unique_object_representations_v<Envelope>);
constexpr auto head = std::int64_t(sizeof(Envelope));

Exchange::Exchange(const Channels& of, int rank) : channels(of), me(rank), busy(2 * of.size()) {
  flows.reserve(1024);  // more than a step starts, so that it allocates nothing
}

void Exchange::add(const Transfer& transfer) {
  flows.push_back({transfer, false});
  last = std::chrono::steady_clock::now();
}

void Exchange::add_swap(const Transfer& array) {
  Transfer way = array;
  way.operation = Operation::send;
  add(way);
  way.operation = Operation::receive;
  add(way);
  flows.back().follows = true;
}

bool Exchange::are_all_done() const { return std::ranges::all_of(flows, &Flow::done); }

bool Exchange::move() {
  bool any = false;
  std::ranges::fill(busy, false);
  for (std::size_t k = 0; k < flows.size() && !wrong; ++k) {
    Flow& flow = flows[k];
    if (flow.done) continue;
    char& is_busy = busy[2 * std::size_t(flow.transfer.peer) + std::size_t(flow.sends())];
    if (!is_busy) any |= move(k);
    is_busy |= flow.moved < flow.size();
  }
  if (any) last = std::chrono::steady_clock::now();
  return any;
}

bool Exchange::move(std::size_t k) {
  Flow& flow = flows[k];
  Channel& channel = *channels[std::size_t(flow.transfer.peer)];
  const std::int64_t from = flow.moved, end = std::max(from, from < head ? head : limit(k));
  std::byte* const at = from < head ? reinterpret_cast<std::byte*>(&flow.envelope) + from
                                    : static_cast<std::byte*>(flow.transfer.data) + (from - head);
  if (flow.sends()) {
    if (from == 0) flow.envelope = {flow.transfer.count, flow.transfer.element};
    if (from < flow.size()) flow.moved += channel.put(at, end - from);
    if (from < flow.size() && flow.moved == flow.size()) flow.end = channel.all_put();
    flow.done = flow.moved == flow.size() && channel.all_taken() >= flow.end;
  } else {
    if (from < end) flow.moved += channel.take(at, end - from);
    if (from < head && flow.moved >= head && !check_envelope(flow)) return true;
    flow.done = flow.moved == flow.size();
  }
  return flow.done || flow.moved > from;
}

/// True if the message that comes is the expected one.
bool Exchange::check_envelope(Flow& flow) {
  const Envelope own{flow.transfer.count, flow.transfer.element};
  if (flow.envelope == own) return true;
  wrong = Mismatch{flow.transfer.peer, me, flow.envelope, own};
  return false;
}

}  // namespace sinter::detail
