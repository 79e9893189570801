// SPDX-License-Identifier: Apache-2.0
#include "comm/hosts/line.hpp"

#include <poll.h>

#include <algorithm>
#include <thread>

#include "comm/shared_memory/gather.hpp"
#include "hardware/cpu/sleeper.hpp"
#include "sinter/error.hpp"

namespace sinter::detail::hosts {

using shared_memory::RankState;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds to_connect{10'000};  // all have come, and so answer soon
constexpr milliseconds short_sleep{1}, long_sleep{100};

/// Calls f(ranks) with the number of ranks of each host.
template <class F>
void for_each_host(const Roster& roster, const F& f) {
  for (int h = 0; h < roster.hosts(); ++h)
    f(roster.begins[std::size_t(h) + 1] - roster.begins[std::size_t(h)]);
}
int fewest_ranks(const Roster& roster) {
  int fewest = shared_memory::max_ranks;
  for_each_host(roster, [&](int ranks) { fewest = std::min(fewest, ranks); });
  return fewest;
}
int max_ranks(const Roster& roster) {
  int most = 1;
  for_each_host(roster, [&](int ranks) { most = std::max(most, ranks); });
  return most;
}

}  // namespace

Line::Line(const Roster& all, Control& conversation, const World& world)
    : roster(all),
      control(conversation),
      me(world.rank),
      here(all.host_of(world.rank)),
      lanes(fewest_ranks(all)),
      patience(world.timeout) {
  World of_host{local(), locals(), roster.nonce + "-" + std::to_string(begin(here))};
  of_host.timeout = to_connect;
  shared_memory::Layout layout = shared_memory::Layout::of(locals());
  layout.depth = depth;
  layout.chunk = shared_memory::Layout::of(max_ranks(all)).chunk;
  segment = shared_memory::gather(of_host, layout);
  open.resize(depth);
  if (local() >= lanes) return;
  room = std::make_unique<std::byte[]>(std::size_t(wide_rooms()) * wide_bytes());
  const Time end = Clock::now() + to_connect;
  const std::size_t pieces = std::size_t(depth) * std::size_t(locals() + 2);
  if (here > 0) up = Link(connect_with_up(end), pieces);
  if (here + 1 < hosts()) down = Link(accept_from_down(end), pieces);
}

Descriptor Line::connect_with_up(Time end) const {
  const int rank = rank_of_up();
  const std::string address = roster.address_of(rank);
  const int port = roster.members[std::size_t(rank)].port;
  std::string why;
  for (;;) {
    Descriptor made = connect_with(address, port, end, why);
    if (made.get() >= 0 && send_text(made, Packer().add(roster.nonce).add(me).text(), end))
      return made;
    if (Clock::now() > end || control.is_hopeless(Clock::now()))
      throw Error("rank " + std::to_string(me) + " cannot connect with " + roster.name(rank) +
                  " at " + address + " port " + std::to_string(port) + ": " + why +
                  ". The hosts of ranks that are neighbours must reach each other.");
    std::this_thread::sleep_for(milliseconds(50));
  }
}

Descriptor Line::accept_from_down(Time end) const {
  const std::string want = Packer().add(roster.nonce).add(rank_of_down()).text();
  for (;;) {
    pollfd one{roster.listener.get(), POLLIN, 0};
    poll(&one, 1, 100);
    Descriptor made = accept_from(roster.listener);
    std::string said;
    if (made.get() >= 0 && receive_text(made, said, Clock::now() + std::chrono::seconds(1)) &&
        said == want)
      return made;
    if (Clock::now() > end || control.is_hopeless(Clock::now()))
      throw Error(roster.name(rank_of_down()) + " has not connected with rank " +
                  std::to_string(me) +
                  ". The hosts of ranks that are neighbours must reach each other.");
  }
}

bool Line::run(Job& job) {
  control.begin();
  RankState& mine = state(local());
  mine.count = job.work.count;
  mine.bytes = job.work.bytes;
  mine.peer = job.work.peer;
  mine.operation = Operation(job.work.operation);
  const std::uint64_t first = transferred;
  last = Clock::now();
  for (std::int64_t k = 0; k < job.chunks + depth - 1; ++k) {
    if (k < job.chunks) {
      const Chunk chunk{first + std::uint64_t(k), k};
      // Nobody reads any more what was here before.
      if (chunk.number >= depth && !await_all(job, &RankState::scalars, chunk.number + 1 - depth))
        return false;
      job.stage(chunk);
      mine.staged.add_one();
      if (owns(chunk) && !begin(job, chunk)) return false;
    }
    const std::int64_t done = k - (depth - 1);
    if (done < 0) continue;
    const Chunk chunk{first + std::uint64_t(done), done};
    if (owns(chunk) && !end(job)) return false;
    if (!await(job, &RankState::summed, owner(chunk), chunk.number / std::uint64_t(lanes) + 1))
      return false;
    job.take(chunk);
    mine.scalars.add_one();  // which here are the chunks that it has taken
  }
  transferred += std::uint64_t(job.chunks);
  return true;
}

Work Line::work_of(int local_rank) const {
  const RankState& rank = state(local_rank);
  return {rank.count, rank.bytes, rank.peer, int(rank.operation), 0};
}

bool Line::begin(Job& job, const Chunk& chunk) {
  if (!await_all(job, &RankState::staged, chunk.number + 1)) return false;
  for (int r = 0; r < locals(); ++r) {
    const Work work = work_of(r);
    if (work == job.work) continue;
    control.report({Failure::differs, begin(here) + r, me, work});
    return false;
  }
  Open& now = open[std::size_t(opened++ % depth)];
  now = {.chunk = chunk, .mine = {chunk.number, job.work}};
  if (up.is_there()) {
    now.up.noted = up.receive(&now.up.note, sizeof now.up.note);
    job.await_up(chunk);
    now.up.has = up.received();
  }
  if (down.is_there()) {
    now.down.noted = down.receive(&now.down.note, sizeof now.down.note);
    job.await_down(chunk);
    now.down.has = down.received();
  }
  (void)move(job);
  return fits;
}

/// Ends the oldest chunk that this rank owns.
bool Line::end(Job& job) {
  const Open& now = open[std::size_t(ended % depth)];
  last = Clock::now();
  for (;;) {
    const bool moved = move(job);
    if (!fits) return false;
    if (now.up.passed && now.down.passed && up.has_sent(now.up.sent) &&
        down.has_sent(now.down.sent))
      break;
    if (moved) {
      last = Clock::now();
      continue;
    }
    const bool for_up = up.is_there() && (!down.is_there() || up.events() & POLLIN);
    if (is_lost(for_up ? rank_of_up() : rank_of_down())) return false;
    pollfd both[]{{up.descriptor(), up.events(), 0}, {down.descriptor(), down.events(), 0}};
    poll(both, 2, int(long_sleep.count()));
  }
  ++ended;
  state(local()).summed.add_one();
  return true;
}

/// Moves what can be moved, and passes it on in the order of the chunks. Returns true if it moved
/// anything.
bool Line::move(Job& job) {
  bool any = up.progress();
  any |= down.progress();
  bool down_waits = false, up_waits = false;
  for (std::uint64_t k = ended; k < opened; ++k)
    any |= pass(job, open[std::size_t(k % depth)], down_waits, up_waits);
  return any;
}

bool Line::pass(Job& job, Open& now, bool& down_waits, bool& up_waits) {
  bool any = false;
  if (up.is_there()) check_note(now, now.up, up, rank_of_up());
  if (down.is_there()) check_note(now, now.down, down, rank_of_down());
  if (!fits) return false;
  down_waits |= !up.has_received(now.up.has);
  if (!now.down.passed && !down_waits) {
    if (down.is_there()) down.send(&now.mine, sizeof now.mine);
    job.pass_down(now.chunk);
    now.down.sent = down.sent();
    now.down.passed = any = true;
  }
  up_waits |= !down.has_received(now.down.has) || (job.goes_down_first() && !now.down.passed);
  if (!now.up.passed && !up_waits) {
    if (up.is_there()) up.send(&now.mine, sizeof now.mine);
    job.pass_up(now.chunk);
    now.up.sent = up.sent();
    now.up.passed = any = true;
  }
  return any;
}

/// Reports a mismatch as soon as it comes, as the data after it need not be the expected ones.
void Line::check_note(const Open& now, Side& side, const Link& link, int rank) {
  if (!fits || side.is_noted || !link.has_received(side.noted)) return;
  side.is_noted = true;
  if (side.note == now.mine) return;
  fits = false;
  control.report({Failure::differs, rank, me, side.note.work});
}

bool Line::await_all(Job& job, Count RankState::* count, std::uint64_t want) {
  for (int r = 0; r < locals(); ++r)
    if (!await(job, count, r, want)) return false;
  return true;
}

bool Line::await(Job& job, Count RankState::* member, int local_rank, std::uint64_t want) {
  Count& count = state(local_rank).*member;
  const auto reached = [&] { return count.has_reached(std::uint32_t(want)); };
  if (reached()) return true;
  last = Clock::now();
  if (kernel::spin(1000, reached)) return true;
  for (;;) {
    // Meanwhile data that are on the way move on.
    if (move(job)) last = Clock::now();
    const std::uint32_t seen = count.done.load();
    if (reached()) return true;
    if (is_lost(begin(here) + local_rank)) return reached();
    count.sleep(seen, opened > ended ? short_sleep : long_sleep);
  }
}

/// True if waiting longer for a rank is useless, which then is known to all.
bool Line::is_lost(int rank) {
  if (control.is_hopeless(last)) return true;
  const auto waited = Clock::now() - last;
  for (const Link* link : {&up, &down}) {
    const bool is_cut = waited > Control::beat && link->is_cut(Control::silence);
    if (!link->is_broken() && !is_cut) continue;
    control.report({link->is_broken() ? Failure::died : Failure::severed,
                    link == &up ? rank_of_up() : rank_of_down(), me});
    return true;
  }
  if (waited <= patience) return false;
  control.report({Failure::stalled, rank, me});
  return true;
}

}  // namespace sinter::detail::hosts
