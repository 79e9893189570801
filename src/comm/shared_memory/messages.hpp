// SPDX-License-Identifier: Apache-2.0
// Messages between the processes of a host that find each other.
#pragma once
#include <sys/socket.h>
#include <sys/un.h>

#include "comm/shared_memory/segment.hpp"

namespace sinter::detail::shared_memory {

/// Throws an Error that ends in the system's reason.
[[noreturn]] void throw_system_error(const char* what);

/// The address of a world: it is in no file system.
class Address {
  sockaddr_un address{};
  socklen_t size;

 public:
  /// requires  id has at most 80 bytes
  explicit Address(const std::string& id);
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
  socklen_t bytes() const { return size; }
};

/// Makes a socket that keeps the bounds of messages, and gives up soon on a message that must have
/// been sent.
Descriptor new_socket();
/// Accepts the next connection, with the same time limit; none if it is gone.
Descriptor accept_from(const Descriptor& listener);
/// The process at the other end.
ucred other_end(const Descriptor& socket);

/// Sends bytes, and a descriptor unless it is -1. Who has gone is noticed elsewhere.
void send_message(const Descriptor& to, const void* data, std::size_t size, int descriptor);
/// Receives `size` bytes, and the descriptor that came with them, if any. Returns false if no such
/// message has come.
[[nodiscard]] bool receive_message(const Descriptor& from, void* data, std::size_t size,
                                   Descriptor& descriptor);

}  // namespace sinter::detail::shared_memory
