// SPDX-License-Identifier: Apache-2.0
#include "comm/hosts/pairs.hpp"

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "hardware/cpu/sleeper.hpp"

namespace sinter::detail::hosts {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds between_tries{50}, connect_timeout{10'000};
constexpr char greeting[] = "pair";

/// The first message over a connection with another rank.
std::string hello(const std::string& nonce, int rank) {
  return Packer().add(nonce).add(rank).add(greeting).text();
}
/// Returns the rank that sent this; -1 if none of this world did.
int rank_of(const std::string& said, const std::string& nonce) {
  Unpacker in(said);
  const bool ours = in.text() == nonce;
  const std::int64_t rank = in.number();
  return in.text() == greeting && in.ok() && ours ? int(rank) : -1;
}

}  // namespace

/// Over which nothing goes before it is there.
class Pairs::Connection final : public Channel {
  std::uint64_t sent = 0;

 public:
  Descriptor socket{};
  bool broken = false;

  bool is_there() const { return socket.get() >= 0; }
  std::int64_t put(const std::byte* from, std::int64_t size) override {
    const std::int64_t moved = move(::send, from, size);
    sent += std::uint64_t(moved);
    return moved;
  }
  std::int64_t take(std::byte* to, std::int64_t size) override { return move(::recv, to, size); }
  std::uint64_t all_put() const override { return sent; }
  std::uint64_t all_taken() const override { return sent; }  // the system sends it in any case

 private:
  std::int64_t move(const auto& call, auto* at, std::int64_t size) {
    if (!is_there() || broken || size == 0) return 0;
    const ssize_t moved = call(socket.get(), at, std::size_t(size), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (moved > 0) return moved;
    broken = moved == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
    return 0;
  }
};

Pairs::Pairs(const Roster& members, Control& conversation, Line& of_hosts, const World& world)
    : roster(members),
      control(conversation),
      line(of_hosts),
      me(world.rank),
      patience(world.timeout),
      bell(line.memory().state(line.local()).bell),
      waker(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  Channels here = line.memory().channels(line.local());
  const int first = line.begin(line.host()), last = line.begin(line.host() + 1);
  for (int r = 0; r < world.ranks; ++r) {
    if (r >= first && r < last) {
      all.push_back(std::move(here[std::size_t(r - first)]));
      connections.push_back(nullptr);
    } else {
      auto made = std::make_unique<Connection>();
      connections.push_back(made.get());
      all.push_back(std::move(made));
    }
  }
  polled.reserve(1024);  // more than a step starts, so that it allocates nothing
}
Pairs::~Pairs() = default;

void Pairs::ring() {
  bell.add_one();
  const std::uint64_t one = 1;
  (void)!write(waker.get(), &one, sizeof one);
}

bool Pairs::progress(Exchange& exchange) {
  const std::uint32_t seen = bell.done.load();
  const Transfer away = missed(exchange);  // of whom all that comes is there, when we look now
  connect(exchange);
  if (exchange.move()) {
    if (!exchange.mismatch()) return true;
    const Mismatch& wrong = *exchange.mismatch();
    control.report({Failure::unmatched, wrong.sender, wrong.receiver, {}, wrong});
    return false;
  }
  const auto rings = [&] { return bell.done.load() != seen; };
  if (away.peer < 0 && kernel::spin(1000, rings)) return true;
  if (has_failed(exchange, away)) return false;
  wait(exchange, seen);
  return true;
}

/// The first whose other rank is of this host, and at a transfer of all ranks already; none if its `peer` is
/// -1.
Transfer Pairs::missed(const Exchange& exchange) const {
  Transfer first{};
  exchange.each_open([&](const Transfer& transfer, bool) {
    if (is_here(transfer.peer) && line.has_begun_next(transfer.peer - line.begin(line.host())))
      first = transfer;
    return first.peer < 0;
  });
  return first;
}

/// True if waiting longer is useless, which then is known to all.
bool Pairs::has_failed(const Exchange& exchange, const Transfer& away) {
  const Time last = exchange.last_progress(), now = Clock::now();
  if (control.is_hopeless(last)) return true;
  Failure why{};
  if (away.peer >= 0) {
    why = {Failure::differs, away.peer, me, line.work_of(away.peer - line.begin(line.host()))};
  } else {
    exchange.each_open([&](const Transfer& transfer, bool) {
      const Connection* with = connections[std::size_t(transfer.peer)];
      if (with && with->broken) {
        why = {Failure::died, transfer.peer, me};
      } else if (with && !with->is_there() && me > transfer.peer &&
                 now - first_try > connect_timeout) {
        why = {Failure::cut_off, transfer.peer, me};
      } else if (with && now - last > Control::beat && is_cut(with->socket, Control::silence)) {
        why = {Failure::severed, transfer.peer, me};
      } else if (now - last > patience) {
        why = {Failure::absent, transfer.peer, me};
      }
      return why.kind == Failure::none;
    });
  }
  if (why.kind == Failure::none) return false;
  control.report(why);
  return true;
}

/// Connects with ranks of other hosts that are needed: of two, the one with the greater number goes to the
/// other.
void Pairs::connect(const Exchange& exchange) {
  exchange.each_open([&](const Transfer& transfer, bool) {
    const Connection* with = connections[std::size_t(transfer.peer)];
    if (!with || with->is_there()) return true;
    me > transfer.peer ? connect_with(transfer.peer) : accept_one();
    return true;
  });
}

void Pairs::connect_with(int rank) {
  const Time now = Clock::now();
  if (now < next_try) return;
  if (next_try + 2 * between_tries < now) first_try = now;  // it is long ago that one failed
  const int port = roster.members[std::size_t(rank)].port;
  std::string why;
  Descriptor made = hosts::connect_with(roster.address_of(rank), port, now + connect_timeout, why);
  if (made.get() >= 0 && send_text(made, hello(roster.nonce, me), now + connect_timeout)) {
    connections[std::size_t(rank)]->socket = std::move(made);
    return;
  }
  next_try = Clock::now() + between_tries;
}

void Pairs::accept_one() {
  Descriptor made = accept_from(roster.listener);
  std::string said;
  if (made.get() < 0 || !receive_text(made, said, Clock::now() + std::chrono::seconds(1))) return;
  const int rank = rank_of(said, roster.nonce);
  if (rank <= me || rank >= int(connections.size()) || is_here(rank)) return;
  Connection& with = *connections[std::size_t(rank)];
  if (!with.is_there()) with.socket = std::move(made);
}

void Pairs::wait(const Exchange& exchange, std::uint32_t seen) {
  milliseconds most = shared_memory::look_around;
  bool any_here = false;
  polled.assign({{waker.get(), POLLIN, 0}});
  exchange.each_open([&](const Transfer& transfer, bool may_move) {
    const Connection* with = connections[std::size_t(transfer.peer)];
    any_here |= !with;
    if (!with) return true;
    if (with->is_there()) {
      const bool sends = transfer.operation == Operation::send;
      if (may_move) polled.push_back({with->socket.get(), short(sends ? POLLOUT : POLLIN), 0});
    } else if (me > transfer.peer) {
      most = between_tries;
    } else {
      polled.push_back({roster.listener.get(), POLLIN, 0});
    }
    return true;
  });
  if (any_here && polled.size() == 1) return bell.sleep(seen, most);
  poll(polled.data(), polled.size(), any_here ? 1 : int(most.count()));
  std::uint64_t drained = 0;
  (void)!read(waker.get(), &drained, sizeof drained);
}

}  // namespace sinter::detail::hosts
