// SPDX-License-Identifier: Apache-2.0
#include "comm/shared_memory/messages.hpp"

#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "sinter/error.hpp"

namespace sinter::detail::shared_memory {
namespace {

void limit_waits(const Descriptor& socket) {
  const timeval second{1, 0};
  setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second);
  setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &second, sizeof second);
}

/// A message with room for a descriptor.
class Message {
  iovec part;
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};

 public:
  msghdr head{};

  Message(void* data, std::size_t size) : part{data, size} {
    head.msg_iov = &part;
    head.msg_iovlen = 1;
    head.msg_control = room;
    head.msg_controllen = sizeof room;
  }
  Message(const Message&) = delete;
};

}  // namespace

void throw_system_error(const char* what) {
  throw Error("the ranks cannot find each other: " + std::string(what) + ": " +
              std::strerror(errno) + ".");
}

Address::Address(const std::string& id) {
  const std::string name = "sinter ranks " + id;
  address.sun_family = AF_UNIX;
  std::ranges::copy(name, address.sun_path + 1);  // what begins with 0 is abstract
  size = socklen_t(offsetof(sockaddr_un, sun_path) + 1 + name.size());
}

Descriptor new_socket() {
  Descriptor made(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (made.get() < 0) throw_system_error("no socket");
  limit_waits(made);
  return made;
}

Descriptor accept_from(const Descriptor& listener) {
  Descriptor made(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (made.get() >= 0) limit_waits(made);
  return made;
}

ucred other_end(const Descriptor& socket) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0)
    throw_system_error("the process at the other end");
  return credentials;
}

void send_message(const Descriptor& to, const void* data, std::size_t size, int descriptor) {
  Message message(const_cast<void*>(data), size);
  if (descriptor < 0) {
    message.head.msg_control = nullptr;
    message.head.msg_controllen = 0;
  } else {
    cmsghdr* control = CMSG_FIRSTHDR(&message.head);
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(control), &descriptor, sizeof descriptor);
  }
  sendmsg(to.get(), &message.head, MSG_NOSIGNAL);
}

bool receive_message(const Descriptor& from, void* data, std::size_t size, Descriptor& descriptor) {
  Message message(data, size);
  if (recvmsg(from.get(), &message.head, MSG_CMSG_CLOEXEC) != ssize_t(size)) return false;
  const cmsghdr* control = CMSG_FIRSTHDR(&message.head);
  if (!control || control->cmsg_type != SCM_RIGHTS) return true;
  int value = -1;
  std::memcpy(&value, CMSG_DATA(control), sizeof value);
  descriptor = Descriptor(value);
  return true;
}

}  // namespace sinter::detail::shared_memory
