// SPDX-License-Identifier: Apache-2.0
#include "comm/hosts/socket.hpp"

#include <fcntl.h>
#include <linux/sockios.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "comm/guests.hpp"
#include "sinter/error.hpp"

namespace sinter::detail::hosts {
namespace {

constexpr int flags = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;

void set(const Descriptor& socket, int level, int option, int value) {
  setsockopt(socket.get(), level, option, &value, sizeof value);
}

/// Sends small messages at once. Makes the system ask once a second if the other end is there,
/// without ever giving up.
void prepare(const Descriptor& connection) {
  set(connection, IPPROTO_TCP, TCP_NODELAY, 1);
  set(connection, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(connection, IPPROTO_TCP, TCP_KEEPIDLE, 1);
  set(connection, IPPROTO_TCP, TCP_KEEPINTVL, 1);
  set(connection, IPPROTO_TCP, TCP_KEEPCNT, 127);
}

/// Opens a socket of one family of addresses; returns -1, with the reason in errno, if that fails.
int listening(int family, int port) {
  Descriptor made(socket(family, flags, 0));
  if (made.get() < 0) return -1;
  set(made, SOL_SOCKET, SO_REUSEADDR, 1);  // a port that the last run has left a moment ago
  sockaddr_in6 six{};
  sockaddr_in four{};
  const sockaddr* address = reinterpret_cast<const sockaddr*>(&four);
  socklen_t size = sizeof four;
  if (family == AF_INET6) {
    set(made, IPPROTO_IPV6, IPV6_V6ONLY, 0);  // IPv4's addresses, too
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(std::uint16_t(port));
    address = reinterpret_cast<const sockaddr*>(&six);
    size = sizeof six;
  }
  four.sin_family = AF_INET;
  four.sin_port = htons(std::uint16_t(port));
  if (bind(made.get(), address, size) != 0 || listen(made.get(), SOMAXCONN) != 0) return -1;
  return made.release();
}

bool wait_for(const Descriptor& socket, short what, Time end) {
  pollfd one{socket.get(), what, 0};
  int ready = 0;
  do ready = poll(&one, 1, left_until(end));
  while (ready < 0 && errno == EINTR);
  return ready == 1;
}

/// Sends or receives all, by one of the system's calls.
template <class Byte, class Call>
bool move_all(const Descriptor& socket, Byte* at, std::size_t size, Time end, short what,
              const Call& call) {
  while (size > 0) {
    const ssize_t moved = call(socket.get(), at, size, MSG_NOSIGNAL);
    if (moved > 0) {
      at += moved;
      size -= std::size_t(moved);
    } else if (moved == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
      return false;
    } else if (!wait_for(socket, what, end)) {
      return false;
    }
  }
  return true;
}

template <class Get>
sockaddr_storage address_of(const Descriptor& socket, const Get& get) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (get(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    address.ss_family = AF_UNSPEC;
  return address;
}
std::string text_of(const sockaddr_storage& address) {
  char text[NI_MAXHOST] = "";
  const socklen_t size = address.ss_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, text, sizeof text, nullptr, 0,
              NI_NUMERICHOST);
  const std::string_view all = text, four = "::ffff:";
  return std::string(all.starts_with(four) ? all.substr(four.size()) : all);
}

constexpr std::uint64_t longest_text = 64 << 20;

}  // namespace

Descriptor listen_at(int port) {
  int made = listening(AF_INET6, port);
  if (made < 0 && errno != EADDRINUSE) made = listening(AF_INET, port);  // there is no IPv6
  if (made >= 0) return Descriptor(made);
  const std::string reason = std::strerror(errno);
  if (port == 0) throw Error("this host gives no port to other hosts: " + reason + ".");
  throw Error("rank 0 cannot listen at port " + std::to_string(port) +
              ", at which the ranks of other hosts look for it: " + reason +
              ". Give each run that is live a port of its own.");
}

Descriptor accept_from(const Descriptor& listener) {
  Descriptor made(accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (made.get() >= 0) prepare(made);
  return made;
}

Descriptor connect_with(const std::string& address, int port, Time end, std::string& why) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  const int error = getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) {
    why = gai_strerror(error);
    return {};
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, freeaddrinfo);
  for (const addrinfo* at = found; at; at = at->ai_next) {
    Descriptor made(socket(at->ai_family, flags, 0));
    if (made.get() < 0) continue;
    prepare(made);
    int problem = connect(made.get(), at->ai_addr, at->ai_addrlen) == 0 ? 0 : errno;
    if (problem == EINPROGRESS) {
      // A host that does not answer keeps others of its addresses from being tried no longer than so.
      const Time soon = std::min(end, Clock::now() + std::chrono::seconds(3));
      socklen_t size = sizeof problem;
      if (!wait_for(made, POLLOUT, soon)) {
        problem = ETIMEDOUT;
      } else {
        getsockopt(made.get(), SOL_SOCKET, SO_ERROR, &problem, &size);
      }
    }
    if (problem == 0) return made;
    why = std::strerror(problem);
  }
  return {};
}

int port_of(const Descriptor& socket) {
  const sockaddr_storage address = address_of(socket, getsockname);
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                   : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}
std::string address_here(const Descriptor& socket) {
  return text_of(address_of(socket, getsockname));
}
std::string address_there(const Descriptor& socket) {
  return text_of(address_of(socket, getpeername));
}
bool is_loopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1";
}

