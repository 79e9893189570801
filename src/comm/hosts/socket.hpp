// SPDX-License-Identifier: Apache-2.0
// TCP connections between hosts. None of them blocks; a caller that waits gives a deadline.
#pragma once
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "comm/shared_memory/segment.hpp"  // Descriptor

namespace sinter::detail::hosts {

using shared_memory::Descriptor;
using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;

/// Listens at a port of all addresses of this host, or, at 0, at one that is free.
/// throws    Error that names the port, such as if it is taken
Descriptor listen_at(int port);
/// Takes the next connection; none if there is none.
Descriptor accept_from(const Descriptor& listener);
/// Connects with a host, of which all addresses are tried. None if it cannot be reached now, or not in
/// time; then `why` says the reason.
Descriptor connect_with(const std::string& address, int port, Time end, std::string& why);

/// The port that a socket is bound to.
int port_of(const Descriptor& socket);
/// The numeric addresses of a connection's ends.
std::string address_here(const Descriptor& socket);
std::string address_there(const Descriptor& socket);
/// True if an address means the host that uses it.
bool is_loopback(const std::string& address);

/// True if the other end's system has not answered for `silence`, though it was asked. Its process
/// need not do anything for an answer: it may be at work, idle or stopped. (A connection from
/// accept_from() or connect_with() asks once a second while nothing else is on the way.) False if
/// this is no connection.
bool is_cut(const Descriptor& connection, std::chrono::milliseconds silence);

/// Returns false if the other end has gone, or it takes too long.
[[nodiscard]] bool send_all(const Descriptor& to, const void* data, std::size_t size, Time end);
[[nodiscard]] bool receive_all(const Descriptor& from, void* data, std::size_t size, Time end);
/// Likewise, of a text of any length up to 64 MiB.
[[nodiscard]] bool send_text(const Descriptor& to, std::string_view text, Time end);
[[nodiscard]] bool receive_text(const Descriptor& from, std::string& text, Time end);

/// Numbers and texts, one after the other in a text.
class Packer {
  std::string all;

 public:
  Packer& add(std::int64_t number);
  Packer& add(std::string_view text);
  const std::string& text() const { return all; }
};
/// Takes them from there. If there is another, ok() is false from then on.
class Unpacker {
  std::string_view rest;
  bool fine = true;

 public:
  explicit Unpacker(std::string_view text) : rest(text) {}
  std::int64_t number();
  std::string text();
  bool ok() const { return fine; }
};

}  // namespace sinter::detail::hosts
