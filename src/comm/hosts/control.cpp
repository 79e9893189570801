// SPDX-License-Identifier: Apache-2.0
#include "comm/hosts/control.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "sinter/error.hpp"

namespace sinter::detail::hosts {

using std::chrono::milliseconds;

/// A message. All have the same size; none is repeated or answered.
struct Control::Message {
  enum Kind : std::int32_t { lives, parts, wholes, fails, leaves };
  Kind kind = lives;
  std::int32_t count = 0;   // of values
  std::int64_t number = 0;  // of a sum
  std::int64_t begun = 0;   // transfers and sums
  Failure failure{};        // fails
  double at[Communicator::max_values]{};
};

Control::Control(const Roster& all, int rank, milliseconds timeout)
    : roster(all), me(rank), ranks(int(all.members.size())), patience(timeout) {
  static_assert(sizeof(Message) <= sizeof(Peer::room));
  peers.resize(all.ends.size());
  for (Peer& peer : peers) peer.heard = Clock::now();
  gathering.values.resize(std::size_t(ranks));
  gathering.counts.resize(std::size_t(ranks));
  listener = std::thread([this] { listen(); });
}

Control::~Control() {
  leave();
  ends.store(true);
  listener.join();
  for (const Descriptor& end : roster.ends) shutdown(end.get(), SHUT_WR);
}

void Control::sum(double* values, int count) {
  begin();
  std::unique_lock lock(mutex);
  const std::int64_t number = sums++;
  if (is_hub()) {
    add(0, number, count, values);
  } else {
    Message message{.kind = Message::parts, .count = count, .number = number};
    std::copy_n(values, count, message.at);
    send(0, message);
  }
  const auto done = [&] { return summed > number || failure.kind != Failure::none; };
  if (!changed.wait_for(lock, patience, done)) {
    const int behind =
        is_hub() ? int(std::ranges::find(gathering.counts, 0) - gathering.counts.begin()) : 0;
    lock.unlock();
    report({Failure::stalled, behind, me});
    throw_failure();
  }
  if (summed <= number) {
    lock.unlock();
    throw_failure();
  }
  std::copy_n(totals.data(), count, values);
}

/// At rank 0: takes the values of a rank, and says the sums when all have come.
void Control::add(int rank, std::int64_t number, int count, const double* values) {
  const auto at = std::size_t(rank);
  const auto first = std::ranges::find_if(gathering.counts, [](int c) { return c > 0; });
  if (number != gathering.number || gathering.counts[at] ||
      (first != gathering.counts.end() && *first != count)) {
    return decide({Failure::differs,
                   rank,
                   0,
                   {count, int(sizeof(double)), -1, int(Operation::all_reduce), 0}});
  }
  gathering.counts[at] = count;
  std::copy_n(values, count, gathering.values[at].data());
  if (++gathering.come < ranks) return;
  totals.fill(0);
  for (const auto& of_rank : gathering.values)
    for (int k = 0; k < count; ++k) totals[std::size_t(k)] += of_rank[std::size_t(k)];
  Message message{.kind = Message::wholes, .count = count, .number = number};
  std::ranges::copy(totals, message.at);
  send_to_all(message);
  gathering.come = 0;
  ++gathering.number;
  std::ranges::fill(gathering.counts, 0);
  summed = gathering.number;
  changed.notify_all();
}

void Control::report(const Failure& why) {
  std::unique_lock lock(mutex);
  if (failure.kind != Failure::none && failure.kind != Failure::left) return;
  if (is_hub()) return decide_on_report(why);
  send(0, {.kind = Message::fails, .failure = why});
  // Rank 0 knows more, and sends the same to all.
  const auto known = [&] { return failure.kind != Failure::none; };
  if (!changed.wait_for(lock, 3 * beat, known)) note(why);
}

void Control::leave() noexcept {
  std::scoped_lock lock(mutex);
  if (has_left) return;
  has_left = true;
  if (is_hub()) {
    if (failure.kind == Failure::none)
      send_to_all({.kind = Message::fails, .failure = {Failure::left, 0}});
  } else {
    send(0, {.kind = Message::leaves});
  }
  note({Failure::left, me});
}

void Control::throw_failure() {
  std::unique_lock lock(mutex);
  changed.wait_for(lock, 3 * beat, [&] { return failure.kind != Failure::none; });
  throw RankError(text());
}

/// At rank 0: decides on a report. If a rank is said to have died, waits for its own message, in
/// case it has left. Two ranks are cut off from each other if both have been heard of since;
/// otherwise one is lost for all.
void Control::decide_on_report(const Failure& why) {
  if (why.kind == Failure::died && why.rank > 0 && why.rank < ranks &&
      !peers[std::size_t(why.rank)].gone)
    read(std::size_t(why.rank));
  if (why.kind != Failure::severed) return decide(why);
  if (suspected.kind != Failure::none) return;
  suspected = why;
  suspected_at = Clock::now();
}

bool Control::is_heard_since(Time time, int rank) const {
  return rank == me || peers[std::size_t(rank)].heard > time;
}

/// At rank 0: says to all why they cannot go on.
void Control::decide(Failure why) {
  if (failure.kind != Failure::none) return;
  if (why.kind == Failure::stalled || why.kind == Failure::unheard) {
    // Who has begun least is the one for whom all others wait, directly or not.
    std::vector<std::int64_t> all{begun.load()};
    for (std::size_t p = 1; p < peers.size(); ++p) all.push_back(peers[p].begun);
    const auto [least, most] = std::ranges::minmax_element(all);
    why.kind = *least < *most ? Failure::stalled : Failure::unheard;
    if (why.kind == Failure::stalled) why.rank = int(least - all.begin());
  }
  send_to_all({.kind = Message::fails, .failure = why});
  note(why);
}

void Control::note(const Failure& why) {
  if (failure.kind == Failure::none) failure = why;
  kind.store(failure.kind);
  changed.notify_all();
}

void Control::send(std::size_t peer, const Message& message) {
  // A message is small. If there is no room for it the other has read nothing for long, and is given up.
  if (peers[peer].gone) return;
  const ssize_t sent =
      ::send(roster.ends[peer].get(), &message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent >= 0 && sent != ssize_t(sizeof message)) shutdown(roster.ends[peer].get(), SHUT_RDWR);
}
void Control::send_to_all(const Message& message) {
  for (std::size_t p = 0; p < peers.size(); ++p)
    if (is_there(p)) send(p, message);
}

void Control::listen() {
  std::vector<pollfd> sockets;
  Time next_beat = Clock::now();
  while (!ends.load()) {
    sockets.clear();
    std::unique_lock lock(mutex);
    for (std::size_t p = 0; p < peers.size(); ++p)
      sockets.push_back({peers[p].gone ? -1 : roster.ends[p].get(), POLLIN, 0});
    lock.unlock();
    poll(sockets.data(), sockets.size(), 100);
    lock.lock();
    for (std::size_t p = 0; p < peers.size(); ++p)
      if (sockets[p].revents) read(p);
    look_around(next_beat);
  }
}

void Control::read(std::size_t p) {
  Peer& peer = peers[p];
  for (;;) {
    const ssize_t got = recv(roster.ends[p].get(), peer.room.data() + peer.filled,
                             sizeof(Message) - peer.filled, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return;
    if (got <= 0) {
      peer.gone = true;
      if (peer.left) return;
      const Failure why{Failure::died, rank_of(p)};
      if (is_hub()) return decide(why);
      return note(why);
    }
    peer.heard = Clock::now();
    peer.filled += std::size_t(got);
    if (peer.filled < sizeof(Message)) continue;
    peer.filled = 0;
    Message message;
    std::memcpy(&message, peer.room.data(), sizeof message);
    take(p, message);
  }
}

void Control::take(std::size_t p, const Message& message) {
  Peer& peer = peers[p];
  const int rank = rank_of(p);
  switch (message.kind) {
    case Message::lives:
      peer.begun = message.begun;
      break;
    case Message::parts:
      if (is_hub() && message.count >= 1 && message.count <= Communicator::max_values)
        add(rank, message.number, message.count, message.at);
      break;
    case Message::wholes:
      std::ranges::copy(message.at, totals.begin());
      summed = message.number + 1;
      changed.notify_all();
      break;
    case Message::fails:
      if (is_hub()) return decide_on_report(message.failure);
      peer.left |= message.failure.kind == Failure::left && message.failure.rank == 0;
      note(message.failure);
      break;
    case Message::leaves:
      peer.left = true;
      decide({Failure::left, rank});
      break;
  }
}

/// Reports that this rank lives, and checks who else does. Messages that have come were read
/// before. So a process that was itself stopped for a while takes no other for lost.
void Control::look_around(Time& next_beat) {
  const Time now = Clock::now();
  if (now >= next_beat) {
    next_beat = now + beat;
    send_to_all({.kind = Message::lives, .begun = begun.load()});
  }
  for (std::size_t p = 0; p < peers.size(); ++p) {
    Peer& peer = peers[p];
    if (!is_there(p) || peer.gone || peer.left || now - peer.heard < silence) continue;
    const Failure why{Failure::silent, rank_of(p)};
    if (is_hub()) {
      decide(why);
    } else {
      note(why);
    }
  }
  if (suspected.kind != Failure::none && is_heard_since(suspected_at, suspected.rank) &&
      is_heard_since(suspected_at, suspected.other))
    decide(suspected);
}

}  // namespace sinter::detail::hosts
