// SPDX-License-Identifier: Apache-2.0
// Transfers between two ranks, which do not go along the line of hosts.
#pragma once
#include <poll.h>

#include "comm/exchange.hpp"
#include "comm/hosts/control.hpp"
#include "comm/hosts/line.hpp"

namespace sinter::detail::hosts {

/// The channels of a rank to each other one: within a host through the memory that its ranks share, and
/// otherwise over a connection of the two, which they make when one of them first wants it.
class Pairs {
  class Connection;
  const Roster& roster;
  Control& control;
  Line& line;
  const int me;
  const std::chrono::milliseconds patience;
  Count& bell;
  const Descriptor waker;  // wakes the thread that waits for connections
  Channels all;
  std::vector<Connection*> connections;  // by rank; none with those of this host
  std::vector<pollfd> polled;
  Time next_try{}, first_try{};

 public:
  /// requires  what it is given outlives it
  Pairs(const Roster& roster, Control& control, Line& line, const World& world);
  ~Pairs();

  const Channels& channels() const { return all; }
  /// Moves what can be moved, or waits for a while until something may be. Returns false if the ranks cannot
  /// go on, which is then reported.
  [[nodiscard]] bool progress(Exchange& exchange);
  /// Ends that wait.
  void ring();

 private:
  bool is_here(int rank) const { return !connections[std::size_t(rank)]; }
  void connect(const Exchange& exchange);
  void connect_with(int rank);
  void accept_one();
  bool has_failed(const Exchange& exchange, const Transfer& away);
  void wait(const Exchange& exchange, std::uint32_t seen);
  Transfer missed(const Exchange& exchange) const;
};

}  // namespace sinter::detail::hosts