bool is_cut(const Descriptor& connection, std::chrono::milliseconds silence) {
  tcp_info info{};
  socklen_t size = sizeof info;
  int unsent = 0;
  if (getsockopt(connection.get(), IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
      ioctl(connection.get(), SIOCOUTQNSD, &unsent) != 0)
    return false;
  // If the other end has no room for data, the system asks it ever more seldom, and one question
  // may be on the way.
  const bool awaits_room = info.tcpi_unacked == 0 && unsent > 0;
  if (awaits_room && info.tcpi_probes < 2) return false;
  return std::min(info.tcpi_last_ack_recv, info.tcpi_last_data_recv) >= silence.count();
}

bool send_all(const Descriptor& to, const void* data, std::size_t size, Time end) {
  return move_all(to, static_cast<const std::byte*>(data), size, end, POLLOUT, ::send);
}
bool receive_all(const Descriptor& from, void* data, std::size_t size, Time end) {
  return move_all(from, static_cast<std::byte*>(data), size, end, POLLIN, ::recv);
}
bool send_text(const Descriptor& to, std::string_view text, Time end) {
  const std::uint64_t size = text.size();
  return send_all(to, &size, sizeof size, end) && send_all(to, text.data(), text.size(), end);
}
bool receive_text(const Descriptor& from, std::string& text, Time end) {
  std::uint64_t size = 0;
  if (!receive_all(from, &size, sizeof size, end) || size > longest_text) return false;
  text.resize(size);
  return receive_all(from, text.data(), size, end);
}

Packer& Packer::add(std::int64_t number) {
  all.append(reinterpret_cast<const char*>(&number), sizeof number);
  return *this;
}
Packer& Packer::add(std::string_view text) {
  add(std::int64_t(text.size()));
  all += text;
  return *this;
}
std::int64_t Unpacker::number() {
  std::int64_t value = 0;
  fine &= rest.size() >= sizeof value;
  if (!fine) return 0;
  std::memcpy(&value, rest.data(), sizeof value);
  rest.remove_prefix(sizeof value);
  return value;
}
std::string Unpacker::text() {
  const auto size = std::uint64_t(number());
  fine &= rest.size() >= size;
  if (!fine) return "";
  std::string taken(rest.substr(0, size));
  rest.remove_prefix(size);
  return taken;
}

}  // namespace sinter::detail::hosts
